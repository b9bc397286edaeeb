"""What a call looks like on a terminal of 80 columns and in a file."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.report_record import (
    BARGE_IN,
    CALLS,
    EVENTS,
    GOLD,
    PASSED,
    VERDICT,
    latency,
    loaded,
    percentiles,
    record,
    shown,
)

from callm_voice.core.latency import BargeInTiming, HarnessLag, LineDelay, Percentiles
from callm_voice.core.record import Outcome, TranscriptTurn
from callm_voice.report.terminal import call_view, latency_table, transcript_view, verdict_view
from callm_voice.report.text import arguments, clip, mm_ss, plain, value
from callm_voice.report.waterfall_view import inferences_view, waterfall_view
from callm_voice.report.words import compare_words, misheard_text
from verifier.trace import Trace
from verifier.verdict import PathGate

pytestmark = pytest.mark.unit


def test_the_bar_line_says_in_with_median_p95_and_share() -> None:
    assert shown(latency_table(latency())).splitlines()[:2] == [
        "IN THE CATEGORY: median TTFT 412 ms <= 1,000 ms over 9 caller turns; P95 1,391",
        "ms; 11.1% over the bar",
    ]


def test_the_bar_line_says_out() -> None:
    ttft = {**latency().ttft, "caller_turn": percentiles(3, 1200, 1500)}
    text = shown(latency_table(latency(in_category=False, ttft=ttft)))
    assert text.startswith("OUT OF THE CATEGORY: median TTFT 1,200 ms > 1,000 ms over 3 caller turns")


def test_a_median_just_over_the_bar_is_not_rounded_onto_it() -> None:
    ttft = {**latency().ttft, "caller_turn": percentiles(3, 1000.2, 1500)}
    assert "median TTFT 1,000.200 ms > 1,000 ms" in shown(latency_table(latency(in_category=False, ttft=ttft)))


def test_without_a_caller_turn_there_is_no_latency_verdict() -> None:
    none = latency(
        in_category=None, over_bar_share=None, ttft={"caller_turn": Percentiles(n=0), "all": Percentiles(n=0)}
    )
    assert shown(latency_table(none)).startswith("NO LATENCY VERDICT")


def test_missing_percentiles_are_dashes() -> None:
    text = shown(latency_table(latency(v2v=Percentiles(n=0))))
    (line,) = [line for line in text.splitlines() if line.startswith("Voice to voice")]
    assert line.split()[-5:] == ["0", "-", "-", "-", "-"]


def test_scripted_figures_say_so() -> None:
    assert "scripted engines" in shown(latency_table(latency(scripted=True)))
    assert "scripted engines" not in shown(latency_table(latency(scripted=False)))


def test_a_lagging_harness_comes_before_the_verdict() -> None:
    text = shown(latency_table(latency(valid=False, invalid_reason="harness lag: P99 was 22 ms")))
    assert text.startswith("INVALID, not the model's figures: harness lag: P99 was 22 ms\nIN THE CATEGORY")


def test_what_is_left_out_of_the_table_is_said() -> None:
    text = " ".join(shown(latency_table(latency())).split())
    assert (
        "Left out: 1 interrupted and 0 failed inferences, 1 unanswered turns. Line ticks: P99 2.0 ms, 0 late." in text
    )


def test_barge_ins_stand_in_the_table_only_if_there_were_any() -> None:
    timing = BargeInTiming(
        turn_id=1, detected_ms=3120, onset_ms=3000, silent_ms=3160, detection_to_stop_ms=20, detection_to_silence_ms=40,
        onset_to_stop_ms=160,
    )  # fmt: skip
    figures = {"reaction": Percentiles(n=1, p50=160, p95=160, p99=160, max=160)}
    text = shown(latency_table(latency(barge_ins=(timing,), barge_in=figures)))
    assert "Barge-in" in text
    assert "caller's onset to silence, on the wire" in text
    assert "Barge-in" not in shown(latency_table(latency()))


def test_the_delays_of_vad_codec_and_packets_are_said() -> None:
    line = LineDelay(codec_one_way_ms=0.5, packet_ms=20, inside_v2v_ms=0.5, outside_v2v_ms=20.5)
    hangover = Percentiles(n=1, p50=201, p95=201, p99=201, max=201)
    text = " ".join(shown(latency_table(latency(line=line, vad_hangover=hangover))).split())
    assert "holds the VAD's hangover (201 ms, in its span) and the codec once (0.5 ms)" in text
    assert "The caller waits 20.5 ms more" in text


def test_the_loop_s_lag_and_holes_in_the_sound_are_said() -> None:
    harness = HarnessLag(loop_samples=9, loop_p99_ms=3.25, caller_underruns=0, agent_underruns=4)
    text = " ".join(shown(latency_table(latency(harness=harness))).split())
    assert "Event loop: P99 3.2 ms late." in text
    assert "Holes in the sound: 4 in the agent's." in text


def test_the_gates_are_counted_by_their_findings() -> None:
    text = shown(verdict_view(record()))
    assert "FAIL  failed: tools, path, state" in text
    assert "1 Tools  FAIL  1 hit, 2 missing, 1 extra" in text
    assert "3 Final state  FAIL  1 rows missing, 1 extra" in text


def test_a_parameter_that_differs_stands_beside_the_actual_one() -> None:
    (line,) = [line for line in shown(verdict_view(record())).splitlines() if "full_name" in line]
    assert line.split("  ")[0] == "!"
    assert line.split()[2:] == ["Maria", "Alvarez", "Maria", "Alvares"]


def test_an_extra_call_shows_its_arguments_and_a_failed_one_its_error() -> None:
    text = shown(verdict_view(record()))
    assert "urgent=true" in text
    assert "not ok: not_found" in text


def test_both_paths_are_shown() -> None:
    lines = shown(verdict_view(record())).splitlines()
    assert "  expected  identity > -billing" in lines
    assert "  actual    identity" in lines


def test_a_path_without_transfers_says_none() -> None:
    verdict = PASSED.model_copy(update={"path": PathGate(passed=True, expected=(), actual=())})
    assert "  actual    none" in shown(verdict_view(record(verdict=verdict))).splitlines()


def test_a_column_that_differs_is_marked_by_a_sign() -> None:
    assert "id=3, !start=15:00" in shown(verdict_view(record()))


def test_a_passed_call_says_so() -> None:
    assert shown(verdict_view(record(verdict=PASSED))).startswith("PASS  all three gates passed")


def test_an_invalid_call_has_no_verdict_and_says_why() -> None:
    outcome = Outcome(status="invalid", invalid_kind="harness", end_reason="harness_error", detail="a leg raised")
    text = shown(verdict_view(record(verdict=None, outcome=outcome)))
    assert text == "NO VERDICT: an invalid call (harness), a leg raised\n"


def test_misheard_words_are_marked_by_signs() -> None:
    assert "I [-can't pay-] {+can see+} my balance in full" in shown(transcript_view(record()))


def test_what_was_heard_as_said_is_not_repeated() -> None:
    turn = TranscriptTurn(party="caller", turn_id=1, start_ms=0, end_ms=1, said="Thank you.", heard="thank you")
    assert "heard  " not in shown(transcript_view(record(transcript=(turn,), trace=Trace(start_role="router"))))


def test_nothing_heard_and_never_transcribed_are_told_apart() -> None:
    text = shown(transcript_view(record()))
    assert "(nothing)" in text
    assert "(never transcribed)" in text


def test_a_cut_agent_shows_what_was_played() -> None:
    assert "What is your  (cut by the caller)" in shown(transcript_view(record()))


def test_tools_and_handoffs_stand_at_their_time() -> None:
    lines = [line for line in shown(transcript_view(record())).splitlines() if line.startswith("00:")]
    assert [line.split()[:2] for line in lines[2:7]] == [
        ["00:09.0", "handoff"], ["00:09.5", "agent"], ["00:12.0", "caller"], ["00:14.0", "tool"], ["00:15.0", "tool"],
    ]  # fmt: skip


def test_a_recovered_tool_call_says_so() -> None:
    assert "recovered from text" in " ".join(shown(transcript_view(record())).split())


def test_a_call_in_which_nobody_spoke_says_so() -> None:
    assert shown(transcript_view(record(transcript=(), trace=Trace(start_role="router")))) == "nobody spoke\n"


def test_markup_of_a_caller_or_model_is_not_interpreted() -> None:
    text = shown(call_view(loaded()))
    assert "[red]Bye[/red]." in text
    assert "[bold]call[/]" in text


def test_escape_sequences_of_a_model_do_not_reach_the_terminal() -> None:
    turn = TranscriptTurn(
        party="agent", turn_id=1, start_ms=0, end_ms=1, said="a\x1b[2Jb\u202ec", played="a\x1b[2Jb\u202ec"
    )
    output = io.StringIO()
    Console(file=output, width=80, no_color=True).print(
        call_view(loaded(record(transcript=(turn,), trace=Trace(start_role="r"))))
    )
    assert "\x1b" not in output.getvalue()
    assert "a?[2Jb?c" in output.getvalue()


def test_what_went_wrong_and_when_stands_at_the_head() -> None:
    text = shown(call_view(loaded()))
    assert "WENT WRONG at 00:12.0, handoff: never handed off to billing" in text.splitlines()[4]
    assert "WENT WRONG" not in shown(
        call_view(loaded(record(verdict=PASSED, outcome=Outcome(status="pass", end_reason="caller_hangup"))))
    )


def test_losses_between_two_words_are_one_row_and_directions_stay_apart() -> None:
    lines = [line for line in shown(transcript_view(record(), EVENTS), width=132).splitlines() if "  loss  " in line]
    assert [line.split("  ", 2)[2].strip() for line in lines] == [
        "3 packets not there in 2 places, to the agent; heard instead: pitch",
        "1 packet not there, to the caller; heard instead: silence",
        "4 packets not there, to the agent; heard instead: pitch",
    ]


def test_late_ticks_are_one_row_at_the_worst() -> None:
    late = tuple({"type": "line_lag", "t_ms": 100.0 * n, "tick": 5 * n, "late_ms": ms} for n, ms in ((1, 12), (5, 40)))
    lines = [line for line in shown(transcript_view(record(), late), width=132).splitlines() if "  late  " in line]
    assert [line.split(maxsplit=2) for line in lines] == [
        ["00:00.5", "late", "2 late ticks of the line in this call; the worst, here, by 40 ms"]
    ]


def test_keys_are_shown_as_pressed_and_as_recognised() -> None:
    text = shown(transcript_view(record(), EVENTS))
    assert "pressed 47#" in text
    assert "recognised 4#" in text


def test_a_barge_in_stands_at_the_callers_onset() -> None:
    text = shown(transcript_view(record(latency=latency(barge_ins=(BARGE_IN,)))))
    assert "00:12.0  barge-in        into the agent's turn 1, silent after 160 ms" in text


def test_without_events_there_is_nothing_of_the_line() -> None:
    text = shown(transcript_view(record()))
    assert "loss" not in text
    assert "keypad" not in text


def test_a_turn_s_bar_has_its_pieces_in_the_scale_of_the_longest() -> None:
    first, second, legend = shown(waterfall_view(latency())).splitlines()
    bar = first.split()[-1]
    assert (bar.count("1"), bar.count("2"), bar.count("3"), len(bar)) == (10, 35, 3, 48)
    assert second.split()[2:5] == ["2", "500", "ms"]
    assert len(second.split()[-1]) == 16
    assert legend.startswith("1 VAD, hangover included  2 TTFT")


def test_on_a_narrow_terminal_the_bars_keep_their_proportions() -> None:
    first, second, *_ = shown(waterfall_view(latency()), width=60).splitlines()
    assert (len(first.split()[-1]), len(second.split()[-1])) == (30, 10)


def test_a_request_over_the_bar_is_marked_and_a_missing_figure_is_a_dash() -> None:
    *_, first, second = shown(inferences_view(latency(), EVENTS), width=100).splitlines()
    assert first.split() == ["1", "1", "00:08.3", "caller", "turn,", "router", "1,100!", "1,500", "7,000", "0", "31"]
    assert second.split() == ["2", "1", "-", "handoff,", "identity,", "interrupted", "200", "-", "-", "-", "-"]


def test_a_call_without_an_answered_turn_has_no_bars() -> None:
    assert shown(waterfall_view(latency(turns=()))) == "no turn was answered\n"


def test_the_other_path_s_steps_are_marked_by_signs() -> None:
    other = PathGate(passed=False, expected=("identity", "billing"), actual=("identity", "scheduling", "billing"))
    lines = shown(verdict_view(record(verdict=VERDICT.model_copy(update={"path": other})))).splitlines()
    assert "  expected  identity > billing" in lines
    assert "  actual    identity > +scheduling > billing" in lines


def test_answers_of_tools_are_shown_on_request() -> None:
    assert "answered" not in shown(verdict_view(record()))
    assert "success=true, role=identity" in shown(verdict_view(record(), outputs=True))


def test_gold_tells_what_the_task_changes() -> None:
    assert "~   visits: changed   id=3, !start=15:00" in shown(verdict_view(record(), GOLD))
    assert "changes in the database" not in shown(verdict_view(record()))


def test_the_blame_names_the_value_and_what_became_of_it() -> None:
    turn = TranscriptTurn(
        party="caller", turn_id=1, start_ms=3600, end_ms=8000, said="I am Maria Alvarez.", heard="I am Maria Alvares"
    )
    text = " ".join(shown(call_view(loaded(record(transcript=(turn,)), gold=GOLD))).split())
    assert "RECOGNISER: the full_name was said, another was heard, and the model used that" in text
    assert 'used Maria Alvares (which was heard); in turn 1: "Alvarez." was heard as "Alvares"' in text
    assert "WENT WRONG at 00:03.6, misheard entity: full_name" in text


def test_a_tool_lost_with_another_names_that_one() -> None:
    assert "3 send_link: unclear, lost with 2 verify_identity" in shown(call_view(loaded(gold=GOLD)))


def test_markup_and_escapes_in_events_and_gold_do_nothing() -> None:
    event = {"type": "dtmf_sent", "t_ms": 100.0, "utterance_id": 1, "digits": "[red]\x1b[2J1"}
    text = shown(transcript_view(record(), (event,)))
    assert "pressed [red]?[2J1" in text


@pytest.mark.parametrize("width", [60, 80, 132])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    call = loaded(gold=GOLD, events=EVENTS)
    assert max(len(line) for line in shown(call_view(call), width=width).splitlines()) <= width


def test_in_a_file_there_is_no_colour() -> None:
    output = io.StringIO()
    Console(file=output, width=80).print(call_view(loaded()))
    assert "\x1b[" not in output.getvalue()


def test_a_call_in_text_mode_has_no_latency() -> None:
    assert "none: the call went without audio" in shown(call_view(loaded(record(latency=None))))


def test_an_unknown_price_is_not_zero() -> None:
    assert "price unknown" in shown(call_view(loaded()))
    assert "$0.087" in shown(call_view(loaded(record(cost_usd=0.0871))))


@pytest.mark.parametrize(
    ("t_ms", "text"), [(0, "00:00.0"), (63_449, "01:03.4"), (59_960, "01:00.0"), (-1200, "-00:01.2"), (-20, "00:00.0")]
)
def test_times_are_minutes_seconds_and_tenths(t_ms: float, text: str) -> None:
    assert mm_ss(t_ms) == text


def test_text_that_looks_like_another_value_keeps_its_quotes() -> None:
    assert [value(v) for v in ("billing", "25", 25, None, "", "a\nb")] == [
        "billing",
        '"25"',
        "25",
        "null",
        '""',
        '"a\\nb"',
    ]


def test_arguments_are_on_one_line() -> None:
    assert arguments(CALLS[1].args) == "full_name=Maria Alvares, dob=1972-06-30"


def test_a_long_text_is_clipped_visibly() -> None:
    assert clip("abcdefgh", 6) == "abc..."


def test_white_space_of_every_kind_becomes_one_blank() -> None:
    assert plain(" a\n\t b\u2028c ") == "a b c"


def test_case_and_punctuation_are_not_misheard() -> None:
    assert all(piece.same for piece in compare_words("It's 212-555-0133, OK?", "its 2125550133 ok"))


@pytest.mark.parametrize(
    ("heard", "same"), [("june 30th 1972", True), ("june 30, 1972", True), ("june 31st 1972", False)]
)
def test_a_day_that_was_written_as_an_ordinal_was_not_misheard(heard: str, same: bool) -> None:
    assert all(piece.same for piece in compare_words("June 30, 1972.", heard)) is same


def test_a_lost_word_and_an_invented_one_are_marked() -> None:
    assert misheard_text("please call me back", "call me back now").plain == "[-please-] call me back {+now+}"


def test_markup_in_misheard_words_is_not_interpreted() -> None:
    assert misheard_text("[b]x", "[i]y").plain == "[-[b]x-] {+[i]y+}"
