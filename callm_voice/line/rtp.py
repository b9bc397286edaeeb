"""RTP without I/O (RFC 3550): the packet as bytes, and numbers that run on where those on the wire wrap.

`RtpPacket.parse(p.pack()) == p` for every packet; bytes that come from a network and are not RTP raise `RtpError`.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from callm_voice.core.errors import EngineError

VERSION = 2
SEQUENCE_BITS = 16
TIMESTAMP_BITS = 32
SEQUENCE_MODULUS = 1 << SEQUENCE_BITS
TIMESTAMP_MODULUS = 1 << TIMESTAMP_BITS
_HEADER = struct.Struct("!BBHII")
_EXTENSION = struct.Struct("!HH")
MAX_CSRCS = 15
"""What the four bits of CC can count (RFC 3550 §5.1)."""


class RtpError(EngineError):
    """Bytes that are no RTP packet. Whoever reads a network drops them and goes on."""

    def __init__(self, message: str) -> None:
        super().__init__(f"not an RTP packet: {message}", stage="line")


class RtpPacket(NamedTuple):
    """One packet (RFC 3550 §5.1)."""

    payload_type: int
    """0 to 127; a codec's number, static (RFC 3551 §6) or agreed on."""
    sequence: int
    """16 bit; one up with each packet."""
    timestamp: int
    """32 bit, in samples of the codec's clock; of the first sample in the packet."""
    ssrc: int
    """32 bit; names the source."""
    payload: bytes = b""
    marker: bool = False
    """The first packet after a silence in which none were sent (RFC 3551 §4.1)."""
    csrcs: tuple[int, ...] = ()
    """Contributing sources, 32 bit each, at most 15."""
    extension: tuple[int, bytes] | None = None
    """Profile's number (16 bit) and words of 32 bit (RFC 3550 §5.3.1)."""

    def pack(self) -> bytes:
        """The packet as bytes, without padding.

        Raises:
            ValueError: a field does not fit its bits.
        """
        self._check()
        first = VERSION << 6 | (self.extension is not None) << 4 | len(self.csrcs)
        second = self.marker << 7 | self.payload_type
        parts = [_HEADER.pack(first, second, self.sequence, self.timestamp, self.ssrc)]
        parts += [csrc.to_bytes(4, "big") for csrc in self.csrcs]
        if self.extension is not None:
            number, words = self.extension
            parts += [_EXTENSION.pack(number, len(words) // 4), words]
        return b"".join([*parts, self.payload])

    def _check(self) -> None:
        bits = {"payload_type": 7, "sequence": SEQUENCE_BITS, "timestamp": TIMESTAMP_BITS, "ssrc": 32}
        for name, size in bits.items():
            if not 0 <= getattr(self, name) < 1 << size:
                raise ValueError(f"{name} {getattr(self, name)} does not fit {size} bits")
        if len(self.csrcs) > MAX_CSRCS or any(not 0 <= c < 1 << 32 for c in self.csrcs):
            raise ValueError(f"csrcs: at most {MAX_CSRCS} numbers of 32 bits")
        if self.extension is not None:
            number, words = self.extension
            if not 0 <= number < 1 << 16 or len(words) % 4 or len(words) // 4 >= 1 << 16:
                raise ValueError("extension: a number of 16 bits, and whole words of 32 bits")

    @classmethod
    def parse(cls, data: bytes) -> RtpPacket:
        """The inverse of `pack`; padding is taken off.

        Raises:
            RtpError: another version, or shorter than its own header says.
        """
        if len(data) < _HEADER.size:
            raise RtpError(f"{len(data)} bytes, a header has {_HEADER.size}")
        first, second, sequence, timestamp, ssrc = _HEADER.unpack_from(data)
        if first >> 6 != VERSION:
            raise RtpError(f"version {first >> 6}, expected {VERSION}")
        at = _HEADER.size + 4 * (first & 0x0F)
        if at > len(data):
            raise RtpError(f"{first & 0x0F} contributing sources do not fit {len(data)} bytes")
        csrcs = tuple(int.from_bytes(data[k : k + 4], "big") for k in range(_HEADER.size, at, 4))
        extension = None
        if first & 0x10:
            extension, at = _extension(data, at)
        end = len(data)
        if first & 0x20:
            end -= _padding(data, at)
        return cls(
            payload_type=second & 0x7F, sequence=sequence, timestamp=timestamp, ssrc=ssrc, payload=data[at:end],
            marker=bool(second & 0x80), csrcs=csrcs, extension=extension,
        )  # fmt: skip


def _extension(data: bytes, at: int) -> tuple[tuple[int, bytes], int]:
    if at + _EXTENSION.size > len(data):
        raise RtpError("the header extension is cut")
    number, words = _EXTENSION.unpack_from(data, at)
    begin = at + _EXTENSION.size
    end = begin + 4 * words
    if end > len(data):
        raise RtpError(f"a header extension of {words} words does not fit")
    return (number, data[begin:end]), end


def _padding(data: bytes, at: int) -> int:
    """How many bytes at the end are padding; the last one counts them, itself included."""
    count = data[-1]
    if not 0 < count <= len(data) - at:
        raise RtpError(f"{count} bytes of padding in {len(data) - at} bytes of payload")
    return count


class Unwrapper:
    """Turns numbers that wrap into ones that run on. Each is taken to be less than half the modulus from the highest
    one so far, either way (RFC 1982); the first is taken as it is.

    Args:
        bits: of the number on the wire.
    """

    def __init__(self, bits: int) -> None:
        self._modulus = 1 << bits
        self._highest: int | None = None

    def unwrap(self, number: int) -> int:
        """The running number; below zero for what is older than the first and wrapped before it."""
        if self._highest is None:
            self._highest = number
            return number
        half = self._modulus // 2
        step = (number - self._highest + half) % self._modulus - half
        running = self._highest + step
        self._highest = max(self._highest, running)
        return running
