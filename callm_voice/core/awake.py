"""Keep the processors awake while a call runs at the real pace.

A call leaves its processors idle most of the time, and one that wakes up is slow at first: its caches are cold, its
clock is low, and a virtual processor has to be scheduled again by its host (2 ms of work took 15 ms after 0.5 s of
idling on one such host). A desk that serves many calls never sees that, so one call alone would measure the machine's
sleep. One process per core spins at the idle priority of Linux: it runs only while nothing else wants the core. This is
what the kernel's boot parameter `idle=poll` does, for the length of a call and without boot rights.

Where Linux shares processor time by session first (sched(7), "The autogroup feature"), a priority holds only within its
session, and a model server in another terminal would get half of a core that we spin on. So each of these processes has
a session of its own, of the least weight.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_CORES = 16
"""On a machine with more, work is woken on a core that sleeps anyway; nothing is started there."""
_CGROUP = Path("/sys/fs/cgroup")
_SPIN = """
import os, sys
core, parent = int(sys.argv[1]), int(sys.argv[2])
try:
    with open("/proc/self/autogroup", "w") as autogroup:
        autogroup.write("19")
except OSError:
    pass
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.sched_setaffinity(0, {core})
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def keep_awake(wanted: bool = True) -> Iterator[int]:
    """Keep this process's cores awake while the block runs; how many are. 0: not wanted, or not possible here.

    The processes end with the block, and by themselves within moments of the end of this process.
    """
    spinners = [_spin(core) for core in _cores()] if wanted else []
    try:
        yield len(spinners)
    finally:
        for spinner in spinners:
            spinner.kill()
        for spinner in spinners:
            spinner.wait()


def _spin(core: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", "-c", _SPIN, str(core), str(os.getpid())]
    null = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)


def _cores() -> list[int]:
    """The cores to spin on: none without an idle priority, under a quota (which the spinning would use up), or on a
    large machine."""
    if not hasattr(os, "SCHED_IDLE") or has_quota(_CGROUP):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores if len(cores) <= MAX_CORES else []


def has_quota(cgroup: Path) -> bool:
    """Whether a container's limit on processor time holds here: `cpu.max` of control groups 2 ("max 100000": none),
    `cpu.cfs_quota_us` of 1 (-1: none). Only the group that the container shows as its root is looked at."""
    quota = _read(cgroup / "cpu.max").split()[:1] or _read(cgroup / "cpu" / "cpu.cfs_quota_us").split()[:1]
    return bool(quota) and quota[0] not in ("max", "-1")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
