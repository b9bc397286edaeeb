"""A person's end of the line: what comes over a WebRTC connection is what the caller says.

The line owns time, so the person's packets wait in the peer's jitter buffer for its ticks, and the line profile is
applied to the voice behind it, as to any caller's. Nobody knows the words: the events say when there was speech.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from callm_voice.caller.listen import Listener, SpeechEnded, SpeechStarted
from callm_voice.core.events import DtmfSent, EventLog, UtteranceEnded, UtteranceStarted
from callm_voice.core.keypad import marker
from callm_voice.line.leg import PTIME_MS, Frame


class Peer(Protocol):
    """What is wanted of `rtc_peer.RtcPeer`."""

    @property
    def key(self) -> str | None:
        """Pressed in the packet time of the last `pull`."""
        ...

    def pull(self) -> Frame: ...
    def send(self, frame: Frame, key: str | None = None) -> None: ...


class PersonLeg:
    """See `Leg` and `KeypadLeg`.

    Args:
        peer: the connection.
        log: of the call.
        on_speech: called with the times of each stretch of speech once it is over: beginning and end on the line's
            clock in ms.
    """

    def __init__(self, peer: Peer, log: EventLog, on_speech: Callable[[float, float], None] = lambda *_: None) -> None:
        self._peer, self._log, self._on_speech = peer, log, on_speech
        self._listener = Listener()
        self._now_ms = 0
        """Beginning of the next packet that is pulled."""
        self._utterances = 0
        self._began_ms: float | None = None
        """Of the stretch of speech that goes on."""
        self._pressed: tuple[str, float, int] | None = None
        """The key that is down, since when, and its utterance."""

    def pull(self) -> Frame | None:
        frame = self._peer.pull()
        self._follow_key(self._peer.key)
        self._listen(np.zeros_like(frame) if self._pressed else frame)
        self._now_ms += PTIME_MS
        return frame

    def push(self, frame: Frame) -> None:
        self._peer.send(frame)

    def clear(self) -> None:
        """Nothing of a person's is queued here."""

    @property
    def pressing(self) -> bool:
        """See `KeypadLeg`."""
        return self._pressed is not None

    def hang_up(self) -> None:
        """The line is closed: what still goes on ends with it."""
        self._follow_key(None)
        if self._began_ms is not None:
            self._speech_ended(self._now_ms, cut=True)

    def _listen(self, frame: Frame) -> None:
        change = self._listener.push(frame)
        if isinstance(change, SpeechStarted):
            self._began_ms = change.at_ms
            self._utterance_started(change.at_ms, "")
        elif isinstance(change, SpeechEnded) and self._began_ms is not None:
            self._speech_ended(change.at_ms, cut=False)

    def _speech_ended(self, at_ms: float, *, cut: bool) -> None:
        began_ms, self._began_ms = self._began_ms, None
        assert began_ms is not None
        self._log.emit(UtteranceEnded, at_s=self._log.to_s(at_ms), utterance_id=self._utterances, cut=cut)
        self._on_speech(began_ms, at_ms)

    def _follow_key(self, key: str | None) -> None:
        down = self._pressed[0] if self._pressed else None
        if key == down:
            return
        if self._pressed is not None:
            pressed, since_ms, utterance_id = self._pressed
            self._log.emit(DtmfSent, at_s=self._log.to_s(since_ms), utterance_id=utterance_id, digits=pressed)
            self._log.emit(UtteranceEnded, at_s=self._log.to_s(self._now_ms), utterance_id=utterance_id)
            self._pressed = None
        if key is not None:
            if self._began_ms is not None:
                self._speech_ended(self._now_ms, cut=False)
            self._utterance_started(self._now_ms, marker(key))
            self._pressed = (key, self._now_ms, self._utterances)

    def _utterance_started(self, at_ms: float, said: str) -> None:
        self._utterances += 1
        at_s = self._log.to_s(at_ms)
        self._log.emit(UtteranceStarted, at_s=at_s, utterance_id=self._utterances, said=said, spoken=said)
