"""Voice to voice and its spans, on calls whose times are known."""

from __future__ import annotations

import pytest
from support.probes_call import AGENT_WIRE, CALLER_WIRE, caller_turn, channel, inference, plain_answer, sentence

from callm_voice.core.events import (
    Event,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    UtteranceEnded,
    UtteranceStarted,
    VadStopped,
)
from callm_voice.core.latency import TurnLatency
from callm_voice.probes.spans import turn_latencies
from callm_voice.probes.wire import Wire

pytestmark = pytest.mark.unit


def times(events: list[Event], caller=CALLER_WIRE, agent=AGENT_WIRE):
    return turn_latencies(events, Wire(caller, 8000), Wire(agent, 8000))


def only_turn(events: list[Event], caller=CALLER_WIRE, agent=AGENT_WIRE) -> TurnLatency:
    (turn,) = times(events, caller, agent).turns
    return turn


def durations(turn: TurnLatency) -> dict[str, float]:
    return {span.name: span.duration_ms for span in turn.spans}


def test_v2v_runs_from_the_last_sample_of_the_caller_to_the_first_of_the_agent() -> None:
    turn = only_turn(plain_answer())
    assert (turn.speech_end_ms, turn.audio_start_ms, turn.v2v_ms) == (3000, 4340, 1340)


def test_each_moment_of_a_plain_answer_ends_its_span() -> None:
    assert durations(only_turn(plain_answer())) == {
        "vad": 200, "endpointing": 300, "transcription": 400, "request": 10, "ttft": 200, "first_sentence": 90,
        "tts": 80, "playout": 20, "audible": 40,
    }  # fmt: skip


def test_tools_and_the_inferences_after_them_are_one_span_up_to_the_speaking_first_token() -> None:
    events = [
        *caller_turn(), *inference(1, 3910, 4110, tool_calls=1), *inference(2, 4300, 4500, cause="tool_result"),
        *sentence(1, 2, 4600, 4700, 4720, 6000),
    ]  # fmt: skip
    found = durations(only_turn(events, agent=channel((4760, 5900))))
    assert (found["ttft"], found["tools_and_handoffs"], found["first_sentence"]) == (200, 390, 100)


def test_a_filler_before_the_tool_needs_no_tool_span() -> None:
    events = [*plain_answer(), *inference(2, 5000, 5200, cause="tool_result"), *sentence(2, 2, 5300, 5400, 6000, 7000)]
    assert "tools_and_handoffs" not in durations(only_turn(events))


def test_a_speculative_transcript_before_the_endpoint_takes_no_time() -> None:
    early = [e.model_copy(update={"t_ms": 3400.0}) if isinstance(e, TranscriptReady) else e for e in plain_answer()]
    found = durations(only_turn(early))
    assert (found["transcription"], found["request"]) == (0, 410)


def test_an_inference_that_began_before_the_endpoint_is_clamped_and_the_sum_holds() -> None:
    events = [*caller_turn(), *inference(1, 3300, 3450), *sentence(1, 1, 3950, 4000, 4020, 6000)]
    turn = only_turn(events, agent=channel((4060, 5900)))
    assert (durations(turn)["ttft"], sum(durations(turn).values())) == (0, turn.v2v_ms)


@pytest.mark.parametrize("kind", [VadStopped, TranscriptReady, SentenceReady, TtsFirstAudio])
def test_a_moment_that_never_came_makes_no_span_and_its_time_goes_to_the_next(kind: type[Event]) -> None:
    turn = only_turn([e for e in plain_answer() if not isinstance(e, kind)])
    assert len(turn.spans) == 8 if kind is not SentenceReady else len(turn.spans) < 9
    assert sum(durations(turn).values()) == 1340


def test_an_audible_frame_recorded_just_before_its_event_counts() -> None:
    """The frame lies at the beginning of its tick, the event is taken while the tick runs."""
    turn = only_turn(plain_answer(), agent=channel((4285, 5980)))
    assert (turn.audio_start_ms, durations(turn)["audible"]) == (4285, 0)


def test_the_greeting_has_no_v2v() -> None:
    greeting = [*inference(9, -200, 100, turn=0, cause="greeting"), *sentence(9, 9, 200, 300, 320, 900, turn=0)]
    found = times([*greeting, *plain_answer()], agent=channel((340, 880), (4340, 5980)))
    assert [t.turn_id for t in found.turns] == [1]


