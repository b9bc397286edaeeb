"""The packet leg against the simulated line: bit for bit the same sound one packet time later, the same packets lost.

Nothing here waits for the wall clock: a tick goes on when all packets of the one before have come.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import numpy as np
import pytest

from callm_voice.audio.tones import DtmfDetector
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import Direction
from callm_voice.line.channel import Channel
from callm_voice.line.leg import Frame
from callm_voice.line.packets import Burst
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.pipeline.packet_leg import PacketLeg

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(120)]
SEED = 7
TICKS = 300


@asynccontextmanager
async def connected(profile: LineProfile, pressed: Callable[[], str | None] = lambda: None) -> AsyncIterator[PacketLeg]:
    clock, broken = RealClock(), list[CallmError]()
    async with AsyncExitStack() as stack:
        leg = PacketLeg(profile, clock, SEED, pressed=pressed, on_error=broken.append)
        await leg.connect(stack)
        yield leg
    clock.close()
    assert broken == []


def frames(profile: LineProfile, ticks: int = TICKS) -> list[Frame]:
    """A voiced sound that never stands still: a pitch that glides, with noise on it."""
    samples = profile.frame_samples * ticks
    t_s = np.arange(samples) / profile.rate_hz
    hum = np.sign(np.sin(2 * np.pi * (110 * t_s + 15 * t_s**2))) * 3000
    noise = np.random.default_rng(5).normal(0, 400, samples)
    return list((hum + noise).astype(np.int16).reshape(ticks, -1))


async def through(leg: PacketLeg, channel: Channel, said: list[Frame]) -> tuple[list[Frame], list[Burst]]:
    heard = []
    for frame in said:
        for path in leg.paths.values():
            await path.arrived()
        heard.append(channel.process(frame))
    return heard, channel.finished_bursts(end=True)


def loses_without_jitter(name: str) -> LineProfile:
    """The profile with its loss alone: how late a packet comes on a real wire is not ours to repeat."""
    profile = load_profile(name)
    assert profile.network is not None
    return profile.model_copy(
        update={"network": profile.network.model_copy(update={"jitter": None, "spikes": None})}
    )  # fmt: skip


@pytest.mark.parametrize("direction", ["to_agent", "to_caller"])
@pytest.mark.parametrize("name", ["pstn-g711u", "pstn-g711a", "hd-g722", "hd-opus-wb", "voip-opus-nb", "noise-cafe-10"])
async def test_without_loss_the_sound_is_the_simulated_lines_one_packet_later(name: str, direction: Direction) -> None:
    profile = load_profile(name)
    if profile.network is not None:
        profile = profile.model_copy(update={"network": None})
    said = frames(profile)
    simulated = Channel(profile, SEED, direction)
    expected = [simulated.process(frame) for frame in said]
    async with connected(profile) as leg:
        heard, bursts = await through(leg, Channel(profile, SEED, direction, packets=leg.paths[direction]), said)
    assert bursts == []
    if direction == "to_agent" or not profile.tandem:
        assert np.array_equal(np.concatenate(heard[1:]), np.concatenate(expected[:-1]))


@pytest.mark.parametrize("direction", ["to_agent", "to_caller"])
async def test_the_same_packets_are_lost_as_on_the_simulated_line(direction: Direction) -> None:
    profile = loses_without_jitter("loss-awful")
    said = frames(profile)
    simulated = Channel(profile, SEED, direction)
    expected = [simulated.process(frame) for frame in said]
    lost = simulated.finished_bursts(end=True)
    async with connected(profile) as leg:
        channel = Channel(profile, SEED, direction, packets=leg.paths[direction])
        heard, bursts = await through(leg, channel, said)
    whole = [(b.first_tick + 1, b.packets, b.lost) for b in lost if b.first_tick + b.packets < TICKS - 1]
    assert len(whole) >= 3, "the pattern says something"
    assert [(b.first_tick, b.packets, b.lost) for b in bursts][: len(whole)] == whole
    assert np.array_equal(np.concatenate(heard[1:]), np.concatenate(expected[:-1]))
    counts, other = channel.packet_counts, simulated.packet_counts
    assert counts is not None
    assert other is not None
    assert (counts.sent, counts.lost) == (other.sent, other.lost)


async def test_keys_go_as_events_and_are_heard_behind_the_line() -> None:
    profile, tick = load_profile("pstn-g711u"), 0
    keys = "." * 10 + "44444....00000....#####" + "." * 10
    async with connected(profile, lambda: None if keys[tick] == "." else keys[tick]) as leg:
        channel = Channel(profile, SEED, "to_agent", packets=leg.paths["to_agent"])
        heard = []
        for tick in range(len(keys)):  # noqa: B007 - what is pressed looks at it
            await leg.paths["to_agent"].arrived()
            heard.append(channel.process(np.zeros(160, np.int16), past_microphone=True))
        assert leg.info().settings["telephone_events"] is True
    assert DtmfDetector(8000).push(np.concatenate(heard)) == ["4", "0", "#"]


async def test_a_connection_that_breaks_is_told_as_an_error_of_the_line() -> None:
    clock, broken = RealClock(), list[CallmError]()
    async with AsyncExitStack() as stack:
        leg = PacketLeg(
            load_profile("pstn-g711u"), clock, SEED, pressed=lambda: None, on_error=broken.append
        )  # fmt: skip
        await leg.connect(stack)
        await leg._caller.aclose()
        for _ in range(200):
            if broken:
                break
            await clock.sleep_until(clock.now_s() + 0.02)
    clock.close()
    (error,) = broken
    assert error.fault == "infrastructure"
    assert "between caller and agent broke: the other end closed" in error.message
