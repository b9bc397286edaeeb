"""How many calls one process carries at the real pace.

python many_calls.py CALLS ORACLE_URL     makes them on one event loop and prints what it saw as JSON
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml
from calls import TASK, PerfError

from callm_voice.bench.assemble import CallResult
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import ResolvedCall, resolve
from callm_voice.core import paths
from callm_voice.core.clock import RealClock
from callm_voice.core.events import EventLog, LineEnded
from callm_voice.core.fastloop import run
from callm_voice.llm.oracle import OracleChatModel
from callm_voice.llm.spec import OracleSpec

STEPS = (30, 45, 60)
FEWER = (20, 10)
"""Tried if the first step is too many."""
CALL_S = 40
START_EVERY_S = 0.413
"""No multiple of a packet time, so that the calls do not all tick at the same moment; calls of a run do not either."""
LATE_LIMIT_MS = 10.0
LIMIT_S = 240


def concurrent_real_calls() -> dict[str, float]:
    """Also `rss_mb_per_extra_call`."""
    return asyncio.run(_climb())


@dataclass(frozen=True)
class Seen:
    """What one process saw of its calls."""

    worst_p99_ms: float
    """The call with the latest ticks."""
    broken: int
    """Calls that ended by anything but the time."""
    cpu_s: float
    rss_mb: float
    """Peak."""

    @property
    def holds(self) -> bool:
        return not self.broken and self.worst_p99_ms < LATE_LIMIT_MS


async def _climb() -> dict[str, float]:
    clock = RealClock()
    gold = resolve(_spec(Path("."), "oracle", "scripted")).gold
    oracle = await OracleChatModel.start(OracleSpec(kind="oracle"), gold.dialogue, name="oracle", clock=clock)
    try:
        port = oracle.server.ready["port"]
        alone = await _in_a_process(1, port)
        first = await _in_a_process(STEPS[0], port)
        most = STEPS[0] if first.holds else 0
        for calls in STEPS[1:] if first.holds else FEWER:
            seen = await _in_a_process(calls, port)
            most = max(most, calls) if seen.holds else most
            if seen.holds != first.holds:
                break
        extra_mb = (first.rss_mb - alone.rss_mb) / (STEPS[0] - 1)
        return {"concurrent_real_calls": float(most), "rss_mb_per_extra_call": extra_mb}
    finally:
        await oracle.aclose()
        clock.close()


async def _in_a_process(calls: int, port: int) -> Seen:
    command = [sys.executable, __file__, str(calls), f"http://127.0.0.1:{port}/v1"]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise PerfError(f"{calls} calls in one process: {done.stderr[-600:]}")
    seen = Seen(**json.loads(done.stdout))
    print(
        f"  {calls} calls: worst P99 of tick lateness {seen.worst_p99_ms:.1f} ms, broken {seen.broken}, "
        f"processor {seen.cpu_s:.1f} s, peak memory {seen.rss_mb:.0f} MB",
        flush=True,
    )
    return seen


def _spec(run_dir: Path, model: str, pipeline: str) -> CallSpec:
    return CallSpec(task=TASK, model=model, pipeline=pipeline, pace="real", run_dir=run_dir)


def _short_pipeline(folder: Path) -> str:
    """The scripted pipeline with an end after `CALL_S`."""
    spec = yaml.safe_load(paths.find("pipelines", "scripted").read_text(encoding="utf-8"))
    file = folder / "scripted-short.yaml"
    file.write_text(yaml.safe_dump({**spec, "limits": {"max_duration_s": CALL_S}}), encoding="utf-8")
    return str(file)


async def _make(calls: int, url: str, clock: RealClock) -> Seen:
    """All calls on this loop; the folders of calls are not written."""
    from callm_voice.bench.voice_call import voice_call  # takes a second: not while a line runs

    async def one(number: int, resolved: ResolvedCall) -> CallResult:
        await clock.sleep_until(clock.now_s() + START_EVERY_S * number)
        return await voice_call(resolved, clock, EventLog(clock), lambda _: None)

    with tempfile.TemporaryDirectory(prefix="callm-perf-") as folder:
        resolved = resolve(_spec(Path(folder), f"openai:{url}#oracle", _short_pipeline(Path(folder))))
        results = await asyncio.gather(*(one(n, resolved) for n in range(calls)))
    ends = [next(e for e in result.events if isinstance(e, LineEnded)) for result in results]
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Seen(
        worst_p99_ms=max(end.late_p99_ms for end in ends),
        broken=sum(result.reason != "max_duration" for result in results),
        cpu_s=used.ru_utime + used.ru_stime,
        rss_mb=used.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2),  # Linux counts in KiB, macOS in bytes
    )


if __name__ == "__main__":
    its_clock = RealClock()
    seen = run(lambda: _make(int(sys.argv[1]), sys.argv[2], its_clock), its_clock)  # the loop that every call runs on
    its_clock.close()
    print(json.dumps(asdict(seen)))
