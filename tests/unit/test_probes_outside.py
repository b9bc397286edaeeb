"""Voice to voice and barge-ins from sound alone, on recordings whose times are known."""

from __future__ import annotations

import pytest
from support.probes_call import CALL_MS, RATE_HZ, channel, line_ended

from callm_voice.core.events import AgentSpeechStarted, BargeIn, Event, UtteranceEnded, UtteranceStarted
from callm_voice.probes.latency import summarise
from callm_voice.probes.outside import outside_barge_ins, outside_turn_latencies
from callm_voice.probes.wire import Wire

pytestmark = pytest.mark.unit


def utterance(number: int, start_ms: float, end_ms: float) -> list[Event]:
    return [
        UtteranceStarted(t_ms=start_ms, utterance_id=number, said="x", spoken="x"),
        UtteranceEnded(t_ms=end_ms, utterance_id=number),
    ]


def wires(caller: list[tuple[float, float]], agent: list[tuple[float, float]]) -> tuple[Wire, Wire]:
    return Wire(channel(*caller), RATE_HZ), Wire(channel(*agent), RATE_HZ)


def test_v2v_runs_from_the_callers_last_sound_to_the_agents_first() -> None:
    left, right = wires([(1000, 2000), (5000, 6000)], [(100, 500), (2700, 4000), (6900, 7500)])
    times = outside_turn_latencies([*utterance(1, 1000, 2000), *utterance(2, 5000, 6000)], left, right)
    assert [(t.turn_id, t.v2v_ms) for t in times.turns] == [
        (1, pytest.approx(700, abs=1)),
        (2, pytest.approx(900, abs=1)),
    ]
    assert times.unanswered == 0
    for turn in times.turns:
        assert [s.name for s in turn.spans] == ["agent"]
        assert sum(s.duration_ms for s in turn.spans) == pytest.approx(turn.v2v_ms)


def test_words_that_are_answered_only_after_the_next_ones_count_as_unanswered() -> None:
    left, right = wires([(1000, 2000), (3000, 4000)], [(4500, 5000)])
    times = outside_turn_latencies([*utterance(1, 1000, 2000), *utterance(2, 3000, 4000)], left, right)
    assert [t.turn_id for t in times.turns] == [2]
    assert times.unanswered == 1


def test_an_agent_that_was_at_it_already_has_not_answered_these_words() -> None:
    left, right = wires([(1000, 2000)], [(1500, 3000)])
    times = outside_turn_latencies(utterance(1, 1000, 2000), left, right)
    assert (times.turns, times.unanswered) == ((), 1)


def test_a_barge_in_is_timed_from_the_wire_and_has_no_detection() -> None:
    left, right = wires([(2000, 3000)], [(1000, 2350)])
    events = [*utterance(1, 2000, 3000), BargeIn(t_ms=2000, turn_id=0)]
    (timing,) = outside_barge_ins(events, left, right)
    assert timing.onset_to_stop_ms == pytest.approx(350, abs=2)
    assert timing.onset_to_detection_ms is None
    assert timing.detection_to_stop_ms is None


def test_a_call_with_an_agent_from_elsewhere_is_summarised_without_a_ttft() -> None:
    events = [AgentSpeechStarted(t_ms=2700, stretch_id=1), *utterance(1, 1000, 2000), line_ended()]
    left, right = channel((1000, 2000)), channel((2700, 4000))
    summary = summarise(events, left, right, RATE_HZ, scripted=False)
    assert summary.v2v.p50 == pytest.approx(700, abs=1)
    assert summary.in_category is None
    assert summary.ttft["all"].n == 0
    assert set(summary.spans) == {"agent"}
    assert CALL_MS > 4000
