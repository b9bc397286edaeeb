"""The agent's end of the line, when it is reached as Twilio reaches it: a websocket with a media stream."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from callm_voice.audio.tones import DtmfDetector
from callm_voice.core.errors import CallmError
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.pipeline.keypad import Keypad
from callm_voice.pipeline.twilio_link import TwilioLink
from callm_voice.pipeline.twilio_messages import MEDIA_RATE_HZ
from callm_voice.pipeline.twilio_stream import Ids, TwilioStream

INTERDIGIT_MS = 1500
"""Of no consequence here: each key is told at once."""
PLAY_OUT_MS = 30_000
"""Sound that is still played after the agent has closed the stream."""


def make_ids() -> Ids:
    """Ids of the form of Twilio's (two letters, 32 hexadecimal digits), drawn anew."""
    return Ids(*(prefix + secrets.token_hex(16) for prefix in ("MZ", "CA", "AC")))


class TwilioLeg:
    """A `Leg` (line/leg.py). `start`, `open` as the line opens, then the line runs, then `aclose`.

    Args:
        url: of the agent, `ws://` or `wss://`.
        parameters: `customParameters` of the stream.
        on_hang_up: called once, when the agent has closed the stream and what it had said was played.
        on_error: called once with what broke.
        on_key: called with each key that the caller pressed, as it is recognised on the line.
        on_clear: called when the agent drops what it had sent, with how much that was, in milliseconds.
    """

    def __init__(
        self,
        url: str,
        parameters: Mapping[str, str],
        *,
        on_hang_up: Callable[[str], None],
        on_error: Callable[[CallmError], None],
        on_key: Callable[[str], None] = lambda key: None,
        on_clear: Callable[[float], None] = lambda dropped_ms: None,
    ) -> None:
        self._stream = TwilioStream(make_ids(), parameters)
        self._link = TwilioLink(url, on_message=self._receive, on_end=self._ended)
        self._keypad = Keypad(DtmfDetector(MEDIA_RATE_HZ), rate_hz=MEDIA_RATE_HZ, interdigit_ms=INTERDIGIT_MS)
        self._on_hang_up, self._on_error = on_hang_up, on_error
        self._on_key, self._on_clear = on_key, on_clear
        self._now_ms = 0
        self._open = False
        self._leaving_ms: int | None = None
        """When the agent closed the stream."""

    async def start(self) -> None:
        """Reach the agent; nothing of the call is told yet.

        Raises:
            EngineError: it cannot be reached.
        """
        await self._link.connect()

    def open(self) -> None:
        """The call is answered."""
        self._open = True
        self._send(self._stream.open())

    async def aclose(self) -> None:
        """End the stream and the websocket. Safe to call twice."""
        await self._link.aclose(last=self._stream.close() if self._open else None)
        self._open = False

    @property
    def work(self) -> dict[str, float]:
        """What the agent sent, for the record: messages by event, bytes of sound, and what made no sense."""
        return {name: float(count) for name, count in sorted(self._stream.counts.items())}

    def push(self, frame: Frame) -> None:
        self._now_ms += PTIME_MS
        self._send([self._stream.hear(frame)])
        for key in self._keypad.push(frame, float(self._now_ms)):
            self._on_key(key)
            self._send([self._stream.press(key)])

    def pull(self) -> Frame | None:
        frame, marks = self._stream.play()
        self._send(marks)
        if self._leaving_ms is not None and (
            not (frame is not None or self._stream.queued_ms) or self._now_ms - self._leaving_ms > PLAY_OUT_MS
        ):
            self._leaving_ms = None
            self._on_hang_up("the agent closed the stream")
        return frame

    def clear(self) -> None:
        self._send(self._stream.drop())

    def _receive(self, text: str | bytes) -> None:
        queued_ms, cleared = self._stream.queued_ms, self._stream.counts["clear"]
        self._send(self._stream.receive(text))
        if self._stream.counts["clear"] > cleared:
            self._on_clear(queued_ms)

    def _send(self, texts: list[str]) -> None:
        for text in texts:
            self._link.send(text)

    def _ended(self, error: CallmError | None) -> None:
        if error is not None:
            self._on_error(error)
        else:
            self._leaving_ms = self._now_ms
