"""The line on a clock moved by hand: order, time, lateness, its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from support.manual_clock import ManualClock

from callm_voice.core.errors import HarnessError
from callm_voice.core.events import EventLog, LineEnded, LineLag, LineLoss
from callm_voice.core.fastloop import FastClock, run
from callm_voice.core.looplag import PERIOD_S
from callm_voice.line.leg import Frame
from callm_voice.line.line import MAX_LAG_EVENTS, LineReport, PhoneLine
from callm_voice.line.profile import LineProfile

pytestmark = pytest.mark.unit

CLEAN = LineProfile(id="clean", title="8 kHz, changes nothing", rate_hz=8000, codec="l16", band_hz=None)


class Counter:
    """A leg whose n-th packet is full of `first + n`; it keeps what it hears and when."""

    def __init__(self, clock: ManualClock, first: int, *, silent: bool = False, stall_s: float = 0.0) -> None:
        self._clock, self._first, self._silent, self._stall_s = clock, first, silent, stall_s
        self.pulls: list[float] = []
        self.heard: list[int] = []

    def pull(self) -> Frame | None:
        self.pulls.append(self._clock.now_s())
        self._clock.spend(self._stall_s)
        return None if self._silent else np.full(160, self._first + len(self.pulls) - 1, dtype=np.int16)

    def push(self, frame: Frame) -> None:
        assert len(set(frame.tolist())) == 1
        self.heard.append(int(frame[0]))

    def clear(self) -> None: ...


class Call:
    """A running line and its parts."""

    def __init__(
        self,
        *,
        max_duration_s: float = 600.0,
        stall_s: float = 0.0,
        silent_agent: bool = False,
        profile: LineProfile = CLEAN,
    ) -> None:
        self.clock = ManualClock()
        self.log = EventLog(self.clock)
        self.caller = Counter(self.clock, 100, stall_s=stall_s)
        self.agent = Counter(self.clock, 200, silent=silent_agent)
        self.line = PhoneLine(
            self.caller, self.agent, profile, self.clock, self.log, seed=1, max_duration_s=max_duration_s
        )
        self.task: asyncio.Task[LineReport]


@asynccontextmanager
async def running(call: Call) -> AsyncIterator[Call]:
    """The call with its line started (tick 0 done); hung up at the end if the test did not."""
    call.task = asyncio.create_task(call.line.run())
    await call.clock.settle()
    try:
        yield call
    finally:
        call.line.stop()
        await call.clock.advance(0.1)
        await asyncio.wait([call.task], timeout=5)
        assert call.task.done()
        assert call.task.cancelled() or call.task.exception() is None


async def test_tick_n_is_due_at_n_times_20_ms_and_none_is_missed() -> None:
    async with running(Call()) as call:
        await call.clock.advance(1.0)
        assert call.caller.pulls == pytest.approx([1000.0 + n * 0.02 for n in range(51)])


async def test_times_do_not_drift_over_an_hour_of_ticks() -> None:
    """Each time is computed from tick 0, not added up: the 180,000th is exact to the microsecond."""
    async with running(Call(max_duration_s=1e9)) as call:
        call.line.recorder.ticks = 180_000 - 1  # as if an hour had passed; the room of the recording is not grown
        call.line.recorder.add = lambda left, right: setattr(  # type: ignore[method-assign]
            call.line.recorder, "ticks", call.line.recorder.ticks + 1
        )
        await call.clock.advance(3600.5)
        late = [t - 1000.0 - 3600.0 for t in call.caller.pulls if t >= 4600.0]
        assert late[:3] == pytest.approx([0.0, 0.02, 0.04], abs=1e-6)


async def test_each_leg_hears_the_other_one_packet_later_and_in_order() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        assert call.agent.heard == [0, 100, 101, 102, 103, 104]  # a packet is sent when it is full
        assert call.caller.heard == [0, 200, 201, 202, 203, 204]


async def test_a_leg_that_gives_nothing_is_silent() -> None:
    async with running(Call(silent_agent=True)) as call:
        await call.clock.advance(0.04)
        assert call.caller.heard == [0, 0, 0]


async def test_the_recording_is_what_the_legs_hear_at_the_time_of_speaking() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        left, right = call.line.recorder.channels()
        assert left[::160].tolist()[:-1] == call.agent.heard[1:]
        assert right[::160].tolist()[:-1] == call.caller.heard[1:]
        assert len(left) == len(right) == call.line.ticks * 160


async def test_event_times_count_from_tick_0() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        assert call.log.now_ms() == pytest.approx(100)


async def test_a_late_line_catches_up_without_dropping_ticks() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        await call.clock.jump(0.2)
        await call.clock.advance(0.02)
        assert call.agent.heard == [0, *(100 + n for n in range(16))]
        assert call.caller.pulls[-1] == pytest.approx(1000.32)


async def test_ticks_later_than_half_a_packet_are_logged_with_their_lateness() -> None:
    """Stopped for 45 ms after tick 5: tick 6 is 25 ms late, tick 7 only 5."""
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        await call.clock.jump(0.045)
        await call.clock.advance(0.1)
        lags = call.log.of(LineLag)
        assert [(e.tick, round(e.late_ms, 3)) for e in lags] == [(6, 25.0)]


async def test_a_tick_exactly_half_a_packet_late_is_not_late() -> None:
    async with running(Call()) as call:
        await call.clock.jump(0.0299)
        await call.clock.advance(0.1)
        call.line.hang_up("caller_hangup")
        await call.clock.advance(0.02)
        report = await call.task
        assert report.late_ticks == 0
        assert report.late_max_ms == pytest.approx(9.9)


async def test_an_overloaded_machine_does_not_flood_the_log() -> None:
    """Each tick takes 25 ms: all but the first are late and counted, but only so many are logged."""
    async with running(Call(max_duration_s=6.0, stall_s=0.025)) as call:
        for _ in range(300):
            await call.clock.jump(0.02)
        report = await asyncio.wait_for(call.task, timeout=5)
        assert report.ticks == 300
        assert report.late_ticks > 2 * MAX_LAG_EVENTS
        assert len(call.log.of(LineLag)) == MAX_LAG_EVENTS


async def test_hanging_up_ends_the_line_at_the_next_tick_time() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        call.line.hang_up("caller_hangup", "said goodbye")
        await call.clock.advance(0.019)
        assert not call.task.done()
        await call.clock.advance(0.001)
        report = await asyncio.wait_for(call.task, timeout=5)
        assert (report.ticks, report.end_reason, report.end_detail) == (6, "caller_hangup", "said goodbye")
        assert report.duration_ms == 120


async def test_the_first_reason_counts() -> None:
    async with running(Call()) as call:
        call.line.hang_up("agent_hangup")
        call.line.stop()
        await call.clock.advance(0.02)
        assert (await call.task).end_reason == "agent_hangup"


async def test_a_line_hung_up_before_it_ran_has_no_tick() -> None:
    call = Call()
    call.line.stop()
    async with running(call):
        report = await asyncio.wait_for(call.task, timeout=5)
        assert (report.ticks, report.end_reason, report.late_p99_ms) == (0, "cancelled", 0.0)


async def test_the_line_ends_itself_after_the_longest_duration() -> None:
    async with running(Call(max_duration_s=0.5)) as call:
        await call.clock.advance(1.0)
        report = await asyncio.wait_for(call.task, timeout=5)
        assert (report.ticks, report.end_reason, report.end_detail) == (25, "max_duration", "0.5 s")
        assert call.log.events[-1].t_ms == pytest.approx(500)


async def test_the_last_event_says_how_the_line_ran() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        call.line.stop()
        await call.clock.advance(0.02)
        report = await call.task
        ended = call.log.of(LineEnded)
        assert [(e.ticks, e.late_ticks, e.codec_delay_ms) for e in ended] == [(report.ticks, 0, report.delay_ms)]


async def test_the_end_tells_the_underruns_of_a_leg_that_counts_them() -> None:
    async with running(Call()) as call:
        call.caller.underruns = 3
        call.line.stop()
        await call.clock.advance(0.02)
        await call.task
        assert [(e.caller_underruns, e.agent_underruns) for e in call.log.of(LineEnded)] == [(3, None)]


def test_the_loop_is_looked_at_while_the_line_runs_and_no_longer() -> None:
    """On the fast loop, whose time is the line's: 2 s of line are 40 looks."""
    clock = FastClock()

    async def main() -> tuple[LineReport, PhoneLine]:
        legs = (Counter(ManualClock(), 1), Counter(ManualClock(), 2))
        line = PhoneLine(*legs, CLEAN, clock, EventLog(clock), max_duration_s=2.0)
        return await line.run(), line

    try:
        report, line = run(main, clock)
    finally:
        clock.close()
    assert report.loop_samples == pytest.approx(2.0 / PERIOD_S, abs=1)
    assert 0 <= (report.loop_lag_p99_ms or 0) <= (report.loop_lag_max_ms or 0)
    assert line._loop_lag._timer is None


