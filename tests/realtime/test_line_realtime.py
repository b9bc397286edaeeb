"""The line on the real clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from callm_voice.audio.files import read_sound
from callm_voice.core.clock import RealClock
from callm_voice.core.events import EventLog, LineEnded
from callm_voice.line.leg import Frame
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import load_profile

pytestmark = pytest.mark.realtime


class Talker:
    """A leg that says noise and counts what it hears."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.heard = 0

    def pull(self) -> Frame | None:
        return self._rng.integers(-8000, 8000, 160).astype(np.int16)

    def push(self, frame: Frame) -> None:
        self.heard += 1

    def clear(self) -> None: ...


async def test_three_seconds_have_150_ticks_and_as_much_recording(tmp_path: Path) -> None:
    """The line never runs ahead of the clock, and ends within a second of its time (a bound, not a measurement)."""
    clock = RealClock()
    try:
        log = EventLog(clock)
        caller, agent = Talker(1), Talker(2)
        line = PhoneLine(caller, agent, load_profile("pstn-g711u"), clock, log, max_duration_s=3.0)
        report = await line.run()
    finally:
        clock.close()
    line.recorder.write(tmp_path / "call.flac")
    assert (report.ticks, caller.heard, agent.heard) == (150, 150, 150)
    assert read_sound(tmp_path / "call.flac").pcm.shape == (150 * 160, 2)
    (ended,) = log.of(LineEnded)
    assert 3000 <= ended.t_ms + 0.001 < 4000
