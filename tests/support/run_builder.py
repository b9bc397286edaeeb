"""Run folders made without making calls, for tests of what reads them: scores, exports, the site. Invented people.

`write_run(folder, sample_calls())` gives two packs, two models, three lines and five trials with every kind of failure
and of invalid call, misheard words, and costs known and unknown. Verdicts come from the real verifier.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from support.verifier_cases import GOLD, GOLD_FILE, perfect_state, perfect_trace

from callm_voice.audio.files import write_sound
from callm_voice.core import events as ev
from callm_voice.core.events import Cause, Event, to_jsonl
from callm_voice.core.latency import InferenceLatency, LatencySummary, Span, TurnLatency
from callm_voice.core.record import CallConfig, CallRecord, EngineInfo, Outcome, TranscriptTurn, Usage
from callm_voice.core.runfolder import AUDIO_FILE, EVENTS_FILE, STATE_FILE, dump_record, safe_name
from callm_voice.core.runfolder import GOLD_FILE as GOLD_NAME
from callm_voice.probes.percentiles import percentiles
from verifier.trace import Handoff, State, ToolCall, Trace
from verifier.verify import verify

TURN_MS = 4_000.0
RATE_HZ = 8_000
SAID = (
    "Hello, this is Ana Field. I'd like to move my appointment.",
    "My date of birth is February 3, 1980.",
    "August 24, 2026 at 9 AM is fine.",
    "Please text the link to 212-555-0133. Thank you, goodbye.",
)
ASKED = (
    "Straus Street Clinic, how can I help?", "What is your date of birth?", "Would August 24 at 9 AM suit you?",
    "Where may I text the link?", "It is on its way. Goodbye.",
)  # fmt: skip
CALL_TURNS = (1, 2, 2, 3, 3, 4)
"""The caller's turn because of which each gold call runs."""
Plot = Literal[
    "pass", "passes_misheard", "misheard_name", "misheard_number", "wrong_argument", "missing_call", "wrong_path",
    "extra_row", "refused", "not_run", "caller_wrong", "turn_lost", "harness", "infrastructure", "caller",
]  # fmt: skip


@dataclass
class Draft:
    """A call that plays gold, to be spoiled."""

    said: list[str] = field(default_factory=lambda: list(SAID))
    heard: list[str] = field(default_factory=lambda: list(SAID))
    calls: list[ToolCall] = field(default_factory=list)
    roles: list[str] = field(default_factory=lambda: list(GOLD.path))
    state: State = field(default_factory=perfect_state)
    outcome: Outcome | None = None
    """Of an invalid call."""

    def change(self, index: int, **args: Any) -> None:
        """Other arguments of one call."""
        call = self.calls[index]
        self.calls[index] = call.model_copy(update={"args": {**call.args, **args}})

    def refuse(self, index: int, error: str | None = None) -> None:
        """One call is refused, or could not even be run."""
        update = {"ok": False, "output": {"ok": False, "error_code": "refused"}, "error": error}
        self.calls[index] = self.calls[index].model_copy(update=update)


@dataclass(frozen=True)
class MadeCall:
    """One call to be written."""

    task: str = "demo/C1-E1"
    model: str = "alpha"
    line: str = "pstn-g711u"
    trial: int = 1
    plot: Plot = "pass"
    ttft_ms: tuple[float, ...] = (400.0, 500.0, 600.0, 700.0)
    """Of the caller's turns, in order."""
    cost_usd: float | None = 0.02
    caller_cost_usd: float | None = None
    attempt: int = 1
    """Of an invalid trial."""
    lagged: bool = False
    """The harness lagged, so the latency figures are not the model's."""
    keys: tuple[tuple[float, str, str], ...] = ()
    """What the caller pressed: (line clock in ms, pressed, recognised)."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of the record that are other."""

    @property
    def folder(self) -> Path:
        """Relative to the run, as run_contract says: `calls/...` or `invalid/.../aK`."""
        parts = (*self.task.split("/"), safe_name(self.model), safe_name(self.line), f"t{self.trial}")
        if self.plot in ("harness", "infrastructure", "caller"):
            return Path("invalid", *parts, f"a{self.attempt}")
        return Path("calls", *parts)


