"""Both sides wait for the other for ever: the call ends with `silence`."""

from __future__ import annotations

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.caller.text import SILENCE_LIMIT_MS
from callm_voice.core.clock import Clock
from callm_voice.core.events import (
    AgentSpeechEnded,
    AgentSpeechStarted,
    Event,
    EventLog,
    InferenceEnded,
    InferenceStarted,
    PlayoutEnded,
    PlayoutStarted,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.pipeline.control import CallControl

_BEGINS = (UtteranceStarted, PlayoutStarted, InferenceStarted, AgentSpeechStarted)
_ENDS = (UtteranceEnded, PlayoutEnded, InferenceEnded, AgentSpeechEnded)


def silence_limit_ms(resolved: ResolvedCall) -> int:
    """Far beyond the patience of any caller: whoever waits so long is broken."""
    return max(SILENCE_LIMIT_MS, 2 * resolved.pipeline.caller.give_up_after_ms)


class SilenceWatch:
    """Ends a call in which nobody has spoken or thought for too long.

    Args:
        limit_ms: see `silence_limit_ms`.
    """

    def __init__(self, log: EventLog, clock: Clock, control: CallControl, *, limit_ms: int) -> None:
        self._clock, self._control, self._limit_s = clock, control, limit_ms / 1000
        self._under_way = 0
        """Utterances, sentences and inferences that have begun and not ended."""
        self._since_s = clock.now_s()
        log.listen(self._note)

    async def run(self) -> None:
        """Watch until the silence is too long; cancel it when the call ends otherwise."""
        while True:
            due_s = (self._clock.now_s() if self._under_way else self._since_s) + self._limit_s
            await self._clock.sleep_until(due_s)
            if not self._under_way and self._clock.now_s() >= self._since_s + self._limit_s:
                self._control.end("silence", f"nobody spoke for {self._limit_s:g} s")
                return

    def _note(self, event: Event) -> None:
        if isinstance(event, _BEGINS):
            self._under_way += 1
        elif isinstance(event, _ENDS):
            self._under_way -= 1
        else:
            return
        self._since_s = self._clock.now_s()
