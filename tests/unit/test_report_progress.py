"""The running lines of a call."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.probes_call import caller_turn, inference, line_ended, plain_answer

from callm_voice.core.events import (
    BargeIn,
    CallEnded,
    CallerNote,
    CallStarted,
    Event,
    Failed,
    HandedOff,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    ToolFinished,
    ToolStarted,
    TranscriptReady,
    UtteranceStarted,
)
from callm_voice.report.progress import LiveProgress

pytestmark = pytest.mark.unit


def lines(*events: Event, notes: bool = False) -> list[str]:
    output = io.StringIO()
    progress = LiveProgress(Console(file=output, width=80), notes=notes)
    for event in events:
        progress(event)
    return output.getvalue().splitlines()


def test_a_turn_reads_as_a_conversation() -> None:
    assert lines(*sorted(plain_answer(), key=lambda e: e.t_ms)) == [
        " 00:01.0  caller    hello",
        " 00:03.9  heard     hello",
        " 00:04.1  model     router: first token after 200 ms (caller turn)",
        " 00:04.3  agent     [router] Sure.",
    ]


def test_a_call_begins_and_ends_with_a_line() -> None:
    started = CallStarted(t_ms=-1500, task="healthcare/C5-H1", model="m", line="l", pipeline="p", pace="real", seed=3)
    assert lines(started, CallEnded(t_ms=63_000, reason="caller_hangup")) == [
        "-00:01.5  call      healthcare/C5-H1 | m | l | p | seed 3",
        " 01:03.0  ended     caller_hangup",
    ]


def test_tools_show_their_arguments_and_how_they_ended() -> None:
    start = ToolStarted(
        t_ms=0, call_id="a", turn_id=1, inference_id=1, role="r", name="verify", args={"dob": "1972-06-30", "n": 2}
    )
    good = ToolFinished(t_ms=2, call_id="a", name="verify", ok=True, output={"ok": True}, duration_ms=2)
    bad = ToolFinished(t_ms=3, call_id="b", name="verify", ok=False, output={"error_code": "not_found"})
    assert lines(start, good, bad) == [
        " 00:00.0  tool      verify(dob=1972-06-30, n=2)",
        " 00:00.0    ok      verify in 2 ms",
        " 00:00.0    not ok  verify: not_found",
    ]


def test_handoff_barge_in_cut_and_failure_each_have_a_line() -> None:
    assert lines(
        HandedOff(t_ms=1000, turn_id=1, from_role="router", to_role="billing"),
        BargeIn(t_ms=2000, turn_id=1, dropped_ms=840),
        PlayoutEnded(t_ms=2040, sentence_id=1, turn_id=1, played="Let me", cut=True),
        Failed(t_ms=3000, stage="llm", fault="infrastructure", message="no answer within 30 s"),
    ) == [
        " 00:01.0  handoff   router > billing",
        " 00:02.0  barge-in  840 ms of the agent were never played",
        " 00:02.0  cut       played: Let me",
        " 00:03.0  failed    llm: no answer within 30 s",
    ]


def test_a_rejected_transcript_says_by_what() -> None:
    rejected = TranscriptReady(t_ms=0, turn_id=1, heard="", raw="Thanks for watching", rejected="no_speech")
    assert lines(rejected) == [" 00:00.0  heard     (nothing; no_speech rejected: Thanks for watching)"]


def test_silence_heard_is_told() -> None:
    assert lines(TranscriptReady(t_ms=0, turn_id=1, heard="")) == [" 00:00.0  heard     (nothing)"]


def test_events_without_news_print_nothing() -> None:
    assert lines(*[e for e in caller_turn() if e.type in ("vad_started", "vad_stopped", "turn_ended")]) == []


def test_the_caller_s_reasons_are_printed_only_when_asked_for() -> None:
    note = CallerNote(t_ms=0, note="beat: opening")
    assert (lines(note), len(lines(note, notes=True))) == ([], 1)


def test_a_punctual_line_needs_no_line() -> None:
    assert lines(line_ended()) == []
    assert lines(line_ended(late_ticks=3)) == [" 00:10.0  lag       3 of 500 ticks late"]


def test_a_sentence_that_was_not_announced_is_shown_by_its_number() -> None:
    assert lines(PlayoutStarted(t_ms=0, sentence_id=7, turn_id=1)) == [" 00:00.0  agent     (sentence 7)"]


def test_a_sentence_of_no_inference_has_no_role() -> None:
    ready = SentenceReady(t_ms=0, sentence_id=7, turn_id=0, inference_id=-1, text="Welcome.")
    assert lines(ready, PlayoutStarted(t_ms=0, sentence_id=7, turn_id=0)) == [" 00:00.0  agent     Welcome."]


def test_a_first_token_of_an_unknown_inference_prints_nothing() -> None:
    assert lines(*[e for e in inference(1, 0, 10) if e.type == "inference_mark"]) == []


def test_markup_and_escape_sequences_do_nothing() -> None:
    event = UtteranceStarted(t_ms=0, utterance_id=1, said="[red]hi[/] \x1b[2J\nthere", spoken="hi")
    assert lines(event) == [" 00:00.0  caller    [red]hi[/] ?[2J there"]


def test_a_long_line_is_not_wrapped() -> None:
    assert len(lines(UtteranceStarted(t_ms=0, utterance_id=1, said="word " * 60, spoken=""))) == 1


def test_a_closed_console_is_left_alone() -> None:
    """A reader that went away (`2>&1 | head`) must not end the call."""
    output = io.StringIO()
    progress = LiveProgress(Console(file=output, width=80))
    output.close()
    for event in plain_answer():
        progress(event)
    assert output.closed


def test_a_broken_pipe_is_left_alone() -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    progress = LiveProgress(Console(file=Broken(), width=80))
    for event in plain_answer():
        progress(event)
    assert progress._console is None
