"""The one place where what httpx raises becomes a `ModelError`, with the URL, without secrets."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import httpx

from callm_voice.core.errors import (
    ModelConnectError,
    ModelError,
    ModelProtocolError,
    ModelStatusError,
    ModelTimeoutError,
)
from callm_voice.llm.secrets import Secret, redact


class LostConnectionError(Exception):
    """A kept connection turned out to be closed before any byte of an answer came. Never leaves the client."""


@contextmanager
def http_errors(url: str, secrets: Sequence[Secret], connect_s: float) -> Iterator[None]:
    """Map httpx' errors.

    Raises:
        ModelError: names `url`; the text of the original error follows, redacted.
    """
    try:
        yield
    except ModelProtocolError as error:
        raise ModelProtocolError(redact(f"{url}: {error.message}", secrets), hint=error.hint) from error
    except httpx.HTTPError as error:
        raise _mapped(error, url, secrets, connect_s) from error
    except (httpx.InvalidURL, UnicodeError, ssl.SSLError, OSError) as error:
        raise ModelConnectError(redact(f"{url}: {_words(error)}", secrets)) from error


def _mapped(error: httpx.HTTPError, url: str, secrets: Sequence[Secret], connect_s: float) -> ModelError:
    words = redact(_words(error), secrets)
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return timeout_error(url, f"no connection within {connect_s:g} s")
        case httpx.TimeoutException():
            return timeout_error(url, words)
        case httpx.ConnectError() | httpx.ProxyError() | httpx.UnsupportedProtocol():
            return ModelConnectError(f"{url}: no connection: {words}", hint="is the model server running?")
        case httpx.RemoteProtocolError() | httpx.ReadError():
            return ModelProtocolError(f"{url}: the connection broke before the answer was whole: {words}")
        case httpx.DecodingError():
            return ModelProtocolError(f"{url}: the answer cannot be decoded: {words}")
        case _:
            return ModelConnectError(f"{url}: {words}")


def timeout_error(url: str, what: str) -> ModelTimeoutError:
    """A limit was exceeded; `what` names it."""
    return ModelTimeoutError(f"{url}: {what}", hint="the limits stand under timeouts: of the model's spec")


def status_error(
    response: httpx.Response, body: bytes, url: str, secrets: Sequence[Secret], unix_s: float
) -> ModelStatusError:
    """A status other than 200, with the start of its body."""
    text = redact(" ".join(body[:2000].decode("utf-8", errors="replace").split()), secrets)
    retry_after_s = parse_retry_after(response.headers.get("retry-after"), unix_s)
    return ModelStatusError(response.status_code, text or response.reason_phrase, url=url, retry_after_s=retry_after_s)


def parse_retry_after(value: str | None, unix_s: float) -> float | None:
    """Seconds to wait from a Retry-After header (RFC 9110 section 10.2.3: seconds or a date), or None."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - unix_s)
    except ValueError:
        return None


def _words(error: BaseException) -> str:
    """The deepest cause that says something: `All connection attempts failed` hides the reason."""
    found = str(error)
    cause: BaseException | None = error
    for _ in range(8):
        cause = cause.__cause__ or cause.__context__ if cause is not None else None
        if cause is None:
            break
        if isinstance(cause, OSError) and cause.strerror:
            found = cause.strerror
    return found or type(error).__name__
