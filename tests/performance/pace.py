"""The fast pace: how fast it is, how much of it is models, and that it changes nothing. And what our own parts cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
from calls import (
    HERE,
    ORACLE,
    ORACLE_AT_ONCE,
    TASK,
    TASKS,
    TASKS_AT_ONCE,
    MadeCall,
    PerfError,
    RunningCall,
    make_call,
)
from numpy.typing import NDArray

from callm_voice.core.events import TtsFirstAudio
from callm_voice.core.latency import TurnLatency
from callm_voice.line.leg import PTIME_MS

STUB_CALLS = 3
SCRIPTED = HERE / "scripted-120ms.yaml"


@dataclass(frozen=True)
class Pair:
    """The same call at both paces."""

    real: MadeCall
    fast: MadeCall


class PaceCalls:
    """The calls that several figures share; each is made when it is first wanted, and once."""

    @cached_property
    def cpu_fast(self) -> MadeCall:
        return make_call(pipeline="cpu", model=ORACLE, pace="fast", task=TASK)

    @cached_property
    def cpu_pairs(self) -> list[Pair]:
        """The tasks at both paces; one call after the other, as the recogniser wants all cores, and in turn, so that
        whatever else the machine does is shared."""
        return [_pair(task) for task in TASKS]

    @cached_property
    def scripted_fast(self) -> list[MadeCall]:
        return [make_call(pipeline=SCRIPTED, model=ORACLE, pace="fast", task=task) for task in TASKS_AT_ONCE]

    @cached_property
    def scripted_real(self) -> list[MadeCall]:
        """Side by side: at the real pace such a call takes some 2 % of a core."""
        running = [RunningCall(pipeline=SCRIPTED, model=ORACLE, pace="real", task=task) for task in TASKS_AT_ONCE]
        return [call.finish() for call in running]


def fast_speedup_stub() -> dict[str, float]:
    calls = [make_call(pipeline="scripted", model=ORACLE_AT_ONCE, pace="fast") for _ in range(STUB_CALLS)]
    for call in calls:
        _show_wall("scripted", call)
    return {"fast_speedup_stub": median(call.speedup for call in calls)}


def fast_speedup_cpu(calls: PaceCalls) -> dict[str, float]:
    """Also `fast_model_share`: of the same call."""
    call = calls.cpu_fast
    _show_wall("cpu", call)
    assert call.record.wall is not None
    return {
        "fast_speedup_cpu": call.speedup,
        "fast_model_share": call.record.wall.models_s / call.record.wall.line_s,
    }


def pace_v2v_delta(calls: PaceCalls) -> dict[str, float]:
    """The distance between the medians of V2V at the two paces, and the median of that of a turn to itself
    (`pace_v2v_turn_delta_ms`), each of the kind of engines where it is larger.

    Raises:
        PerfError: a call was not the same at both paces.
    """
    scripted = [Pair(*both) for both in zip(calls.scripted_real, calls.scripted_fast, strict=True)]
    of_medians, of_turns = [], []
    for name, pairs in (("scripted", scripted), ("cpu", calls.cpu_pairs)):
        for pair in pairs:
            _require_equal(name, pair.real, pair.fast)
        real = np.array([v2v for pair in pairs for v2v in pair.real.v2v_ms])
        fast = np.array([v2v for pair in pairs for v2v in pair.fast.v2v_ms])
        if real.size != fast.size:
            raise PerfError(f"{name}: a turn was answered at one pace only")
        of_medians.append(abs(float(np.median(real) - np.median(fast))))
        of_turns.append(abs(float(np.median(real - fast))))
        print(f"  {name}, {len(pairs)} calls, {real.size} turns: medians real {np.median(real):.1f}, fast ", end="")
        print(f"{np.median(fast):.1f} ms; real minus fast of a turn: median {np.median(real - fast):+.1f}, ", end="")
        print(f"mean {np.mean(real - fast):+.1f}, middle half {_middle_half(real - fast)} ms")
        for pair in pairs:
            medians = median(pair.real.v2v_ms), median(pair.fast.v2v_ms)
            print(f"    {pair.real.record.config.task}: {medians[0]:.1f} and {medians[1]:.1f} ms")
    return {"pace_v2v_delta_ms": max(of_medians), "pace_v2v_turn_delta_ms": max(of_turns)}


def _middle_half(ms: NDArray[np.float64]) -> str:
    low, high = np.percentile(ms, (25, 75))
    return f"{low:+.0f} to {high:+.0f}"


def harness_overhead(calls: PaceCalls) -> dict[str, float]:
    turns = [overhead for call in calls.scripted_real for overhead in _overheads(call)]
    if not turns:
        raise PerfError("no answered turn")
    request = np.percentile([o.request_ms for o in turns], (50, 95))
    rest = np.percentile([o.rest_ms for o in turns], (50, 95))
    total = [o.request_ms + o.rest_ms for o in turns]
    print(f"  {len(turns)} turns: request P50 {request[0]:.1f} P95 {request[1]:.1f} ms")
    print(f"  from the next tick to the first sound P50 {rest[0]:.1f} P95 {rest[1]:.1f} ms")
    print(f"  together P50 {median(total):.1f} ms")
    return {"harness_overhead_ms_p95": float(np.percentile(total, 95))}


@dataclass(frozen=True)
class _Overhead:
    request_ms: float
    rest_ms: float


def _overheads(call: MadeCall) -> list[_Overhead]:
    assert call.record.latency is not None
    audio = sorted((e for e in call.events if isinstance(e, TtsFirstAudio)), key=lambda e: e.t_ms, reverse=True)
    first_by_turn = {e.turn_id: e for e in audio}
    return [_overhead(turn, first_by_turn[turn.turn_id]) for turn in call.record.latency.turns]


def _overhead(turn: TurnLatency, audio: TtsFirstAudio) -> _Overhead:
    """`audio`: when the first sound of the turn was made."""
    request_ms = sum(s.duration_ms for s in turn.spans if s.name == "request")
    next_tick_ms = math.ceil(audio.t_ms / PTIME_MS) * PTIME_MS
    rest_ms = turn.audio_start_ms - next_tick_ms - audio.leading_silence_ms
    return _Overhead(request_ms, max(0.0, rest_ms))


def _pair(task: str) -> Pair:
    real, fast = (make_call(pipeline="cpu", model=ORACLE, pace=pace, task=task) for pace in ("real", "fast"))
    return Pair(real, fast)


def _show_wall(name: str, call: MadeCall) -> None:
    wall = call.record.wall
    assert wall is not None
    line_s = call.record.duration_ms / 1000
    print(f"  {name}: {line_s:.1f} s on the line in {wall.line_s:.2f} s, of which models {wall.models_s:.2f} s")


def _require_equal(group: str, real: MadeCall, fast: MadeCall) -> None:
    what = f"{group}, {real.record.config.task}"
    differing = [(r, f) for r, f in zip(real.words(), fast.words(), strict=False) if r != f]
    if differing or len(real.words()) != len(fast.words()):
        raise PerfError(f"{what}: the transcripts of the paces differ: {differing[:1] or 'one is longer'}")
    if real.record.verdict != fast.record.verdict:
        raise PerfError(f"{what}: the verdicts of the paces differ")