async def test_a_cancelled_line_still_says_how_it_ran() -> None:
    async with running(Call()) as call:
        await call.clock.advance(0.1)
        call.task.cancel()
        await call.clock.settle()
        assert call.task.cancelled()
        assert [e.ticks for e in call.log.of(LineEnded)] == [6]


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        (np.zeros(159, np.int16), r"int16 \(159,\)"),
        (np.zeros(160, np.float32), r"float32 \(160,\)"),
        (np.zeros((1, 160), np.int16), r"int16 \(1, 160\)"),
        (b"\0" * 320, "bytes"),
    ],
    ids=["short", "float", "two-dimensional", "bytes"],
)
@pytest.mark.parametrize("leg", ["caller", "agent"])
async def test_a_packet_of_the_wrong_form_names_the_leg(leg: str, frame: object, found: str) -> None:
    call = Call()
    getattr(call, leg).pull = lambda: frame
    with pytest.raises(HarnessError, match=rf"tick 0: the {leg} leg gave {found}; .* int16 \(160,\)"):
        await call.line.run()
    assert len(call.log.of(LineEnded)) == 1


async def test_nobody_can_write_into_the_lines_silence() -> None:
    async with running(Call(silent_agent=True)) as call:
        with pytest.raises(ValueError, match="read-only"):
            call.line._silence[0] = 1