def draft(plot: Plot) -> Draft:
    """What happens in a call of this plot."""
    made = Draft()
    made.calls = [
        call.model_copy(update={"t_ms": TURN_MS * turn + 2_000.0, "duration_ms": 4.0, "role": "router"})
        for call, turn in zip(perfect_trace().calls, CALL_TURNS, strict=True)
    ]
    PLOTS[plot](made)
    return made


def _passes_misheard(d: Draft) -> None:
    d.heard[0] = "Hello this is Ana Field I'd like to move my apartment"


def _misheard_name(d: Draft) -> None:
    d.heard[0] = "Hello, this is Anna Feel. I'd like to move my appointment."
    d.change(1, full_name="Anna Feel")
    d.refuse(1)
    d.calls, d.roles, d.state = d.calls[:2], ["identity"], copy.deepcopy(GOLD_FILE.seed)


def _misheard_number(d: Draft) -> None:
    d.heard[3] = "Please text the link to 212-555-0138. Thank you, goodbye."
    d.change(5, mobile="+12125550138")
    d.state["links"][0]["mobile"] = "+12125550138"


def _wrong_argument(d: Draft) -> None:
    d.change(4, new_start="2026-08-25T11:30")
    d.state["appointments"][1]["start"] = "2026-08-25T11:30"


def _missing_call(d: Draft) -> None:
    del d.calls[5]
    d.state["links"] = []


def _wrong_path(d: Draft) -> None:
    d.roles.append("billing")


def _extra_row(d: Draft) -> None:
    d.state["links"].append({"id": 2, "mobile": "+12125550133", "amount_cents": None})


def _refused(d: Draft) -> None:
    d.refuse(4)
    d.state = copy.deepcopy(GOLD_FILE.seed)


def _not_run(d: Draft) -> None:
    d.refuse(3, "unknown argument")


def _caller_wrong(d: Draft) -> None:
    d.said[1] = d.heard[1] = "My date of birth is February 13, 1980."
    d.change(1, dob="1980-02-13")


def _turn_lost(d: Draft) -> None:
    d.heard[3] = ""
    _missing_call(d)


def _invalid(kind: Literal["harness", "infrastructure", "caller"]) -> Callable[[Draft], None]:
    reasons: dict[str, ev.EndReason] = {"harness": "harness_error", "infrastructure": "model_error"}

    def spoil(d: Draft) -> None:
        reason = reasons.get(kind, "caller_hangup")
        d.outcome = Outcome(status="invalid", invalid_kind=kind, end_reason=reason, detail=f"{kind} at fault")
        d.calls, d.roles, d.state = d.calls[:1], d.roles[:1], copy.deepcopy(GOLD_FILE.seed)

    return spoil


PLOTS: dict[Plot, Callable[[Draft], None]] = {
    "pass": lambda _: None,
    "passes_misheard": _passes_misheard,
    "misheard_name": _misheard_name,
    "misheard_number": _misheard_number,
    "wrong_argument": _wrong_argument,
    "missing_call": _missing_call,
    "wrong_path": _wrong_path,
    "extra_row": _extra_row,
    "refused": _refused,
    "not_run": _not_run,
    "caller_wrong": _caller_wrong,
    "turn_lost": _turn_lost,
    "harness": _invalid("harness"),
    "infrastructure": _invalid("infrastructure"),
    "caller": _invalid("caller"),
}


