"""Server-sent events from bytes, without I/O: the event stream rules of the WHATWG HTML standard, section 9.2.6."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from callm_voice.core.errors import ModelProtocolError

MAX_LINE_BYTES = 4_000_000
_BOM = b"\xef\xbb\xbf"
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True)
class SseEvent:
    """One dispatched event."""

    data: str
    """The data lines, joined by newlines."""
    t_s: float
    """When the first byte of its data was read."""
    event: str = "message"


@dataclass
class SseDecoder:
    """Feed bytes as they are read, in pieces of any size; take whole events."""

    _buffer: bytearray = field(default_factory=bytearray)
    """A line that has not ended."""
    _line_t_s: float = 0.0
    """When the first byte of that line was read."""
    _at_start: bool = True
    _after_cr: bool = False
    _data: list[str] = field(default_factory=list)
    _data_t_s: float = 0.0
    _event: str = ""

    def feed(self, data: bytes, t_s: float) -> list[SseEvent]:
        """Take bytes that were read at `t_s`; the events that they complete.

        Raises:
            ModelProtocolError: a line that no event stream has (HTML, plain JSON), or one without end.
        """
        if self._at_start:
            data = bytes(self._buffer) + data
            self._buffer.clear()
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._buffer += data
                self._line_t_s = t_s
                return []
            data = data.removeprefix(_BOM)
            self._at_start = False
        found: list[SseEvent] = []
        begin = 0
        for match in _LINE_END.finditer(data):
            if data[match.start()] == 0x0A and self._after_cr and match.start() == begin and not self._buffer:
                begin, self._after_cr = match.end(), False  # the LF of a CRLF
                continue
            self._extend(data[begin : match.start()], t_s)
            self._after_cr = data[match.start()] == 0x0D
            begin = match.end()
            self._end_line(t_s, found)
        if begin < len(data):
            self._after_cr = False
            self._extend(data[begin:], t_s)
        return found

    def end(self, t_s: float) -> list[SseEvent]:
        """The stream ended. An event without its final blank line is given too: servers forget it, and `[DONE]`
        or an error would be lost. (The standard would drop it.)"""
        found: list[SseEvent] = []
        if self._buffer:
            self._end_line(t_s, found)
        self._dispatch(found)
        return found

    def _extend(self, piece: bytes, t_s: float) -> None:
        if piece and not self._buffer:
            self._line_t_s = t_s
        self._buffer += piece
        if len(self._buffer) > MAX_LINE_BYTES:
            raise ModelProtocolError(f"a line of the stream is longer than {MAX_LINE_BYTES:,} bytes")

    def _end_line(self, t_s: float, found: list[SseEvent]) -> None:
        line = self._buffer.decode("utf-8", errors="replace")
        self._buffer.clear()
        if not line:
            self._dispatch(found)
            return
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if colon and not name:
            return  # a comment; servers send them to keep the connection
        if name == "data":
            if not self._data:
                self._data_t_s = self._line_t_s
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "error":  # not in the standard; llama.cpp wrote errors so
            self._event = "error"
            self._data.append(value)
            self._data_t_s = self._line_t_s
        elif not _FIELD.fullmatch(name):
            raise ModelProtocolError(f"not an event stream; the answer says: {offending(line)}")

    def _dispatch(self, found: list[SseEvent]) -> None:
        if self._data:
            found.append(SseEvent("\n".join(self._data), self._data_t_s, self._event or "message"))
        self._data, self._event = [], ""


def offending(text: str, limit: int = 160) -> str:
    """The start of a text that should not be there, on one line."""
    flat = " ".join(text.split())
    return repr(flat[:limit] + ("..." if len(flat) > limit else ""))
