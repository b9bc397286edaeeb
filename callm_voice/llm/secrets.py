"""Keys of model servers: read from the environment when a model is opened, never written anywhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

from callm_voice.core.errors import UsageError

MASK = "***"
MIN_SECRET_CHARS = 4
"""Shorter values are not searched for in texts: masking them would blank out ordinary words."""
_ENV_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Secret:
    """A value that must not appear in a repr, a log, an error or a record."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    __str__ = __repr__


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """`text` with every secret value, and the credentials of every URL in it, masked."""
    for secret in secrets:
        value = secret.reveal()
        if len(value) >= MIN_SECRET_CHARS:
            text = text.replace(value, MASK)
    return re.sub(r"(?<=://)[^/@\s]+@", f"{MASK}@", text)


def safe_url(url: str) -> str:
    """`url` without user, password, query and fragment (RFC 3986 section 3.2.1: userinfo may hold a password)."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def read_env(name: str, *, what: str) -> Secret:
    """The environment variable `name`.

    Raises:
        UsageError: it is not set or empty; `what` says what needs it.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise UsageError(f"the environment variable {name} is not set; {what} needs it", hint=f"export {name}=...")
    return Secret(value)


def resolve_headers(headers: dict[str, str], *, what: str) -> tuple[dict[str, str], tuple[Secret, ...]]:
    """Header values with each `${NAME}` replaced by that environment variable, and the secrets that went in.

    Raises:
        UsageError: a variable is not set.
    """
    secrets: list[Secret] = []

    def put(match: re.Match[str]) -> str:
        secrets.append(read_env(match.group(1), what=what))
        return secrets[-1].reveal()

    return {name: _ENV_REFERENCE.sub(put, value) for name, value in headers.items()}, tuple(secrets)
