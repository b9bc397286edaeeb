"""What one server of live pages is told, and what of it may not be."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from callm_voice.core.errors import UsageError

MAX_SOCKETS = 32
"""Open websockets at once; the next one is refused."""


@dataclass(frozen=True)
class ServeSettings:
    """One server.

    Raises:
        UsageError: the address is not this machine's alone and there is no token, or the token cannot be sent.
    """

    run: Path
    """The run whose calls are shown, and into which people call in. It need not be there yet."""
    host: str = "127.0.0.1"
    port: int = 0
    """0: any that is free."""
    token: str | None = None
    """Whoever has it may come in; None: whoever is on this machine."""
    max_sockets: int = MAX_SOCKETS

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise UsageError(
                f"--host {self.host}: others can reach this address, so a token is needed",
                hint="add --token SECRET, or leave --host away",
            )
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and self.token.strip()):
            raise UsageError("--token: expected printable ASCII characters, at least one")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address. A name other than `localhost` may be anything, so it is not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