def make_record(made: MadeCall) -> tuple[CallRecord, Draft, list[Event]]:
    """The record of one call, what happened in it, and its events."""
    d = draft(made.plot)
    by_text = made.line == "text"
    if by_text:
        d.heard = list(d.said)
    trace = _trace(d)
    gold = GOLD_FILE.model_copy(update={"task": made.task})
    verdict = None if d.outcome else verify(trace, d.state, gold)
    status: Literal["pass", "fail"] = "pass" if verdict and verdict.passed else "fail"
    inferences = _inferences(made)
    usage = Usage(
        inferences=len(inferences), prompt_tokens=sum(i.prompt_tokens or 0 for i in inferences),
        cached_tokens=sum(i.cached_tokens or 0 for i in inferences),
        completion_tokens=sum(i.completion_tokens or 0 for i in inferences),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "product_version": "0.1.0", "started_at": f"2026-01-31T09:3{made.attempt - 1}:00Z",
        "duration_ms": 0.0 if by_text else TURN_MS * 5, "ticks": 0 if by_text else int(TURN_MS * 5 / 20),
        "rate_hz": 0 if by_text else RATE_HZ,
        "config": CallConfig(
            task=made.task, pack_version="1.0.0", pack_hash="ab" * 32, model=made.model, pipeline="cpu",
            line=made.line, caller="scripted", pace="fast", seed=1_000 + made.trial, trial=made.trial,
        ),
        "engines": {"model": EngineInfo(engine="openai", model=made.model)},
        "transcript": _transcript(d), "trace": trace, "usage": usage, "cost_usd": made.cost_usd,
        "caller_cost_usd": made.caller_cost_usd,
        "outcome": d.outcome or Outcome(status=status, end_reason="caller_hangup"), "verdict": verdict,
        "latency": None if by_text else _latency(made, inferences),
    }  # fmt: skip
    record = CallRecord(**fields | made.changes)
    return record, d, sorted([*_events(record, d), *_keys(made)], key=lambda e: e.t_ms)


def write_call(run_dir: Path, made: MadeCall, *, audio: bool = False) -> Path:
    """Write one call folder; its path."""
    record, d, events = make_record(made)
    folder = run_dir / made.folder
    folder.mkdir(parents=True)
    (folder / EVENTS_FILE).write_text(to_jsonl(events), encoding="utf-8")
    (folder / STATE_FILE).write_text(json.dumps(d.state, indent=1), encoding="utf-8")
    gold = GOLD_FILE.model_copy(update={"task": made.task})
    (folder / GOLD_NAME).write_text(gold.model_dump_json(indent=1), encoding="utf-8")
    (folder / "call.json").write_text(dump_record(record), encoding="utf-8")
    if audio and record.rate_hz:
        write_sound(folder / AUDIO_FILE, _tones(record), record.rate_hz)
    return folder


def write_run(run_dir: Path, calls: Iterable[MadeCall], *, audio: bool = False) -> Path:
    """Write a whole run; `run_dir`."""
    for made in calls:
        write_call(run_dir, made, audio=audio)
    run = {"run_version": 1, "started_at": "2026-01-31T09:30:00Z", "plan": None, "product_versions": ["0.1.0"]}
    (run_dir / "run.json").write_text(json.dumps(run | {"hashes": {}, "hosts": []}), encoding="utf-8")
    return run_dir


_ALPHA: dict[str, tuple[Plot, ...]] = {
    "demo/C1-E1": ("pass", "pass", "passes_misheard", "pass", "pass"),
    "demo/C2-M1": ("pass", "misheard_name", "pass", "misheard_number", "turn_lost"),
    "clinic/C1-H1": ("pass", "wrong_argument", "extra_row", "pass", "wrong_path"),
}
_BETA: dict[str, tuple[Plot, ...]] = {
    "demo/C1-E1": ("pass", "missing_call", "pass", "refused", "pass"),
    "demo/C2-M1": ("missing_call", "misheard_name", "wrong_path", "not_run", "wrong_argument"),
    "clinic/C1-H1": ("extra_row", "caller_wrong", "pass", "pass", "missing_call"),
}


