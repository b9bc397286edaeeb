"""Where an agent is that runs elsewhere: what `--agent` means."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from callm_voice.core.errors import UsageError
from callm_voice.llm.secrets import safe_url

WEBRTC_PREFIX = "webrtc:"
_SCHEMES: dict[str, tuple[str, ...]] = {"twilio": ("ws", "wss"), "webrtc": ("http", "https")}
EXPECTED = "expected ws://HOST:PORT/PATH, wss://HOST/PATH or webrtc:http://HOST:PORT/PATH"


@dataclass(frozen=True)
class AgentUrl:
    """An agent's address."""

    kind: Literal["twilio", "webrtc"]
    """A media stream as Twilio opens it, or WebRTC with its offer sent by HTTP."""
    url: str
    """Of the websocket, or of the offer."""

    @property
    def shown(self) -> str:
        """As it may stand in a record: without user, password, query and fragment."""
        return f"{WEBRTC_PREFIX if self.kind == 'webrtc' else ''}{safe_url(self.url)}"

    @property
    def name(self) -> str:
        """A name for results, if the user gives none."""
        host = urlsplit(self.url).netloc.rpartition("@")[2]
        return f"agent-{re.sub(r'[^A-Za-z0-9.-]+', '-', host).strip('-')}"


def parse_agent(text: str) -> AgentUrl:
    """The address that `--agent` means.

    Raises:
        UsageError: it is none. What may be secret in it is not repeated.
    """
    kind: Literal["twilio", "webrtc"] = "webrtc" if text.startswith(WEBRTC_PREFIX) else "twilio"
    url = text.removeprefix(WEBRTC_PREFIX).strip()
    try:
        parts = urlsplit(url)
        _ = parts.port  # ValueError if it is no number
    except ValueError as error:
        raise UsageError(f"--agent: not a URL; {EXPECTED}") from error
    if parts.scheme not in _SCHEMES[kind] or not parts.hostname or parts.fragment:
        raise UsageError(f"--agent: found a URL of scheme {parts.scheme[:20] or 'none'!r}; {EXPECTED}")
    if not _is_host(parts.hostname):
        raise UsageError(f"--agent: {parts.hostname[:60]!r} is no machine's name or address; {EXPECTED}")
    if kind == "twilio" and parts.username is not None and parts.password is None:
        raise UsageError("--agent: a user without a password cannot be sent; expected ws://USER:PASSWORD@HOST/PATH")
    return AgentUrl(kind, url)


def _is_host(host: str) -> bool:
    """Whether it could be one: four numbers are an address, and DNS knows no empty and no overlong labels."""
    try:
        host.encode("idna")
        if re.fullmatch(r"[0-9]+(\.[0-9]+){3}", host):
            ipaddress.IPv4Address(host)
    except ValueError:  # of both
        return False
    return True
