"""How a call's tools are offered to an agent that runs elsewhere: part of the call's spec."""

from __future__ import annotations

import os
import re
import secrets
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from callm_voice.core.errors import UsageError

Offer = Literal["role", "all"]
TOKEN_ENV = "CALLM_VOICE_TOOLS_TOKEN"  # noqa: S105 - the name of a variable
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")


class ToolOptions(BaseModel):
    """Where the tools are served, and which are offered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    offer: Offer = "role"
    """`role`: those of the role that has the call; `all`: every tool and transfer of the pack, from the first word."""
    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
    """0: any free one."""
    public_url: str | None = None
    """What the agent is told instead of `http://HOST:PORT`, where a tunnel or proxy leads here."""

    @field_validator("public_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None:
            parts = urlsplit(value)
            if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
                raise ValueError("expected http://HOST:PORT or https://HOST/PATH")
        return value


def choose_token() -> str:
    """The secret of one call: drawn anew, or what the environment says for agents that are set up beforehand.

    Raises:
        UsageError: what the environment says can be guessed, or does not fit into a URL.
    """
    given = os.environ.get(TOKEN_ENV, "").strip()
    if not given:
        return secrets.token_urlsafe(32)
    if not _TOKEN.fullmatch(given):
        raise UsageError(f"{TOKEN_ENV}: expected 16 to 200 letters, digits, - and _")
    return given
