"""How far a profile is, and how long it will take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from callm_voice.bench.profile.plan import Step
from callm_voice.core.clock import Clock

QUIET_S = 5.0
"""At most one line in this time."""


class Progress:
    """Lines of progress with the time that is left, estimated from the tokens that are still to be read."""

    def __init__(self, rounds: int, clock: Clock, say: Callable[[str], None]) -> None:
        self._rounds, self._clock, self._say = rounds, clock, say
        self._began_s = self._said_s = clock.now_s()
        self._requests = self._all_requests = 0
        self._work = self._all_work = 0.0

    def begin(self, rounds: Sequence[Sequence[Step]]) -> None:
        """Say how much there is to do."""
        self._all_requests = sum(step.concurrency for steps in rounds for step in steps)
        self._all_work = sum(
            step.work(first_round=number == 1) for number, steps in enumerate(rounds, 1) for step in steps
        )
        sent = sum(step.concurrency * step.tokens for steps in rounds for step in steps)
        self._began_s = self._said_s = self._clock.now_s()
        self._say(f"{self._all_requests} requests in {self._rounds} rounds, about {sent:,} prompt tokens")

    def done(self, step: Step, number: int, *, errors: int) -> None:
        """A step of round `number` is over."""
        self._requests += step.concurrency
        self._work += step.work(first_round=number == 1)
        now_s = self._clock.now_s()
        if now_s - self._said_s < QUIET_S and self._requests < self._all_requests:
            return
        self._said_s = now_s
        left_s = (now_s - self._began_s) * (self._all_work - self._work) / self._work
        failed = f", {errors} failed" if errors else ""
        self._say(
            f"round {number} of {self._rounds}: {self._requests} of {self._all_requests} requests{failed}; "
            f"about {duration(left_s)} left"
        )


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 10 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
