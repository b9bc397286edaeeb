"""Properties of the line's cores: wraps, order, accounting, splits, borders of frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.line_sounds import phrase

from callm_voice.line.channel import Channel, ChannelStream
from callm_voice.line.jitter import JitterBuffer, Play
from callm_voice.line.plc import Concealer
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.line.rtp import RtpError, RtpPacket, Unwrapper

pytestmark = pytest.mark.property

u16, u32 = st.integers(0, (1 << 16) - 1), st.integers(0, (1 << 32) - 1)
words = st.binary(max_size=40).map(lambda b: b[: len(b) // 4 * 4])
packets = st.builds(
    RtpPacket, payload_type=st.integers(0, 127), sequence=u16, timestamp=u32, ssrc=u32, payload=st.binary(max_size=200),
    marker=st.booleans(), csrcs=st.lists(u32, max_size=15).map(tuple), extension=st.none() | st.tuples(u16, words),
)  # fmt: skip


@given(packets)
def test_a_packet_survives_its_bytes(packet: RtpPacket) -> None:
    assert RtpPacket.parse(packet.pack()) == packet


@given(st.binary(max_size=80))
def test_bytes_are_a_packet_or_a_clear_error(data: bytes) -> None:
    try:
        packet = RtpPacket.parse(data)
    except RtpError:
        return
    again = RtpPacket.parse(packet.pack())
    assert again == packet


@given(st.sampled_from([16, 32]), u32, st.lists(st.integers(-(1 << 14), 1 << 14), max_size=60))
def test_numbers_run_on_over_every_wrap(bits: int, first: int, steps: list[int]) -> None:
    """Any walk whose steps, measured from the highest number so far, are less than half the modulus is found again."""
    running = highest = first % (1 << bits)
    unwrapper = Unwrapper(bits)
    assert unwrapper.unwrap(running) == running
    for step in steps:
        running = max(highest + step, highest - (1 << 14))
        highest = max(highest, running)
        assert unwrapper.unwrap(running % (1 << bits)) == running


arrivals = st.lists(
    st.tuples(st.booleans(), st.floats(0, 400, allow_nan=False), st.booleans()), min_size=1, max_size=120
)
"""For each packet: whether it is lost, its delay in ms, whether it comes twice."""


@settings(deadline=None)
@given(
    arrivals, st.integers(0, 6), st.integers(0, 8), st.integers(0, (1 << 16) - 1), st.lists(st.booleans(), max_size=20)
)
def test_each_slot_is_played_concealed_or_skipped_once_in_order_and_never_early(
    fates: list[tuple[bool, float, bool]], depth: int, more: int, first: int, quiet: list[bool]
) -> None:
    buffer = JitterBuffer(20, 160, 20 * depth, 20 * (depth + more))
    due: list[tuple[float, int]] = [(0.0, 0)]
    for n, (lost, delay_ms, twice) in enumerate(fates[1:], start=1):
        due += [] if lost else [(20.0 * n + delay_ms, n)] * (1 + twice)
    due.sort()
    sent = [first + n for n in range(len(fates))]
    played: list[int] = []
    for tick in range(len(fates) + depth + more + 25):
        while due and due[0][0] <= tick * 20:
            at, n = due.pop(0)
            header = RtpPacket(0, sent[n] % (1 << 16), sent[n] * 160 % (1 << 32), 1, n.to_bytes(2, "big"))
            buffer.push(header, at)
        pulled = buffer.pull(tick * 20.0, quiet=bool(quiet) and quiet[tick % len(quiet)])
        if isinstance(pulled, Play):
            n = int.from_bytes(pulled.packet.payload, "big")
            assert tick * 20 >= n * 20 + 20 * depth - 1e-6, "never early"
            played.append(n)
    counts = buffer.counts
    assert played == sorted(set(played)), "in order, none twice"
    assert counts.played == len(played)
    assert counts.played + counts.concealed + counts.skipped == counts.slots >= len(fates)
    assert 20 * depth <= buffer.delay_ms <= 20 * (depth + more)
    arrived = {n for n, (lost, _, _) in enumerate(fates) if n == 0 or not lost}
    assert set(played) <= arrived
    assert len(arrived) == counts.played + counts.late + counts.skipped, "a packet is heard, thrown away or left out"


NAMES = ["pstn-g711u", "mobile-amr-4k75", "loss-awful", "noise-cafe-10", "hd-g722", "worst"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.integers(1, 2500), min_size=1, max_size=12))
def test_any_split_of_a_sound_gives_the_same_line(name: str, seed: int, lengths: list[int]) -> None:
    profile = load_profile(name)
    pcm = phrase(profile.rate_hz, 0.6, seed=seed % 7)
    streams = [ChannelStream(Channel(profile, seed)) for _ in range(2)]
    whole = np.concatenate([streams[0].push(pcm), streams[0].flush()])
    parts, at = [], 0
    while at < pcm.size:
        length = lengths[len(parts) % len(lengths)]
        parts.append(streams[1].push(pcm[at : at + length]))
        at += length
    assert np.array_equal(np.concatenate([*parts, streams[1].flush()]), whole)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([8000, 16_000]), st.floats(70, 195), st.sets(st.integers(3, 60), min_size=1, max_size=25),
    st.integers(0, 100),
)  # fmt: skip
def test_concealment_makes_no_click_at_the_border_of_a_frame(
    rate_hz: int, pitch_hz: float, lost: set[int], phase: int
) -> None:
    """A border's step is no greater than the greatest one within the vowel (and a little where two parts beat)."""
    size = rate_hz // 50
    t = np.arange(size * 62) / rate_hz
    pcm = sum(2500 / k * np.sin(2 * np.pi * pitch_hz * k * t + k * phase) for k in range(1, 8)).astype(np.int16)
    concealer = Concealer(rate_hz)
    out = np.concatenate(
        [concealer.conceal(size) if n in lost else concealer.heard(f) for n, f in enumerate(pcm.reshape(-1, size))]
    ).astype(int)
    steps = np.abs(np.diff(out))
    assert steps[size - 1 :: size].max() <= 1.15 * np.abs(np.diff(pcm.astype(int))).max()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.integers(1, 900), min_size=1, max_size=8))
def test_noise_and_room_leave_no_trace_of_frames(seed: int, lengths: list[int]) -> None:
    """A tone through room, level and noise: what is added at the borders is no greater than elsewhere."""
    phone, noise = {"reverberation_ms": 200.0, "direct_db": 0.0}, {"kind": "pink", "snr_db": 40.0}
    spec = {
        "id": "x", "title": "x", "rate_hz": 8000, "codec": "l16", "band_hz": None,
        "microphone": {"speakerphone": phone, "noise": noise},
    }  # fmt: skip
    stream = ChannelStream(Channel(LineProfile.model_validate(spec), seed))
    tone = (6000 * np.sin(2 * np.pi * 400 * np.arange(9600) / 8000)).astype(np.int16)
    parts, at = [], 0
    while at < tone.size:
        length = lengths[len(parts) % len(lengths)]
        parts.append(stream.push(tone[at : at + length]))
        at += length
    bends = np.abs(np.diff(np.concatenate(parts).astype(int), 2))[1600:]
    assert bends[158::160].max() <= 1.3 * np.delete(bends, np.s_[158::160]).max()