def test_the_order_of_events_does_not_matter() -> None:
    assert times(plain_answer()[::-1]) == times(plain_answer())


def test_a_turn_that_was_never_answered_is_counted() -> None:
    found = times([*caller_turn(), *inference(1, 3910, 4110)], agent=channel())
    assert (found.turns, found.unanswered) == ((), 1)


def test_an_answer_that_never_became_audible_is_no_answer() -> None:
    found = times(plain_answer(), agent=channel())
    assert (found.turns, found.unanswered) == ((), 1)


def test_a_turn_cut_after_the_agent_was_heard_keeps_its_v2v() -> None:
    events = [
        *caller_turn(),
        *inference(1, 3910, 4110, interrupted=True),
        *sentence(1, 1, 4200, 4280, 4300, 5000, cut=True),
    ]
    assert durations(only_turn(events, agent=channel((4340, 4980))))["ttft"] == 200


def test_a_turn_that_only_noise_opened_is_not_a_caller_turn() -> None:
    found = times(caller_turn(heard=""), caller=channel(), agent=channel())
    assert (found.turns, found.unanswered) == ((), 0)


def test_a_turn_that_the_timer_cut_while_the_caller_spoke_on_has_no_v2v() -> None:
    events = [*caller_turn(why="max_turn"), *inference(1, 3910, 4110), *sentence(1, 1, 4200, 4280, 4300, 6000)]
    found = times(events, caller=channel((1000, 1500), (1700, 4000)))
    assert (found.turns, found.unanswered) == ((), 1)


def test_noise_outside_the_caller_s_utterances_is_not_its_speech() -> None:
    turn = only_turn(plain_answer(), caller=channel((1000, 2600), (3300, 3380)))
    events = [e.model_copy(update={"t_ms": 2650.0}) if isinstance(e, UtteranceEnded) else e for e in plain_answer()]
    assert turn.speech_end_ms == 3380
    assert only_turn(events, caller=channel((1000, 2600), (3300, 3380))).speech_end_ms == 2600


def test_without_utterances_all_sound_is_the_caller_s() -> None:
    events = [e for e in plain_answer() if not isinstance(e, UtteranceStarted | UtteranceEnded)]
    assert only_turn(events).speech_end_ms == 3000


def test_a_caller_who_goes_on_after_the_endpoint_ended_its_speech_before_it() -> None:
    assert only_turn(plain_answer(), caller=channel((1000, 3000), (3450, 4200))).speech_end_ms == 3000


def test_speech_that_resumes_within_the_gap_ended_before_the_endpoint() -> None:
    assert only_turn(plain_answer(), caller=channel((1000, 3400), (3495, 4200))).speech_end_ms == 3400


def test_a_second_turn_does_not_take_the_speech_of_the_first() -> None:
    second = [
        VadStopped(t_ms=6900, turn_id=2, last_speech_ms=6800),
        TurnEnded(t_ms=7000, turn_id=2, why="silence", audio_ms=300),
        *inference(2, 7100, 7200, turn=2), *sentence(2, 2, 7300, 7400, 7500, 8000, turn=2),
    ]  # fmt: skip
    found = times([*plain_answer(), *second], agent=channel((4340, 5980), (7520, 7980)))
    assert ([t.turn_id for t in found.turns], found.unanswered) == ([1], 0)


def test_two_turns_are_measured_each_on_its_own() -> None:
    events = [
        *plain_answer(), *caller_turn(turn=2, at_ms=5500), *inference(2, 9410, 9500, turn=2),
        *sentence(2, 2, 9600, 9650, 9700, 9900, turn=2),
    ]  # fmt: skip
    found = times(events, caller=channel((1000, 3000), (6500, 8500)), agent=channel((4340, 5980), (9720, 9880)))
    assert [t.v2v_ms for t in found.turns] == [1340, 1220]


def test_a_sentence_that_never_started_to_play_answers_nothing() -> None:
    found = times([e for e in plain_answer() if not isinstance(e, PlayoutStarted)])
    assert (found.turns, found.unanswered) == ((), 1)
