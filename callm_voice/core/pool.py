"""Processes for work on all cores, which end with the command that made them, and without a word.

Ctrl-C goes to every process of a terminal's job. One that is hit while it still imports its modules ends with a
traceback on the person's terminal; it cannot ignore the signal early enough by itself, but it inherits the mask of the
thread that starts it. So the processes of a pool are deaf to Ctrl-C, and are ended by the one that the person started.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _DeafPool(ProcessPoolExecutor):
    """A submission may start a process; while it does, SIGINT waits."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        resource_tracker.ensure_running()  # else it is started with the first process, and unblocks SIGINT after that
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of freshly started processes. Leaving the block waits for what was submitted.

    Leaving it by an exception (Ctrl-C is one) ends the processes at once: nobody waits for their results any more. Use
    `in_order` and not the pool's `map`, which cancels then what it has submitted: an ended pool trips over that.
    """
    others = multiprocessing.active_children()
    with _DeafPool(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
            raise


def in_order(
    pool: ProcessPoolExecutor, job: Callable[[Item], Result], items: Sequence[Item], *, chunk: int
) -> Iterator[Result]:
    """The results in the order of the items.

    Args:
        job: a function that a module has under this name, or a `partial` of one.
        chunk: so many items are one submission.

    Raises:
        Exception: what a job raised, at its place in the order.
        BrokenProcessPool: a process died.
    """
    parts = [items[at : at + chunk] for at in range(0, len(items), chunk)]
    for future in [pool.submit(_each, job, part) for part in parts]:
        yield from future.result()


def _each(job: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [job(item) for item in items]
