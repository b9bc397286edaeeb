"""Cuts what is read block by block into lines, the same wherever the blocks end, and keeps no line without an end."""

from __future__ import annotations

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Of one line without its end. An event is far shorter: what goes on for longer is none, and is not kept in memory."""


class Lines:
    """Takes blocks, gives lines."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._skips = False

    def take(self, block: bytes) -> list[bytes | None]:
        """The lines that end in this block, without their ends. None stands for one that is too long, given as soon as
        it is known, for it may never end; what follows it is read on.
        """
        found: list[bytes | None] = []
        *ended, rest = block.split(b"\n")
        for piece in ended:
            self._add(piece, found)
            if not self._skips:
                found.append(bytes(self._rest))
            self._rest.clear()
            self._skips = False
        self._add(rest, found)
        return found

    def _add(self, piece: bytes, found: list[bytes | None]) -> None:
        if self._skips:
            return
        if len(self._rest) + len(piece) > MAX_LINE_BYTES:
            self._rest.clear()
            self._skips = True
            found.append(None)
        else:
            self._rest += piece
