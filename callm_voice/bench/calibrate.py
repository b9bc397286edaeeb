"""Proof of the probes: real calls with the oracle, whose times are set by us, compared with two truths.

TTFT is compared with the oracle server's own log, voice to voice and barge-in reaction with where the known voices lie
in the recording (`calibrate_sounds`). Each call is made by `callm-voice call` in a process of its own, exactly as a
user makes it, one after the other: two at once would compete for the processor that is being measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from callm_voice import __version__
from callm_voice.bench.assemble import host
from callm_voice.bench.calibrate_compare import (
    compare_barge_ins,
    compare_ttft,
    compare_v2v,
    errors,
    interrupted_in_statistics,
    missed_bars,
    pair_requests,
    spans_sum_error_ms,
)
from callm_voice.bench.calibrate_format import SPANS_BAR_MS, TTFT_BAR_MS, V2V_BAR_MS, Calibration, Case, Comparison
from callm_voice.bench.calibrate_truth import Voices, barge_in_truths, locate, turn_truths
from callm_voice.bench.callspec import CallSpec
from callm_voice.core.clock import Pace
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import from_jsonl
from callm_voice.core.runfolder import EVENTS_FILE, ORACLE_FILE, load_record
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.voices import choose

TASK = "calibration/C1-E1"
TTFTS_MS = (50.0, 250.0, 900.0, 3000.0)
TOKENS_PER_S = 20.0
"""Slow, so that an answer still streams when the caller speaks over it."""
CALL_LIMIT_S = 900.0


@dataclass(frozen=True)
class Plan:
    """What is run.

    Args:
        pipelines: by name; their engines must say the same words with the same samples.
    """

    run_dir: Path
    pipelines: tuple[str, ...] = ("scripted", "cpu")
    ttfts_ms: tuple[float, ...] = TTFTS_MS
    line: str = "pstn-g711u"
    pace: Pace = "fast"


def calibrate(plan: Plan, on_progress: Callable[[str], None]) -> Calibration:
    """Make all calls and compare.

    Raises:
        UsageError: a pipeline or the line does not exist.
        CallmError: an engine is missing, or a call could not be made at all.
    """
    profile = load_profile(plan.line)
    cases: list[Case] = []
    for name in plan.pipelines:
        pipeline = load_pipeline(name)
        seed = call_spec(plan, name, 0.0).seed
        voices = Voices(pipeline, profile, choose(pipeline.caller.tts, seed=seed, task=TASK))
        for ttft_ms in plan.ttfts_ms:
            spec = call_spec(plan, name, ttft_ms)
            on_progress(f"calling with {name} engines, first token after {ttft_ms:g} ms")
            make_call(spec)
            cases.append(judge(spec, voices, ttft_ms))
            on_progress(summary_line(cases[-1]))
    return report(plan, profile, cases)


def call_spec(plan: Plan, pipeline: str, ttft_ms: float) -> CallSpec:
    """The call of one case."""
    return CallSpec(
        task=TASK,
        model=f"oracle?ttft_ms={ttft_ms:g}&tokens_per_s={TOKENS_PER_S:g}",
        pipeline=pipeline,
        line=plan.line,
        pace=plan.pace,
        run_dir=plan.run_dir / pipeline,
    )


def make_call(spec: CallSpec) -> None:
    """Run the call in a process of its own.

    Raises:
        HarnessError: no call came of it; with the last line that it said.
    """
    options = {"task": spec.task, "model": spec.model, "pipeline": spec.pipeline, "line": spec.line, "pace": spec.pace}
    command = [sys.executable, "-m", "callm_voice", "call", "--json", "--seed", str(spec.seed)]
    command += ["--out", str(spec.run_dir), *(part for key, value in options.items() for part in (f"--{key}", value))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{spec.model}: the call did not end within {CALL_LIMIT_S:g} s", stage="probe") from error
    if not done.stdout.strip():
        said = done.stderr.strip().splitlines()
        raise HarnessError(f"{spec.model}: no call was made: {said[-1] if said else 'it said nothing'}", stage="probe")


def judge(spec: CallSpec, voices: Voices, ttft_ms: float) -> Case:
    """Compare one finished call.

    Raises:
        ConfigError: a file of the call is missing or wrong.
        HarnessError: it has no latency or no log of the oracle.
    """
    folder = spec.folder()
    record = load_record(folder)
    log_file = folder / ORACLE_FILE
    if record.latency is None or not log_file.is_file():
        detail = record.outcome.detail or record.outcome.end_reason
        raise HarnessError(
            f"{folder}: nothing to compare, the call is {record.outcome.status}: {detail}", stage="probe"
        )
    events = from_jsonl((folder / EVENTS_FILE).read_text(encoding="utf-8"))
    log = [json.loads(line) for line in log_file.read_text(encoding="utf-8").split("\n") if line]
    latency = record.latency
    utterances, sentences = locate(folder, events, voices, spec.seed)
    first, last, missing = compare_ttft(latency, pair_requests(events, log))
    v2v, no_v2v = compare_v2v(latency, turn_truths(events, utterances, sentences))
    reactions, no_reaction = compare_barge_ins(latency, barge_in_truths(events, utterances, sentences))
    return Case(
        pipeline=spec.pipeline,
        ttft_ms=ttft_ms,
        folder=str(folder),
        outcome=record.outcome.status,
        inferences=len(latency.inferences),
        interrupted=latency.interrupted_inferences,
        interrupted_in_statistics=interrupted_in_statistics(latency),
        turns=len(latency.turns),
        barge_ins=len(latency.barge_ins),
        ttft=tuple(first),
        last_token=tuple(last),
        v2v=tuple(v2v),
        barge_in=tuple(reactions),
        spans_sum_error_ms=spans_sum_error_ms(latency),
        missing=(*missing, *no_v2v, *no_reaction),
        latency_valid=latency.valid,
        invalid_reason=latency.invalid_reason,
    )


def report(plan: Plan, profile: LineProfile, cases: Sequence[Case]) -> Calibration:
    """The figures over all cases, and whether they pass."""
    ttft = errors(c for case in cases for c in case.ttft)
    v2v = errors(c for case in cases for c in case.v2v)
    barge_in = errors(c for case in cases for c in case.barge_in)
    missed = missed_bars(cases, ttft, v2v)
    return Calibration(
        product_version=__version__,
        host=host(),
        pace=plan.pace,
        line=profile.id,
        ttft_error_ms=ttft,
        last_token_error_ms=errors(c for case in cases for c in case.last_token),
        v2v_error_ms=v2v,
        barge_in_error_ms=barge_in,
        ttft_probe_error_ms_p95=ttft.p95,
        v2v_probe_error_ms_p95=v2v.p95,
        barge_in_probe_error_ms_p95=barge_in.p95,
        spans_sum_error_ms=max((case.spans_sum_error_ms for case in cases), default=0.0),
        bars_ms={"ttft": TTFT_BAR_MS, "v2v": V2V_BAR_MS, "spans_sum": SPANS_BAR_MS},
        missed=tuple(missed),
        passed=not missed,
        cases=tuple(cases),
    )


def summary_line(case: Case) -> str:
    """`11 inferences (1 interrupted), 7 turns, 2 barge-ins: TTFT off by 2.1 ms at most, ...`."""

    def worst(comparisons: Sequence[Comparison]) -> str:
        found = errors(comparisons)
        return "nothing compared" if found.max is None else f"off by {found.max:.1f} ms at most"

    return (
        f"  {case.inferences} inferences ({case.interrupted} interrupted), {case.turns} turns, "
        f"{case.barge_ins} barge-ins: TTFT {worst(case.ttft)}, V2V {worst(case.v2v)}, "
        f"reaction {worst(case.barge_in)}"
    )