LOSSY = LineProfile.model_validate(
    {
        "id": "lossy", "title": "Bursts, silence for what is missing", "rate_hz": 8000, "codec": "l16", "band_hz": None,
        "network": {
            "loss": {"kind": "gilbert_elliott", "rate_percent": 20.0, "mean_burst_packets": 4.0},
            "buffer": {"kind": "fixed", "depth_ms": 40},
            "concealment": "silence",
        },
    }
)  # fmt: skip


async def test_losses_are_told_by_burst_and_direction_and_summed_up_at_the_end() -> None:
    async with running(Call(profile=LOSSY)) as call:
        await call.clock.advance(8.0)
        call.line.stop()
        await call.clock.advance(0.02)
        report = await call.task
    (ended,) = call.log.of(LineEnded)
    assert report.delay_ms == ended.codec_delay_ms == 40
    for direction, counts in (("to_agent", ended.to_agent), ("to_caller", ended.to_caller)):
        bursts = [e for e in call.log.of(LineLoss) if e.direction == direction]
        assert counts is not None
        assert counts.sent == report.ticks
        assert sum(e.packets for e in bursts) == counts.concealed > 20
        assert sum(e.lost for e in bursts) <= counts.lost
        assert counts.mean_burst_packets == pytest.approx(counts.concealed / len(bursts), abs=0.001)
        assert len(bursts) < counts.concealed
    assert ended.to_agent != ended.to_caller, "each direction has its own draws"
    assert all(e.t_ms >= e.first_tick * 20 for e in call.log.of(LineLoss))


async def test_what_was_lost_is_missing_at_the_ear_and_in_the_recording_at_that_tick() -> None:
    async with running(Call(profile=LOSSY)) as call:
        await call.clock.advance(4.0)
        call.line.stop()
        await call.clock.advance(0.02)
        await call.task
    heard_by_agent = call.line.recorder.channels()[0].reshape(-1, 160)[:, 0]
    lost = [e for e in call.log.of(LineLoss) if e.direction == "to_agent"]
    missed = {n for e in lost for n in range(e.first_tick, e.first_tick + e.packets)}
    assert missed == set(np.flatnonzero(heard_by_agent == 0)[2:].tolist())
    assert call.agent.heard[1:] == heard_by_agent[:-1].tolist(), "one packet time later at the ear"


async def test_a_line_without_a_network_counts_no_packets() -> None:
    async with running(Call()) as call:
        call.line.stop()
        await call.clock.advance(0.02)
        await call.task
    (ended,) = call.log.of(LineEnded)
    assert (ended.to_agent, ended.to_caller) == (None, None)
    assert call.log.of(LineLoss) == []
