"""What the caller's recogniser made of the agent is told with its times, the last words after the line's end too."""

from __future__ import annotations

import numpy as np
import pytest
from support.manual_clock import ManualClock

from callm_voice.caller.ears import SttEars
from callm_voice.caller.listen import Listener, SpeechStarted
from callm_voice.core.record import EngineInfo
from callm_voice.speech.engines import Pcm, Transcript

pytestmark = pytest.mark.unit
LOUD = np.tile(np.array([4000, -4000], np.int16), 80)
QUIET = np.zeros(160, np.int16)


class Recogniser:
    """Says how many packets it was given."""

    info = EngineInfo(engine="counting", model="x")

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float, end_ms: float) -> Transcript:
        return Transcript(text=f"{pcm.size // 160} packets", decode_ms=5.0)


async def test_each_stretch_is_told_once_with_its_times() -> None:
    told: list[tuple[str, float, float]] = []
    ears = SttEars(
        Recogniser(),
        ManualClock(),
        rate_hz=8000,
        on_heard=lambda heard, start_ms, end_ms: told.append((heard.text, start_ms, end_ms)),
    )
    listener = Listener()
    for frame in [QUIET] * 25 + [LOUD] * 50 + [QUIET] * 25:
        change = listener.push(frame)
        ears.frame(frame, change if isinstance(change, SpeechStarted) else None)
    assert await ears.text(listener.last_loud_ms) == told[0][0]
    ((_, start_ms, end_ms),) = told
    assert start_ms <= 500 < 1500 <= end_ms
    assert end_ms - start_ms == pytest.approx(1000 + 300 + 200, abs=40), "the speech, what leads in, what trails off"
    await ears.text(listener.last_loud_ms)
    assert len(told) == 1, "nothing new was heard"
