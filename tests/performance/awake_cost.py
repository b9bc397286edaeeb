"""What the processes that keep the cores awake (`core.awake`) leave to a busy process in another session.

    python tests/performance/awake_cost.py [--seconds 3]

Linux only. Prints the share of one core that the busy process gets: alone, beside `keep_awake`, and beside a process
that spins at the idle priority in a session of ordinary weight, as `keep_awake` had it at first. Where the kernel does
not share time by session (`/proc/sys/kernel/sched_autogroup_enabled` is 0), the three are alike.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from callm_voice.core import awake
from callm_voice.core.clock import stopwatch

BUSY = """
import os, sys, time
seconds = float(sys.argv[1])
os.sched_setaffinity(0, {0})
until, before = time.perf_counter() + seconds, time.process_time()
while time.perf_counter() < until:
    pass
print((time.process_time() - before) / seconds)
"""
IDLE_PRIORITY_ALONE = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.sched_setaffinity(0, {0})
while True:
    pass
"""
SETTLE_S = 0.5


def share(seconds: float) -> float:
    """Of the core, that a busy process in a session of its own gets."""
    command = [sys.executable, "-c", BUSY, str(seconds)]
    done = subprocess.run(command, start_new_session=True, capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextmanager
def plain_spinner() -> Iterator[None]:
    """A process at the idle priority, in this session."""
    process = subprocess.Popen([sys.executable, "-c", IDLE_PRIORITY_ALONE])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def settle() -> None:
    """Let what was started spin."""
    elapsed_s = stopwatch()
    while elapsed_s() < SETTLE_S:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    print(f"alone                                 {share(seconds):.3f}")
    with awake.keep_awake() as cores:
        settle()
        print(f"beside keep_awake ({cores} cores)            {share(seconds):.3f}")
    with plain_spinner():
        settle()
        print(f"beside the idle priority alone        {share(seconds):.3f}")


if __name__ == "__main__":
    main()