def sample_calls() -> tuple[MadeCall, ...]:
    """Two models over two packs, by text, over the phone and over a mobile line; see the module."""
    calls = []
    for model, plots in (("alpha", _ALPHA), ("beta?temperature=0", _BETA)):
        slow, cost = (0.0, 0.02) if model == "alpha" else (700.0, None)
        for (task, of_task), trial in itertools.product(plots.items(), range(1, 6)):
            plot = of_task[trial - 1]
            ttft = tuple(400.0 + slow + 10 * trial + 100 * n for n in range(4))
            made = MadeCall(task=task, model=model, trial=trial, plot=plot, ttft_ms=ttft, cost_usd=cost)
            by_text: Plot = "pass" if plot.startswith(("misheard", "turn", "passes")) else plot
            on_mobile: Plot = "misheard_number" if plot == "pass" and trial == 1 else plot
            calls += [
                made,
                MadeCall(task=task, model=model, trial=trial, plot=by_text, line="text", cost_usd=cost),
                MadeCall(
                    task=task, model=model, trial=trial, plot=on_mobile, line="mobile-amr-12k2", cost_usd=cost,
                    ttft_ms=ttft, lagged=trial == 5,
                ),
            ]  # fmt: skip
    # Invalid trials: one of each kind that was made good by another attempt, and one that was not.
    calls += [
        MadeCall(plot="harness"),
        MadeCall(plot="infrastructure", attempt=2),
        MadeCall(plot="caller", model="beta?temperature=0", trial=2, cost_usd=None, caller_cost_usd=0.001),
    ]
    lost = ("beta?temperature=0", "clinic/C1-H1", "mobile-amr-12k2", 5)
    calls = [c for c in calls if (c.model, c.task, c.line, c.trial) != lost]
    return (
        *calls,
        *(
            MadeCall(task=lost[1], model=lost[0], line=lost[2], trial=5, plot="infrastructure", attempt=a)
            for a in (1, 2, 3)
        ),
    )


def _trace(d: Draft) -> Trace:
    roles = ["router", *d.roles]
    handoffs = tuple(
        Handoff(from_role=a, to_role=b, t_ms=TURN_MS * n + 2_010.0)
        for n, (a, b) in enumerate(itertools.pairwise(roles), start=1)
    )
    return Trace(start_role="router", calls=tuple(d.calls), handoffs=handoffs)


def _transcript(d: Draft) -> tuple[TranscriptTurn, ...]:
    turns = []
    for n, said in enumerate(ASKED):
        start_ms = TURN_MS * n + 2_100.0 if n else 200.0
        turns.append(
            TranscriptTurn(
                party="agent", turn_id=n, role="router", start_ms=start_ms, end_ms=start_ms + 1_200, said=said,
                played=said,
            )
        )  # fmt: skip
    for n, (said, heard) in enumerate(zip(d.said, d.heard, strict=True), start=1):
        start_ms = TURN_MS * n
        turns.append(
            TranscriptTurn(
                party="caller", turn_id=n, start_ms=start_ms, end_ms=start_ms + 1_500, said=said, heard=heard
            )
        )  # fmt: skip
    return tuple(sorted(turns, key=lambda t: t.start_ms))


def _inferences(made: MadeCall) -> tuple[InferenceLatency, ...]:
    causes: list[tuple[Cause, int, float | None]] = [("greeting", 0, 300.0)]
    for turn, ttft_ms in enumerate(made.ttft_ms, start=1):
        causes += [("caller_turn", turn, ttft_ms), ("tool_result", turn, ttft_ms / 2)]
    return tuple(
        InferenceLatency(
            inference_id=n, turn_id=turn, cause=cause, role="router", ttft_ms=ttft_ms, stream_opened_ms=10.0,
            first_chunk_ms=ttft_ms, last_token_ms=None if ttft_ms is None else ttft_ms + 200, prompt_tokens=1_000,
            cached_tokens=800, completion_tokens=20,
        )
        for n, (cause, turn, ttft_ms) in enumerate(causes, start=1)
    )  # fmt: skip


