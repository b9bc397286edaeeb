"""An agent that takes its sound back when the caller speaks over it has shown when it noticed."""

from __future__ import annotations

import pytest
from support.probes_call import RATE_HZ, channel

from callm_voice.core.events import AgentCleared, BargeIn, Event, UtteranceEnded, UtteranceStarted
from callm_voice.probes.outside import outside_barge_ins
from callm_voice.probes.wire import Wire

pytestmark = pytest.mark.unit


def events(*cleared_ms: float) -> list[Event]:
    """The caller speaks from 2 s to 3 s, over the agent."""
    return [
        UtteranceStarted(t_ms=2000, utterance_id=1, said="x", spoken="x"),
        BargeIn(t_ms=2000, turn_id=0),
        *(AgentCleared(t_ms=t_ms, dropped_ms=500) for t_ms in cleared_ms),
        UtteranceEnded(t_ms=3000, utterance_id=1),
    ]


@pytest.mark.parametrize("cleared_ms", [(2300.0,), (2300.0, 2600.0)], ids=["once", "twice"])
def test_the_first_clear_within_the_callers_words_is_the_detection(cleared_ms: tuple[float, ...]) -> None:
    left, right = Wire(channel((2000, 3000)), RATE_HZ), Wire(channel((1000, 2350)), RATE_HZ)
    (timing,) = outside_barge_ins(events(*cleared_ms), left, right)
    assert timing.detected_ms == 2300
    assert timing.onset_to_detection_ms == pytest.approx(300, abs=2)
    assert timing.detection_to_silence_ms == pytest.approx(50, abs=2)
    assert timing.onset_to_stop_ms == pytest.approx(350, abs=2)


def test_a_clear_at_another_time_is_none() -> None:
    left, right = Wire(channel((2000, 3000)), RATE_HZ), Wire(channel((1000, 2350)), RATE_HZ)
    (timing,) = outside_barge_ins(events(500.0, 3500.0), left, right)
    assert timing.onset_to_detection_ms is None
    assert timing.detection_to_silence_ms is None
    assert timing.detected_ms == pytest.approx(2000, abs=2)
