"""The telephone network's side of a Twilio media stream, without I/O: what it sends, and what it does with what comes.

The agent's sound is queued and played 20 ms a tick; it may come faster than it can be played. Marks stand in the queue
where they came and are sent back when the sound before them was played, or at once if it is dropped (`clear`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from callm_voice.audio.codec_pcm import G711
from callm_voice.core.errors import UsageError
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.pipeline.twilio_messages import (
    MEDIA_RATE_HZ,
    BadMessage,
    Clear,
    Connected,
    Dtmf,
    Mark,
    Media,
    Start,
    Stop,
    Unknown,
    pack,
    parse,
)

SAMPLES_PER_FRAME = MEDIA_RATE_HZ * PTIME_MS // 1000
MAX_AHEAD_S = 300
"""Sound that may wait to be played; an agent that sends more ahead is broken."""
MAX_PIECES = 30_000
"""Pieces of sound that may wait: as many if it comes in packets of 10 ms."""
MAX_MARKS = 1000
"""Marks that may wait."""


def check_rate(rate_hz: int, line: str) -> None:
    """Raise UsageError if a line of this rate cannot go over a media stream."""
    if rate_hz != MEDIA_RATE_HZ:
        raise UsageError(
            f"--line {line}: {rate_hz:,} Hz; a Twilio media stream carries {MEDIA_RATE_HZ:,} Hz µ-law",
            hint="choose a line of 8,000 Hz, such as pstn-g711u",
        )


@dataclass(frozen=True)
class Ids:
    """Who is who in the stream's messages."""

    stream_sid: str
    call_sid: str
    account_sid: str


class Playout:
    """The agent's sound and its marks, in the order in which they came.

    Less than a packet is held back for one tick, as the rest of it may be on its way; then it is played with silence
    behind it.
    """

    def __init__(self) -> None:
        self._queue: deque[np.ndarray | str] = deque()
        """Samples (n,) int16 with n > 0, and names of marks."""
        self._held = False
        self.queued_samples = 0
        self.marks = 0

    @property
    def pieces(self) -> int:
        """Pieces of sound that wait."""
        return len(self._queue) - self.marks

    def put(self, pcm: np.ndarray) -> None:
        """Append samples, shape (n,), dtype int16."""
        if pcm.size:
            self._queue.append(pcm)
            self.queued_samples += pcm.size

    def mark(self, name: str) -> None:
        """A mark behind all that was put so far."""
        self._queue.append(name)
        self.marks += 1

    def pull(self) -> tuple[Frame | None, list[str]]:
        """The next packet, or None for silence, and the marks that were reached with it."""
        reached = self._reached()
        if self.queued_samples < SAMPLES_PER_FRAME and self.queued_samples and not self._held:
            self._held = True
            return None, reached
        self._held = False
        if not self.queued_samples:
            return None, reached
        frame = np.zeros(SAMPLES_PER_FRAME, dtype=np.int16)
        filled = 0
        while filled < frame.size and self.queued_samples:
            filled += self._move(frame[filled:])
            reached += self._reached()
        return frame, reached

    def clear(self) -> list[str]:
        """Drop the sound; the names of the marks that stood in it."""
        names = [entry for entry in self._queue if isinstance(entry, str)]
        self._queue.clear()
        self.queued_samples = self.marks = 0
        self._held = False
        return names

    def _move(self, into: np.ndarray) -> int:
        """Fill the beginning of `into` from the first samples of the queue; how many."""
        pcm = self._queue.popleft()
        assert isinstance(pcm, np.ndarray)  # marks at the head were taken away before
        take = min(into.size, pcm.size)
        into[:take] = pcm[:take]
        if take < pcm.size:
            self._queue.appendleft(pcm[take:])
        self.queued_samples -= take
        return take

    def _reached(self) -> list[str]:
        names: list[str] = []
        while self._queue and isinstance(self._queue[0], str):
            names.append(self._queue[0])
            self._queue.popleft()
        self.marks -= len(names)
        return names


