"""How fast the agent falls silent."""

from __future__ import annotations

import pytest
from support.probes_call import channel, inference, line_ended, sentence

from callm_voice.core.events import BargeIn, Event, VadStarted
from callm_voice.core.latency import BargeInTiming
from callm_voice.probes.barge_in import barge_in_percentiles, barge_in_timings
from callm_voice.probes.latency import summarise
from callm_voice.probes.wire import Wire

pytestmark = pytest.mark.unit


def timings(events: list[Event], caller, agent) -> list[BargeInTiming]:
    return barge_in_timings(events, Wire(caller, 8000), Wire(agent, 8000))


def interrupted(*, vad_ms: float | None = 3120, barge_ms: float = 3125) -> list[Event]:
    """The agent plays from 1,000; the caller is detected at 3,120, playout is cut at 3,140."""
    detection = [VadStarted(t_ms=vad_ms, turn_id=2)] if vad_ms is not None else []
    return [
        *inference(1, 100, 200), *sentence(1, 1, 300, 400, 1000, 3140, cut=True), *detection,
        BargeIn(t_ms=barge_ms, turn_id=1),
    ]  # fmt: skip


CALLER = channel((3000, 4000))
AGENT = channel((1010, 3160))


def test_onset_to_stop_is_from_the_caller_s_first_to_the_agent_s_last_sample() -> None:
    (found,) = timings(interrupted(), CALLER, AGENT)
    assert (found.onset_ms, found.silent_ms, found.onset_to_stop_ms) == (3000, 3160, 160)


def test_detection_to_stop_is_from_the_vad_to_the_cut_playout() -> None:
    (found,) = timings(interrupted(), CALLER, AGENT)
    assert (found.detected_ms, found.detection_to_stop_ms, found.detection_to_silence_ms) == (3120, 20, 40)


def test_without_a_vad_decision_the_barge_in_is_the_detection() -> None:
    (found,) = timings(interrupted(vad_ms=None), CALLER, AGENT)
    assert (found.detected_ms, found.detection_to_stop_ms) == (3125, 15)


def test_an_old_vad_decision_is_not_the_detection() -> None:
    (found,) = timings(interrupted(vad_ms=500), CALLER, AGENT)
    assert found.detected_ms == 3125


def test_an_agent_in_a_pause_has_stopped_already() -> None:
    (found,) = timings(interrupted(), CALLER, channel((1010, 2800)))
    assert (found.onset_to_stop_ms, found.detection_to_silence_ms) == (0, 0)


def test_an_agent_who_never_stopped_has_no_cut_and_talks_to_the_end_of_its_turn() -> None:
    events = [e for e in interrupted() if e.type != "playout_ended"]
    (found,) = timings(events, CALLER, channel((1010, 6000)))
    assert (found.detection_to_stop_ms, found.onset_to_stop_ms) == (None, 3000)


def test_the_next_answer_is_not_taken_for_the_interrupted_one() -> None:
    events = [*interrupted(), *inference(2, 4600, 4800, turn=2), *sentence(2, 2, 4900, 5000, 5020, 6000, turn=2)]
    (found,) = timings(events, CALLER, channel((1010, 3160), (5040, 5980)))
    assert found.silent_ms == 3160


def test_a_caller_who_spoke_before_the_agent_began_has_no_onset_in_its_turn() -> None:
    (found,) = timings(interrupted(), channel((400, 4000)), AGENT)
    assert (found.onset_ms, found.onset_to_stop_ms) == (None, None)


def test_a_barge_in_without_sound_of_the_caller_has_no_onset() -> None:
    (found,) = timings(interrupted(), channel(), AGENT)
    assert (found.onset_ms, found.onset_to_stop_ms, found.detection_to_silence_ms) == (None, None, 40)


def test_no_barge_in_gives_no_timing() -> None:
    assert timings([], CALLER, AGENT) == []


def test_onset_to_detection_is_what_the_vad_needs() -> None:
    (found,) = timings(interrupted(), CALLER, AGENT)
    assert found.onset_to_detection_ms == 120


def test_the_percentiles_are_of_the_moments_that_came() -> None:
    found = barge_in_percentiles([*timings(interrupted(), CALLER, AGENT), *timings(interrupted(), channel(), AGENT)])
    assert {name: (f.n, f.max) for name, f in found.items()} == {
        "detection": (1, 120), "stop": (2, 20), "silence": (2, 40), "reaction": (1, 160),
    }  # fmt: skip


def test_no_barge_in_gives_percentiles_of_nothing() -> None:
    assert {f.n for f in barge_in_percentiles([]).values()} == {0}


def test_the_summary_of_a_call_carries_its_barge_ins() -> None:
    found = summarise([*interrupted(), line_ended()], CALLER, AGENT, 8000, scripted=True)
    assert [(b.turn_id, b.onset_to_stop_ms) for b in found.barge_ins] == [(1, 160)]
    assert found.barge_in["reaction"].p50 == 160