def _latency(made: MadeCall, inferences: tuple[InferenceLatency, ...]) -> LatencySummary:
    causes: tuple[Cause, ...] = ("greeting", "caller_turn", "tool_result", "handoff")
    ttft = {c: percentiles(i.ttft_ms for i in inferences if i.cause == c and i.ttft_ms is not None) for c in causes}
    ttft["all"] = percentiles(i.ttft_ms for i in inferences if i.ttft_ms is not None)
    turns = tuple(
        TurnLatency(
            turn_id=n, speech_end_ms=TURN_MS * n + 1_500, audio_start_ms=TURN_MS * n + 1_500 + ttft_ms + 900,
            v2v_ms=ttft_ms + 900,
            spans=(
                Span(name="vad", start_ms=TURN_MS * n + 1_500, duration_ms=900),
                Span(name="ttft", start_ms=TURN_MS * n + 2_400, duration_ms=ttft_ms),
            ),
        )
        for n, ttft_ms in enumerate(made.ttft_ms, start=1)
    )  # fmt: skip
    spans = [span for turn in turns for span in turn.spans]
    median_ms = ttft["caller_turn"].p50
    return LatencySummary(
        in_category=None if median_ms is None else median_ms <= 1_000,
        ttft=ttft,
        v2v=percentiles(t.v2v_ms for t in turns),
        spans={name: percentiles(s.duration_ms for s in spans if s.name == name) for name in ("vad", "ttft")},
        valid=not made.lagged,
        invalid_reason="harness lag: P99 of the line's ticks was 40.0 ms late, limit 10 ms" if made.lagged else None,
        turns=turns,
        inferences=inferences,
    )


def _events(record: CallRecord, d: Draft) -> list[Event]:
    """What the site reads: the floor, the tools, the transfers and the end."""
    config = record.config
    made: list[Event] = [
        ev.CallStarted(
            t_ms=0, task=config.task, model=config.model, line=config.line, pipeline=config.pipeline,
            pace=config.pace, seed=config.seed,
        )
    ]  # fmt: skip
    for n, (said, heard) in enumerate(zip(d.said, d.heard, strict=True), start=1):
        start_ms = TURN_MS * n
        made += [
            ev.UtteranceStarted(t_ms=start_ms, utterance_id=n, said=said, spoken=said),
            ev.UtteranceEnded(t_ms=start_ms + 1_500, utterance_id=n),
            ev.TranscriptReady(t_ms=start_ms + 1_800, turn_id=n, heard=heard, raw=heard),
        ]
    for call in d.calls:
        turn = int(call.t_ms // TURN_MS)
        made += [
            ev.ToolStarted(
                t_ms=call.t_ms, call_id=call.call_id, turn_id=turn, inference_id=2 * turn, role=call.role,
                name=call.name, args=call.args,
            ),
            ev.ToolFinished(
                t_ms=call.t_ms + call.duration_ms, call_id=call.call_id, name=call.name, ok=call.ok,
                output=call.output, error=call.error, duration_ms=call.duration_ms,
            ),
        ]  # fmt: skip
    made += [
        ev.HandedOff(t_ms=h.t_ms, turn_id=int(h.t_ms // TURN_MS), from_role=h.from_role, to_role=h.to_role)
        for h in record.trace.handoffs
    ]
    made.append(ev.CallEnded(t_ms=TURN_MS * 5, reason=record.outcome.end_reason, detail=record.outcome.detail))
    return sorted(made, key=lambda e: e.t_ms)


def _keys(made: MadeCall) -> list[Event]:
    """Each tone and each gap 100 ms."""
    events: list[Event] = []
    for number, (t_ms, pressed, recognised) in enumerate(made.keys, start=1):
        events.append(ev.DtmfSent(t_ms=t_ms, utterance_id=number, digits=pressed))
        events += [
            ev.DtmfHeard(t_ms=t_ms + 200.0 * n + 80.0, turn_id=number, digit=key) for n, key in enumerate(recognised)
        ]
    return events


def _tones(record: CallRecord) -> np.ndarray:
    """A tone where somebody speaks: 220 Hz the caller, left; 330 Hz the agent, right. (samples, 2), int16."""
    pcm = np.zeros((record.ticks * RATE_HZ // 50, 2), dtype=np.int16)
    for turn in record.transcript:
        start, end = (int(t * RATE_HZ / 1000) for t in (turn.start_ms, turn.end_ms))
        hz, channel = (220, 0) if turn.party == "caller" else (330, 1)
        at = np.arange(max(0, min(end, len(pcm)) - start))
        pcm[start : start + len(at), channel] = (8_000 * np.sin(2 * np.pi * hz * at / RATE_HZ)).astype(np.int16)
    return pcm