class TwilioStream:
    """One stream. What a method returns is to be sent, in order.

    Args:
        ids: of the stream.
        parameters: `customParameters` for the agent.
    """

    def __init__(self, ids: Ids, parameters: Mapping[str, str]) -> None:
        self._ids, self._parameters = ids, parameters
        self._codec = G711("pcmu")
        self._playout = Playout()
        self._sequence = 0
        self._chunk = 0
        self.counts: Counter[str] = Counter()
        """What came: messages by event, `unknown`, `empty` (sound without a sample), `bytes` of sound."""

    @property
    def queued_ms(self) -> float:
        """Sound of the agent's that was not played yet."""
        return self._playout.queued_samples * 1000 / MEDIA_RATE_HZ

    def open(self) -> list[str]:
        """The stream begins."""
        ids = self._ids
        start = Start(ids.stream_sid, ids.call_sid, ids.account_sid, self._next(), self._parameters)
        return [pack(Connected()), pack(start)]

    def hear(self, frame: Frame) -> str:
        """A packet of the caller's, shape (160,), dtype int16."""
        self._chunk += 1
        at_ms = (self._chunk - 1) * PTIME_MS
        return pack(Media(self._ids.stream_sid, self._codec.encode(frame), self._next(), self._chunk, at_ms))

    def press(self, digit: str) -> str:
        """The caller pressed a key."""
        return pack(Dtmf(self._ids.stream_sid, digit, self._next()))

    def play(self) -> tuple[Frame | None, list[str]]:
        """What the agent says in the next 20 ms (None: nothing), and the marks that it thereby reaches."""
        frame, names = self._playout.pull()
        return frame, [self._marked(name) for name in names]

    def drop(self) -> list[str]:
        """Drop the agent's sound; its marks."""
        return [self._marked(name) for name in self._playout.clear()]

    def close(self) -> str:
        """The stream ends."""
        return pack(Stop(self._ids.stream_sid, self._ids.call_sid, self._ids.account_sid, self._next()))

    def receive(self, text: str | bytes) -> list[str]:
        """Take a message of the agent's.

        Raises:
            BadMessage: it is none, or of another stream, or too much waits to be played.
        """
        message = parse(text)
        self.counts[type(message).__name__.lower()] += 1
        match message:
            case Media():
                self._check(message.stream_sid, "media")
                self._sound(message.payload)
            case Mark():
                self._check(message.stream_sid, "mark")
                if self._playout.marks >= MAX_MARKS:
                    raise BadMessage(f"mark: {MAX_MARKS} marks wait to be reached already")
                self._playout.mark(message.name)
            case Clear():
                self._check(message.stream_sid, "clear")
                return self.drop()
            case Unknown():
                pass
            case _:
                raise BadMessage(f"{type(message).__name__.lower()}: only the telephone network's side sends this")
        return []

    def _sound(self, payload: bytes) -> None:
        self.counts["bytes"] += len(payload)
        self.counts["empty"] += not payload
        if self._playout.queued_samples + len(payload) > MAX_AHEAD_S * MEDIA_RATE_HZ:
            raise BadMessage(f"media: more than {MAX_AHEAD_S} s of sound wait to be played")
        if self._playout.pieces >= MAX_PIECES:
            raise BadMessage(f"media: more than {MAX_PIECES} pieces of sound wait to be played")
        self._playout.put(self._codec.decode(payload))

    def _check(self, stream_sid: str, event: str) -> None:
        if stream_sid != self._ids.stream_sid:
            raise BadMessage(
                f"{event}: streamSid {ascii(stream_sid)[:60]} is not this stream's, {self._ids.stream_sid}"
            )

    def _marked(self, name: str) -> str:
        return pack(Mark(self._ids.stream_sid, name, self._next()))

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence
