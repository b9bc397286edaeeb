"""Ids and seeds. A seed is derived by SHA-256, so the same plan gives the same draws on every machine."""

from __future__ import annotations

import hashlib


def derive_seed(*parts: str | int) -> int:
    """A 63-bit seed from the parts' text; order matters, and ("ab", "c") differs from ("a", "bc")."""
    joined = "\x1f".join(str(p) for p in parts)
    return int.from_bytes(hashlib.sha256(joined.encode()).digest()[:8], "big") >> 1


def short_hash(data: bytes, length: int = 12) -> str:
    """The first `length` hex digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:length]
