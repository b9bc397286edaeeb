"""Endpointing over a scripted detector: what it decides, when, and which samples it gives out."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.core.errors import HarnessError
from callm_voice.core.record import EngineInfo
from callm_voice.speech import endpointing as ep
from callm_voice.speech.endpointing import Endpointer, EndpointEvent
from callm_voice.speech.engines import Pcm
from callm_voice.speech.settings import EndpointingSettings

pytestmark = pytest.mark.unit

RATE_HZ, FRAME_MS = 8000, 20
SAMPLES = RATE_HZ * FRAME_MS // 1000


class ScriptedVad:
    """Gives back the confidence that a test put into the frame's own samples: its first sample over 1000."""

    def __init__(self, frame_ms: int = FRAME_MS) -> None:
        self.frame_ms = frame_ms
        self.info = EngineInfo(engine="test", scripted=True)
        self.resets = 0

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        assert frame.size == rate_hz * self.frame_ms // 1000
        return float(frame.max()) / 1000

    def reset(self) -> None:
        self.resets += 1


def frames(*stretches: tuple[int, float]) -> list[Pcm]:
    """20 ms frames from (milliseconds, confidence); samples carry their frame's number in the last sample."""
    confidences = [c for ms, c in stretches for _ in range(ms // FRAME_MS)]
    made = []
    for number, confidence in enumerate(confidences):
        frame = np.full(SAMPLES, round(confidence * 1000), np.int16)
        frame[-1] = -number
        made.append(frame)
    return made


def run(made: list[Pcm], *, vad_ms: int = FRAME_MS, **settings: object) -> list[EndpointEvent]:
    defaults = {"smooth_frames": 1, "speculate_ms": None, "min_speech_ms": 0}
    endpointer = Endpointer(ScriptedVad(vad_ms), EndpointingSettings(**{**defaults, **settings}), rate_hz=RATE_HZ)
    return [event for i, frame in enumerate(made) for event in endpointer.push(frame, (i + 1) * FRAME_MS)]


def only(events: list[EndpointEvent], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def test_a_turn_starts_after_start_ms_and_ends_silence_ms_after_the_last_speech() -> None:
    events = run(frames((1000, 0), (600, 1), (1000, 0)), start_ms=100, stop_ms=200, silence_ms=500)
    assert [type(e) for e in events] == [ep.SpeechStarted, ep.SpeechStopped, ep.TurnEnded]
    started, stopped, ended = events
    assert (started.t_ms, started.speech_ms) == (1100, 1000)
    assert (stopped.t_ms, stopped.last_speech_ms) == (1800, 1600)
    assert (ended.t_ms, ended.last_speech_ms, ended.why) == (2100, 1600, "silence")


def test_the_segment_has_pre_roll_and_post_roll_and_its_own_samples() -> None:
    made = frames((1000, 0), (600, 1), (1000, 0))
    (ended,) = only(run(made, pre_roll_ms=300, post_roll_ms=200), ep.TurnEnded)
    assert (ended.start_ms, ended.end_ms) == (700, 1800)
    np.testing.assert_array_equal(ended.pcm, np.concatenate(made)[RATE_HZ * 7 // 10 : RATE_HZ * 18 // 10])


def test_a_short_yes_at_the_very_start_of_the_call_is_whole() -> None:
    made = frames((160, 1), (1000, 0))
    (ended,) = only(run(made, start_ms=100), ep.TurnEnded)
    assert ended.start_ms == 0
    np.testing.assert_array_equal(ended.pcm[: 8 * SAMPLES], np.concatenate(made[:8]))


def test_a_click_starts_no_turn() -> None:
    assert run(frames((400, 0), (60, 1), (1000, 0)), start_ms=100) == []


def test_less_speech_than_min_speech_ms_starts_no_turn() -> None:
    made = frames((400, 0), (140, 1), (1000, 0))
    assert run(made, start_ms=100, min_speech_ms=200) == []
    assert only(run(made, start_ms=100, min_speech_ms=120), ep.SpeechStarted)


def test_a_pause_shorter_than_silence_ms_does_not_end_the_turn() -> None:
    events = run(frames((200, 0), (400, 1), (400, 0), (400, 1), (800, 0)), stop_ms=200, silence_ms=500)
    kinds = [ep.SpeechStarted, ep.SpeechStopped, ep.SpeechResumed, ep.SpeechStopped, ep.TurnEnded]
    assert [type(e) for e in events] == kinds
    (ended,) = only(events, ep.TurnEnded)
    assert ended.last_speech_ms == 1400


def test_the_audio_so_far_is_given_out_ahead_and_is_the_final_segment_if_nothing_more_is_said() -> None:
    events = run(frames((200, 0), (400, 1), (1000, 0)), speculate_ms=200, post_roll_ms=200)
    (early,) = only(events, ep.SilenceBegan)
    (ended,) = only(events, ep.TurnEnded)
    assert early.t_ms == 800
    assert (early.start_ms, early.end_ms) == (ended.start_ms, ended.end_ms)
    np.testing.assert_array_equal(early.pcm, ended.pcm)


def test_speech_that_resumes_cancels_the_audio_given_out_ahead() -> None:
    events = run(frames((200, 0), (400, 1), (300, 0), (400, 1), (800, 0)), speculate_ms=200, stop_ms=400)
    kinds = [type(e) for e in events]
    assert kinds.index(ep.SilenceBegan) < kinds.index(ep.SpeechResumed)
    assert kinds.count(ep.SilenceBegan) == 2


def test_audio_given_out_before_the_post_roll_is_over_lacks_only_silence() -> None:
    made = frames((200, 0), (400, 1), (1000, 0))
    events = run(made, speculate_ms=100, post_roll_ms=200)
    (early,), (ended,) = only(events, ep.SilenceBegan), only(events, ep.TurnEnded)
    assert (early.start_ms, ended.end_ms - early.end_ms) == (ended.start_ms, 100)
    np.testing.assert_array_equal(early.pcm, ended.pcm[: early.pcm.size])
    assert early.end_ms >= early.last_speech_ms


def run_smart(made: list[Pcm], answers: dict[int, tuple[int, bool]], **settings: object) -> list[EndpointEvent]:
    """As `run`, with answers by the number of the frame after which they come: (question, complete)."""
    given = {"smooth_frames": 1, "min_speech_ms": 0, "kind": "smart_turn", "stop_ms": 200, **settings}
    endpointer = Endpointer(ScriptedVad(), EndpointingSettings(**given), rate_hz=RATE_HZ)
    events: list[EndpointEvent] = []
    for number, frame in enumerate(made, start=1):
        events += endpointer.push(frame, number * FRAME_MS)
        if number in answers:
            question, complete = answers[number]
            endpointer.decide(question, complete=complete)
    return events


def test_a_turn_that_is_called_complete_ends_with_the_next_frame() -> None:
    events = run_smart(frames((200, 0), (400, 1), (1000, 0)), {42: (1, True)})
    asked, ended = only(events, ep.TurnAsked), only(events, ep.TurnEnded)
    assert [(e.t_ms, e.question) for e in asked] == [(800, 1)]
    assert [(e.t_ms, e.why, e.last_speech_ms) for e in ended] == [(860, "smart_turn", 600)]


def test_the_model_is_asked_about_the_turn_with_its_pre_roll() -> None:
    made = frames((1000, 0), (400, 1), (1000, 0))
    (asked,) = only(run_smart(made, {}, pre_roll_ms=300, post_roll_ms=200), ep.TurnAsked)
    np.testing.assert_array_equal(asked.pcm, np.concatenate(made)[RATE_HZ * 7 // 10 : RATE_HZ * 16 // 10])


@pytest.mark.parametrize("answers", [{42: (1, False)}, {}])
def test_a_turn_that_is_called_incomplete_or_not_judged_waits_for_the_longest_silence(answers: dict) -> None:
    events = run_smart(frames((200, 0), (400, 1), (2000, 0)), answers, smart_max_silence_ms=1500)
    assert [(e.t_ms, e.why) for e in only(events, ep.TurnEnded)] == [(2100, "silence")]


def test_an_answer_about_a_pause_that_is_over_does_not_end_the_turn() -> None:
    made = frames((200, 0), (400, 1), (220, 0), (400, 1), (700, 0))
    events = run_smart(made, {45: (1, True)}, smart_max_silence_ms=600)
    assert [e.question for e in only(events, ep.TurnAsked)] == [1, 2]
    assert [(e.why, e.last_speech_ms) for e in only(events, ep.TurnEnded)] == [("silence", 1220)]


def test_decide_says_whether_the_question_still_stands() -> None:
    endpointer = Endpointer(ScriptedVad(), EndpointingSettings(kind="smart_turn", smooth_frames=1), rate_hz=RATE_HZ)
    for number, frame in enumerate(frames((400, 1), (300, 0)), start=1):
        endpointer.push(frame, number * FRAME_MS)
    assert not endpointer.decide(2, complete=True)
    assert endpointer.decide(1, complete=True)


def test_with_a_model_that_judges_nothing_is_transcribed_ahead_until_it_has_called_the_turn_incomplete() -> None:
    made = frames((200, 0), (400, 1), (2000, 0))
    assert only(run_smart(made, {}, speculate_ms=200), ep.SilenceBegan) == []
    assert only(run_smart(made, {42: (1, True)}, speculate_ms=200), ep.SilenceBegan) == []
    (early,) = only(run_smart(made, {42: (1, False)}, speculate_ms=200), ep.SilenceBegan)
    assert early.t_ms == 860
    (beside,) = only(run_smart(made, {42: (1, True)}, speculate_ms=200, smart_beside_stt=True), ep.SilenceBegan)
    assert beside.t_ms == 800


def test_one_speech_frame_in_the_silence_does_not_hold_the_turn_open_when_smoothed() -> None:
    made = frames((200, 0), (400, 1), (240, 0), (20, 1), (1000, 0))
    (ended,) = only(run(made, smooth_frames=5, silence_ms=500), ep.TurnEnded)
    assert ended.last_speech_ms == 600
    assert ended.t_ms == 1100


@pytest.mark.parametrize("resumed_ms", [500, 520, 540])
def test_who_speaks_again_before_the_silence_is_over_is_not_cut_off_though_the_average_is_late(resumed_ms: int) -> None:
    """Five frames are averaged: at 560 ms of silence the one to three that are speech again do not reach 0.7."""
    made = frames((200, 0), (400, 1), (resumed_ms, 0), (600, 1), (800, 0))
    events = run(made, smooth_frames=5, threshold=0.7, silence_ms=560)
    (ended,) = only(events, ep.TurnEnded)
    assert ended.last_speech_ms == 200 + 400 + resumed_ms + 600


def test_an_answer_that_the_turn_is_complete_does_not_end_it_in_a_frame_of_speech() -> None:
    made = frames((200, 0), (400, 1), (200, 0), (400, 1), (2400, 0))
    events = run_smart(made, {40: (1, True)}, smooth_frames=5, threshold=0.7)
    assert [event.last_speech_ms for event in only(events, ep.TurnEnded)] == [1200]


def test_one_silent_frame_in_the_speech_does_not_restart_the_start_when_smoothed() -> None:
    made = frames((200, 0), (60, 1), (20, 0), (200, 1), (1000, 0))
    (started,) = only(run(made, smooth_frames=5, start_ms=100), ep.SpeechStarted)
    assert started.speech_ms == 200


def test_a_turn_that_never_falls_silent_is_ended_and_the_next_one_repeats_no_sample() -> None:
    made = frames((200, 0), (3000, 1), (800, 0))
    first, second = only(run(made, max_turn_ms=2000, pre_roll_ms=300), ep.TurnEnded)
    assert (first.why, first.end_ms - 200) == ("max_turn", 2000)
    assert second.why == "silence"
    assert second.start_ms == first.end_ms


def test_the_level_gate_makes_quiet_speech_silence() -> None:
    made = [np.full(SAMPLES, 900, np.int16) for _ in range(40)]  # -31 dBov, confidence 0.9
    assert only(run(made, min_level_dbov=-40.0), ep.SpeechStarted)
    assert run(made, min_level_dbov=-20.0) == []


@pytest.mark.parametrize("vad_ms", [10, 30, 32])
def test_a_detector_with_other_frames_decides_at_the_right_time(vad_ms: int) -> None:
    made = frames((1000, 0), (600, 1), (1200, 0))
    events = run(made, vad_ms=vad_ms, start_ms=100, silence_ms=500)
    (started,), (ended,) = only(events, ep.SpeechStarted), only(events, ep.TurnEnded)
    assert abs(started.speech_ms - 1000) <= vad_ms
    assert abs(ended.last_speech_ms - 1600) <= vad_ms
    assert 0 <= ended.t_ms - ended.last_speech_ms - 500 < vad_ms


def test_frames_that_never_came_are_silence_in_the_segment() -> None:
    endpointer = Endpointer(
        ScriptedVad(),
        EndpointingSettings(smooth_frames=1, min_speech_ms=0, pre_roll_ms=0, post_roll_ms=0),
        rate_hz=RATE_HZ,
    )
    speech = np.full(SAMPLES, 1000, np.int16)
    times = [*range(20, 320, 20), *range(420, 620, 20)]  # five frames are lost
    events = [e for t in times for e in endpointer.push(speech, t)]
    events += [e for t in range(620, 1400, 20) for e in endpointer.push(speech * 0, t)]
    (ended,) = only(events, ep.TurnEnded)
    assert ended.pcm.size == RATE_HZ * 600 // 1000
    assert not ended.pcm[RATE_HZ * 301 // 1000 : RATE_HZ * 399 // 1000].any()


def test_time_that_runs_backwards_is_our_own_fault() -> None:
    endpointer = Endpointer(ScriptedVad(), EndpointingSettings(), rate_hz=RATE_HZ)
    endpointer.push(np.zeros(SAMPLES, np.int16), 100)
    with pytest.raises(HarnessError, match="after one of"):
        endpointer.push(np.zeros(SAMPLES, np.int16), 60)


def test_reset_forgets_the_open_turn() -> None:
    vad = ScriptedVad()
    endpointer = Endpointer(vad, EndpointingSettings(smooth_frames=1), rate_hz=RATE_HZ)
    for i, frame in enumerate(frames((400, 1))):
        endpointer.push(frame, (i + 1) * FRAME_MS)
    assert endpointer.in_turn
    endpointer.reset()
    assert not endpointer.in_turn
    assert vad.resets == 1


def test_an_hour_of_silence_keeps_little_audio() -> None:
    endpointer = Endpointer(ScriptedVad(), EndpointingSettings(), rate_hz=RATE_HZ)
    silence = np.zeros(SAMPLES, np.int16)
    for i in range(5000):
        endpointer.push(silence, (i + 1) * FRAME_MS)
    assert sum(frame.size for frame in endpointer._audio) < 3 * RATE_HZ
