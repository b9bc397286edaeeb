"""What we read in and add to a session description (SDP, RFC 8866), without I/O: codecs, telephone events, packet time.

aiortc writes and reads the rest. It knows nothing of telephone events (RFC 4733), and it takes many a malformed
description for a good one or breaks on it in its own ways; so what comes from outside is looked through here first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aiortc.sdp import SessionDescription

from callm_voice.core.errors import EngineError
from callm_voice.line.leg import PTIME_MS

RtcCodec = Literal["pcmu", "pcma", "g722", "opus"]
"""RTP names in lower case, as in a line profile."""
RTC_CODECS: tuple[RtcCodec, ...] = ("pcmu", "pcma", "g722", "opus")
MAX_SDP_BYTES = 64 * 1024
MAX_MESSAGE_CHARS = 400
EVENTS = "telephone-event"
EVENTS_PAYLOAD_TYPE = 101
"""In our offers; dynamic (RFC 3551 §6), and what most telephones take."""
_CLOCK_HZ: dict[str, int] = {"pcmu": 8000, "pcma": 8000, "g722": 8000, "opus": 48_000}
"""Of the RTP timestamp; G.722's is 8000 though it has 16000 samples a second (RFC 3551 §4.5.2)."""
_RATES_HZ: dict[str, tuple[int, ...]] = {"pcmu": (8000,), "pcma": (8000,), "g722": (16_000,), "opus": (8000, 16_000)}
_DIRECTIONS = ("a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive")
_ODD = (ValueError, AssertionError, IndexError, KeyError, AttributeError, TypeError, StopIteration)
"""What aiortc's reader breaks with."""


class RtcError(EngineError):
    """The other end of a WebRTC connection: its description makes no sense to us, or the connection cannot be had.

    The message may hold words of the other end's: it is made one line without control characters.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(plain(message, MAX_MESSAGE_CHARS), hint=hint, stage="line")


def plain(text: str, chars: int) -> str:
    """The beginning of a foreign text, on one line."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * chars])
    return " ".join(shown.split())[:chars]


@dataclass(frozen=True)
class AudioFormat:
    """What both ends agreed on."""

    codec: RtcCodec
    payload_type: int
    events_payload_type: int | None
    """Of telephone events; None: the other end knows none."""

    @property
    def clock_hz(self) -> int:
        """Of the RTP timestamp."""
        return _CLOCK_HZ[self.codec]

    @property
    def step(self) -> int:
        """Of the RTP timestamp from packet to packet."""
        return self.clock_hz * PTIME_MS // 1000


def codecs_at(rate_hz: int) -> tuple[RtcCodec, ...]:
    """The codecs that a line of this rate can use, best first."""
    return tuple(codec for codec in RTC_CODECS if rate_hz in _RATES_HZ[codec])


def check_sdp(sdp: object) -> SessionDescription:
    """A foreign description, as far as it can be used: one audio stream, encrypted, with a way to reach it.

    Raises:
        RtcError: says what is wrong with it.
    """
    if not isinstance(sdp, str) or not sdp.strip():
        raise RtcError("the session description is empty or no text")
    if len(sdp) > MAX_SDP_BYTES:
        raise RtcError(f"the session description has {len(sdp)} characters; at most {MAX_SDP_BYTES} are read")
    try:
        session = SessionDescription.parse(with_direction(sdp))
    except _ODD as error:
        raise RtcError(f"not a session description (SDP): {type(error).__name__} {str(error)[:80]}".rstrip()) from error
    kinds = [media.kind for media in session.media]
    if kinds != ["audio"]:
        raise RtcError(f"expected one audio stream in the session description, found {', '.join(kinds)[:80] or 'none'}")
    media = session.media[0]
    if media.dtls is None or not media.dtls.fingerprints:
        raise RtcError("the session description has no DTLS fingerprint or role: its sound would not be encrypted")
    if media.ice is None or not media.ice.usernameFragment or not media.ice.password:
        raise RtcError("the session description has no ICE user and password")
    if media.direction != "sendrecv":
        raise RtcError(f"expected audio both ways (sendrecv), found {media.direction or 'no direction'}")
    if not media.rtp.muxId:
        raise RtcError("the audio stream has no a=mid")
    return session


def choose(session: SessionDescription, wanted: tuple[RtcCodec, ...]) -> AudioFormat:
    """The first of the other end's codecs that is one of `wanted`, and its telephone events.

    Raises:
        RtcError: none is.
    """
    codecs = session.media[0].rtp.codecs
    by_type = {codec.payloadType: codec for codec in codecs if codec.payloadType is not None}
    named = [by_type[int(fmt)] for fmt in session.media[0].fmt if fmt in by_type]
    for codec in named:
        name = codec.mimeType.partition("/")[2].lower()
        match = next((w for w in wanted if w == name and codec.clockRate == _CLOCK_HZ[w]), None)
        if match is None:
            continue
        events = next((c for c in named if _is_events(c.mimeType) and c.clockRate == codec.clockRate), None)
        return AudioFormat(match, int(codec.payloadType or 0), events.payloadType if events else None)
    found = ", ".join(c.mimeType.partition("/")[2][:20] for c in named[:12]) or "none"
    raise RtcError(f"no codec in common: expected {' or '.join(wanted)}, found {found}")


def with_extras(sdp: str, *, clock_hz: int, events: int | None) -> str:
    """Our own description with the packet time and, if `events` is a payload type, telephone events of the sixteen
    keys (RFC 4733 §2.4) in its audio stream."""
    lines = sdp.split("\r\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("m=audio"))
    extras = [f"a=ptime:{PTIME_MS}", f"a=maxptime:{PTIME_MS}"]
    if events is not None:
        lines[at] += f" {events}"
        extras += [f"a=rtpmap:{events} {EVENTS}/{clock_hz}", f"a=fmtp:{events} 0-15"]
    last = next((n for n, line in enumerate(lines) if n > at and line.startswith("m=")), len(lines))
    while not lines[last - 1]:
        last -= 1
    return "\r\n".join([*lines[:last], *extras, *lines[last:]])


def with_direction(sdp: str) -> str:
    """The description of one stream with its direction, if it leaves that out: the session's, or both ways (RFC 8866
    §6.7). aiortc reads it in the stream alone, and takes none for none."""
    lines = sdp.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith("m=")), len(lines))
    told = [line for line in lines if line in _DIRECTIONS]
    if at == len(lines) or any(line in _DIRECTIONS for line in lines[at:]):
        return sdp
    while lines and not lines[-1]:
        lines.pop()
    return "\r\n".join([*lines, told[0] if told else "a=sendrecv", ""])


def without_names(sdp: str) -> str:
    """The description without candidates that are `.local` names (mDNS), if it has others: looking a name up would
    take a multicast socket, and the other end's own checks find us without."""
    lines = sdp.splitlines()
    named = [bool(re.match(r"a=candidate:.* [0-9a-z-]+\.local ", line, re.IGNORECASE)) for line in lines]
    others = any(line.startswith("a=candidate:") and not name for line, name in zip(lines, named, strict=True))
    kept = [line for line, name in zip(lines, named, strict=True) if not (others and name)]
    return "\r\n".join([*kept, ""])


def _is_events(mime_type: str) -> bool:
    return mime_type.partition("/")[2].lower() == EVENTS
