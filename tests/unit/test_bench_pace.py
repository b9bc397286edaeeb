"""An engine whose work cannot be counted forbids the fast pace; the record says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from callm_voice.bench.pace import keep_pace
from callm_voice.core.clock import RealClock
from callm_voice.core.fastloop import FastClock, make_clock, run
from callm_voice.core.record import EngineInfo

pytestmark = pytest.mark.unit
COUNTED = EngineInfo(engine="piper", model="joe")
UNCOUNTED = EngineInfo(engine="some.house.Voice", model="ann", counted=False)


@pytest.fixture
def fast() -> Iterator[FastClock]:
    clock = make_clock("fast")
    assert isinstance(clock, FastClock)
    yield clock
    clock.close()


def test_engines_that_are_counted_keep_the_fast_pace(fast: FastClock) -> None:
    with ExitStack() as stack:
        assert keep_pace([COUNTED], fast, stack) == ("fast", [])
        assert fast.is_idle


def test_one_that_is_not_counted_forces_the_real_pace_and_is_named(fast: FastClock) -> None:
    with ExitStack() as stack:
        pace, (warning,) = keep_pace([COUNTED, UNCOUNTED, UNCOUNTED], fast, stack)
        assert pace == "real"
        assert warning.count("some.house.Voice ann") == 1
        assert not fast.is_idle
    assert fast.is_idle


def test_at_the_real_pace_there_is_nothing_to_warn_of() -> None:
    clock = RealClock()
    with ExitStack() as stack:
        assert keep_pace([UNCOUNTED], clock, stack) == ("real", [])
    clock.close()


@pytest.mark.parametrize(("engine", "skips"), [(COUNTED, True), (UNCOUNTED, False)])
def test_the_loop_skips_nothing_beside_it(fast: FastClock, engine: EngineInfo, skips: bool) -> None:
    async def main() -> None:
        with ExitStack() as stack:
            keep_pace([engine], fast, stack)
            before_s = fast.skipped_s
            await asyncio.sleep(0.05)
            assert (fast.skipped_s > before_s) == skips

    run(main, fast)
