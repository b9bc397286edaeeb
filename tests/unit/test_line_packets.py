"""Codec, network, jitter buffer and concealment together: what is heard, counted and reported."""

from __future__ import annotations

import numpy as np
import pytest
from support.line_sounds import phrase

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import split_frames
from callm_voice.line.packets import PacketPath
from callm_voice.line.profile_parts import Network

pytestmark = pytest.mark.unit

GE = {"kind": "gilbert_elliott", "rate_percent": 10.0, "mean_burst_packets": 3.0}
FIXED = {"kind": "fixed", "depth_ms": 40}


def path(codec: str = "pcmu", seed: int = 1, **network: object) -> PacketPath:
    return PacketPath(make_codec(codec, 8000), Network.model_validate({"buffer": FIXED, **network}), seed)


def test_without_loss_the_sound_is_only_later() -> None:
    pcm = phrase(8000, 1.0)
    found, codec = path(), make_codec("pcmu", 8000)
    out = np.concatenate([found.process(frame) for frame in split_frames(pcm, 160)])
    assert np.array_equal(out[320:], codec.decode(codec.encode(pcm))[:-320])
    assert not out[:320].any()
    assert found.delay_ms == 40


def test_counts_add_up_and_bursts_say_the_same() -> None:
    found = path(loss=GE, jitter={"kind": "gamma", "mean_ms": 20.0, "sd_ms": 20.0})
    packet = phrase(8000, 0.02)
    for _ in range(6000):
        found.process(packet)
    counts, bursts = found.counts, found.finished_bursts(end=True)
    assert counts.played + counts.concealed + counts.skipped == counts.slots == 6000 - 2
    assert sum(b.packets for b in bursts) == counts.concealed
    assert abs(sum(b.lost for b in bursts) - found.lost) <= 3, "the last packets are still under way"
    assert sum(b.packets - b.lost for b in bursts) == pytest.approx(counts.late, abs=3)
    assert counts.late > 50
    assert found.mean_burst == pytest.approx(counts.concealed / len(bursts))
    assert [b.first_tick for b in bursts] == sorted({b.first_tick for b in bursts})


def test_a_burst_names_the_tick_at_which_its_first_packet_was_missed() -> None:
    """Sound is cut exactly there: silence stands in."""
    found = path("l16", loss=GE, concealment="silence")
    tone = np.full(160, 1000, dtype=np.int16)
    silent = [not found.process(tone).any() for _ in range(400)]
    bursts = found.finished_bursts(end=True)
    missed = {tick for b in bursts for tick in range(b.first_tick, b.first_tick + b.packets)}
    assert missed == {tick for tick, was in enumerate(silent) if was and tick >= 2}
    assert {b.concealed_by for b in bursts} == {"silence"}


def test_bursts_are_given_out_once_and_when_they_are_over() -> None:
    found = path(loss=GE)
    packet, given = phrase(8000, 0.02), []
    for tick in range(1000):
        found.process(packet)
        for burst in found.finished_bursts():
            assert burst.first_tick + burst.packets <= tick
            given.append(burst)
    rest = found.finished_bursts(end=True)
    assert len(rest) <= 1
    assert sum(b.packets for b in [*given, *rest]) == found.counts.concealed


@pytest.mark.parametrize(
    ("codec", "concealment", "by"),
    [("pcmu", "codec", "pitch"), ("amr", "codec", "codec"), ("amr", "pitch", "pitch"), ("pcmu", "silence", "silence")],
)
def test_who_conceals(codec: str, concealment: str, by: str) -> None:
    found = path(codec, loss=GE, concealment=concealment)
    assert found.concealed_by == by
    pcm = phrase(8000, 2.0)
    out = np.concatenate([found.process(frame) for frame in split_frames(pcm, 160)])
    assert found.counts.concealed > 0
    assert out.any()


def test_an_adaptive_buffer_follows_the_network_and_loses_less_to_lateness() -> None:
    jitter = {"kind": "gamma", "mean_ms": 30.0, "sd_ms": 30.0}
    frames = split_frames(phrase(8000, 20.0), 160)
    late = {}
    for name, buffer in (("fixed", FIXED), ("adaptive", {"kind": "adaptive", "min_ms": 40, "max_ms": 200})):
        found = path(jitter=jitter, buffer=buffer)
        for frame in frames:
            found.process(frame)
        late[name] = found.counts.late
    assert late["adaptive"] < late["fixed"] / 4
    assert found.delay_ms > 40


def test_sequence_numbers_and_timestamps_begin_at_random_and_wrap_unheard() -> None:
    """65,536 packets go by for every seed's beginning; here one is put just before both wraps."""
    found = path("l16")
    found._sequence, found._timestamp = 65_530, (1 << 32) - 800  # the draw cannot be asked for
    pcm = np.arange(160 * 20, dtype=np.int16)
    out = np.concatenate([found.process(frame) for frame in pcm.reshape(-1, 160)])
    assert np.array_equal(out[320:], pcm[:-320])
