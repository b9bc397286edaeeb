"""Two hundred calls in one worker: what a call leaves behind would be seen here."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
from support.parrot_server import parrot_server
from support.whole_run import AT_ONCE, copied_pack

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import pack_dir
from callm_voice.bench.run.executor import Job
from callm_voice.bench.run.local import LocalExecutor
from callm_voice.bench.run.store import FolderStore
from callm_voice.desk.pack import load_pack

pytestmark = [pytest.mark.faults, pytest.mark.timeout(2400)]
CALLS, EARLY = 200, 20
VOICE_EVERY = 5
"""Calls by voice could leave pipelines, recordings and threads behind; they take four times as long."""
GROWTH = 1.10


def test_memory_after_two_hundred_calls_is_that_after_twenty(tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    pack_hash = load_pack(pack_dir(str(pack))).content_hash
    rss_kb: dict[int, int] = {}
    with parrot_server() as parrot, closing(LocalExecutor(1, FolderStore(tmp_path / "run"))) as executor:
        for number in range(1, CALLS + 1):
            voice = number % VOICE_EVERY == 0
            spec = CallSpec(
                task=f"{pack}/C1-E1",
                model=AT_ONCE if number % 4 == 0 else parrot.model,
                pipeline="scripted",
                line="pstn-g711u" if voice else "text",
                pace="fast",
                trial=number,
                run_dir=tmp_path / "run",
            )
            executor.submit(Job(str(number), spec, pack_hash, setup_s=300, call_s=300))
            results = []
            while not results:
                results = executor.wait(60)
            assert results[0].record is not None, results[0].error
            assert results[0].record.outcome.status != "invalid", results[0].record.outcome
            [worker] = executor.pids()
            rss_kb[number] = resident_kb(worker)
            if number % EARLY == 0:
                print(f"after call {number}: {rss_kb[number] / 1024:.0f} MB, {open_files(worker)} files", flush=True)
            if number == EARLY:
                files = open_files(worker)
        assert open_files(worker) <= files + 2
    assert rss_kb[CALLS] <= rss_kb[EARLY] * GROWTH, rss_kb


def resident_kb(pid: int) -> int:
    """Resident memory of a process (Linux)."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


def open_files(pid: int) -> int:
    """Open file descriptors of a process (Linux)."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
