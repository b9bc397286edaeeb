"""One call record with something of everything, and what a console shows of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from callm_voice.core.latency import (
    BargeInTiming,
    InferenceLatency,
    LatencySummary,
    Percentiles,
    Span,
    TurnLatency,
)
from callm_voice.core.record import CallConfig, CallRecord, EngineInfo, Outcome, TranscriptTurn, Usage
from callm_voice.report.site.collect import CallPlace, LoadedCall
from verifier.gold import ChangedRow, ExpectedCall, Gold, GoldFile, TableChange
from verifier.trace import Handoff, ToolCall, Trace
from verifier.verdict import ArgDiff, CallFinding, PathGate, RowFinding, StateGate, ToolsGate, Verdict

CALLS = (
    ToolCall(
        call_id="a", role="router", name="transfer_to_identity", args={"next_intent": "billing"}, ok=True, t_ms=9000,
        output={"success": True, "role": "identity"}, is_transfer=True,
    ),
    ToolCall(
        call_id="b", role="identity", name="verify_identity", ok=False, t_ms=14_000, duration_ms=3,
        args={"full_name": "Maria Alvares", "dob": "1972-06-30"}, output={"ok": False, "error_code": "not_found"},
    ),
    ToolCall(
        call_id="c", role="identity", name="take_message", args={"text": "[bold]call[/] \x1b[31mback", "urgent": True},
        ok=True, t_ms=15_000, output={"ok": True}, recovered=True,
    ),
)  # fmt: skip
VERDICT = Verdict(
    verifier_version="1",
    passed=False,
    tools=ToolsGate(
        passed=False,
        findings=(
            CallFinding(
                kind="hit", tool="transfer_to_identity", expected_index=0, actual_index=0,
                args=(ArgDiff(name="next_intent", kind="equal", expected="billing", actual="billing"),),
            ),
            CallFinding(
                kind="missing", tool="verify_identity", expected_index=1, nearest_index=1, why="arguments",
                args=(
                    ArgDiff(name="dob", kind="equal", expected="1972-06-30", actual="1972-06-30"),
                    ArgDiff(name="full_name", kind="differs", expected="Maria Alvarez", actual="Maria Alvares"),
                ),
            ),
            CallFinding(
                kind="missing", tool="send_link", expected_index=2, why="not_called",
                args=(ArgDiff(name="amount_cents", kind="missing", expected=48_000),),
            ),
            CallFinding(kind="extra", tool="take_message", actual_index=2),
        ),
    ),
    path=PathGate(passed=False, expected=("identity", "billing"), actual=("identity",)),
    state=StateGate(
        passed=False,
        findings=(
            RowFinding(
                kind="missing", table="visits", row={"id": 3, "start": "15:00"},
                differs_from={"id": 3, "start": "16:00"},
            ),
            RowFinding(
                kind="extra", table="visits", row={"id": 3, "start": "16:00"}, differs_from={"id": 3, "start": "15:00"}
            ),
        ),
    ),
)  # fmt: skip
GOLD = GoldFile(
    task="healthcare/C5-H1",
    gold=Gold(
        path=("identity", "billing"),
        calls=(
            ExpectedCall(tool="transfer_to_identity", args={"next_intent": "billing"}),
            ExpectedCall(tool="verify_identity", args={"dob": "1972-06-30", "full_name": "Maria Alvarez"}),
            ExpectedCall(tool="send_link", args={"amount_cents": 48_000}),
        ),
        state={"visits": TableChange(changed=(ChangedRow(where={"id": 3}, set={"start": "15:00"}),))},
    ),
    seed={"visits": [{"id": 3, "start": "16:00"}]},
    arg_types={"verify_identity": {"dob": "date", "full_name": "name"}},
)
PASSED = VERDICT.model_copy(
    update={
        "passed": True,
        "tools": ToolsGate(passed=True, findings=VERDICT.tools.findings[:1]),
        "path": PathGate(passed=True, expected=("identity",), actual=("identity",)),
        "state": StateGate(passed=True, findings=()),
    }
)
TRANSCRIPT = (
    TranscriptTurn(
        party="agent", turn_id=0, role="router", start_ms=400, end_ms=3000, said="Straus Dermatology, how can I help?",
        played="Straus Dermatology, how can I help?",
    ),
    TranscriptTurn(
        party="caller", turn_id=1, start_ms=3600, end_ms=8000, said="I can't pay my balance in full.",
        heard="I can see my balance in full",
    ),
    TranscriptTurn(
        party="agent", turn_id=1, role="identity", start_ms=9500, end_ms=12_000, said="What is your date of birth?",
        played="What is your", cut=True,
    ),
    TranscriptTurn(party="caller", turn_id=2, start_ms=12_000, end_ms=13_000, said="June 30th, 1972", heard=""),
    TranscriptTurn(party="caller", turn_id=3, start_ms=16_000, end_ms=16_900, said="Thank you.", heard="thank you"),
    TranscriptTurn(party="caller", turn_id=4, start_ms=18_000, end_ms=18_400, said="[red]Bye[/red]."),
)  # fmt: skip


def percentiles(n: int, p50: float, p95: float) -> Percentiles:
    return Percentiles(n=n, p50=p50, p95=p95, p99=p95 + 10, max=p95 + 20)


TURNS = (
    TurnLatency(
        turn_id=1, speech_end_ms=8000, audio_start_ms=9500, v2v_ms=1500,
        spans=(
            Span(name="vad", start_ms=8000, duration_ms=300), Span(name="ttft", start_ms=8300, duration_ms=1100),
            Span(name="tts", start_ms=9400, duration_ms=100),
        ),
    ),
    TurnLatency(
        turn_id=2, speech_end_ms=13_000, audio_start_ms=13_500, v2v_ms=500,
        spans=(
            Span(name="vad", start_ms=13_000, duration_ms=100), Span(name="ttft", start_ms=13_100, duration_ms=400),
        ),
    ),
)  # fmt: skip
INFERENCES = (
    InferenceLatency(
        inference_id=1, turn_id=1, cause="caller_turn", role="router", ttft_ms=1100, last_token_ms=1500,
        prompt_tokens=7000, cached_tokens=0, completion_tokens=31,
    ),
    InferenceLatency(inference_id=2, turn_id=1, cause="handoff", role="identity", ttft_ms=200, interrupted=True),
)  # fmt: skip
BARGE_IN = BargeInTiming(
    turn_id=1, detected_ms=12_120, onset_ms=12_000, silent_ms=12_160, detection_to_stop_ms=20,
    detection_to_silence_ms=40, onset_to_stop_ms=160,
)  # fmt: skip
EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "line_loss", "t_ms": 4000.0, "direction": "to_agent", "first_tick": 200, "packets": 2, "lost": 2,
     "concealed_by": "pitch"},
    {"type": "line_loss", "t_ms": 4400.0, "direction": "to_agent", "first_tick": 220, "packets": 1, "lost": 0,
     "concealed_by": "pitch"},
    {"type": "line_loss", "t_ms": 4500.0, "direction": "to_caller", "first_tick": 225, "packets": 1, "lost": 1,
     "concealed_by": "silence"},
    {"type": "line_lag", "t_ms": 5000.0, "tick": 250, "late_ms": 14.0},
    {"type": "inference_started", "t_ms": 8300.0, "inference_id": 1},
    {"type": "line_loss", "t_ms": 12_500.0, "direction": "to_agent", "first_tick": 625, "packets": 4, "lost": 4,
     "concealed_by": "pitch"},
    {"type": "dtmf_sent", "t_ms": 17_000.0, "utterance_id": 4, "digits": "47#"},
    {"type": "dtmf_heard", "t_ms": 17_100.0, "turn_id": 4, "digit": "4"},
    {"type": "dtmf_heard", "t_ms": 17_300.0, "turn_id": 4, "digit": "#"},
)  # fmt: skip
"""As `events.jsonl` has them: two losses that are one row, one of the other direction, a late tick, keys of which one
was not recognised."""


def latency(**changes: object) -> LatencySummary:
    none = Percentiles(n=0)
    fields: dict[str, object] = {
        "in_category": True,
        "ttft": {
            "greeting": none, "caller_turn": percentiles(9, 412, 1391), "tool_result": percentiles(4, 200, 220),
            "handoff": none, "all": percentiles(13, 356, 1337),
        },
        "over_bar_share": 1 / 9,
        "v2v": percentiles(8, 1700, 1880),
        "spans": {"vad": percentiles(8, 110, 119), "tools_and_handoffs": none, "ttft": percentiles(8, 356, 411)},
        "interrupted_inferences": 1, "unanswered_turns": 1, "late_p99_ms": 2.0, "turns": TURNS,
        "inferences": INFERENCES,
    }  # fmt: skip
    return LatencySummary(**{**fields, **changes})  # type: ignore[arg-type]


def record(**changes: object) -> CallRecord:
    fields: dict[str, object] = {
        "product_version": "0.1.0", "started_at": "2026-01-31T09:30:00Z", "duration_ms": 63_000, "ticks": 3150,
        "rate_hz": 8000,
        "config": CallConfig(
            task="healthcare/C5-H1", pack_version="1", model="small", pipeline="cpu", line="pstn-g711u",
            caller="scripted", pace="real", seed=1,
        ),
        "engines": {
            "stt": EngineInfo(engine="faster-whisper", model="base"), "tts": EngineInfo(engine="tone", scripted=True),
        },
        "transcript": TRANSCRIPT,
        "trace": Trace(
            start_role="router", calls=CALLS, handoffs=(Handoff(from_role="router", to_role="identity", t_ms=9001),)
        ),
        "usage": Usage(inferences=4), "outcome": Outcome(status="fail", end_reason="caller_hangup"), "verdict": VERDICT,
        "latency": latency(), "warnings": ("the model's context was nearly full",),
    }  # fmt: skip
    return CallRecord(**{**fields, **changes})  # type: ignore[arg-type]


def loaded(
    of_call: CallRecord | None = None, *, gold: GoldFile | None = None, events: tuple[dict[str, Any], ...] = ()
) -> LoadedCall:
    """The record as it is read from a folder, with its events."""
    made = of_call or record()
    pack, _, task = made.config.task.rpartition("/")
    place = CallPlace(Path("t1"), "call/t1/", pack, task, made.config.model, made.config.line, made.config.trial)
    return LoadedCall(place, made, gold, events)


def shown(renderable: RenderableType, *, width: int = 80) -> str:
    """What goes into a file: no colour, blanks at the ends of lines taken off."""
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(renderable)
    return "".join(line.rstrip() + "\n" for line in console.export_text().splitlines())
