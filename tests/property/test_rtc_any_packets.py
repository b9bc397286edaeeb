"""RTP of a real connection: whatever is lost, doubled or foreign, each packet time is heard once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.tones import DtmfDetector
from callm_voice.line.jitter import Conceal, Idle, Play, Stretch
from callm_voice.line.profile_parts import AdaptiveBuffer, FixedBuffer
from callm_voice.line.rtp import RtpPacket
from callm_voice.pipeline.rtc_media import MediaReceiver, MediaSender
from callm_voice.pipeline.rtc_sdp import AudioFormat

pytestmark = pytest.mark.property
PCMU = AudioFormat("pcmu", 0, 101)
TICKS = 60


def ends(buffer: FixedBuffer | AdaptiveBuffer, seed: int) -> tuple[MediaSender, MediaReceiver]:
    encoder, decoder = make_codec("pcmu", 8000), make_codec("pcmu", 8000)
    return MediaSender(encoder, PCMU, 1, seed), MediaReceiver(decoder, PCMU, buffer=buffer)


buffers = st.sampled_from(
    [FixedBuffer(kind="fixed", depth_ms=depth) for depth in (0, 20, 60)]
    + [AdaptiveBuffer(kind="adaptive", min_ms=0, max_ms=120)]
)


@settings(deadline=None)
@given(
    buffer=buffers,
    seed=st.integers(0, 2**32),
    fates=st.lists(st.sampled_from(["comes", "comes", "comes", "lost", "twice", "a tick late"]), max_size=TICKS),
)
def test_every_packet_time_is_heard_and_every_slot_is_played_concealed_or_skipped_once(
    buffer: FixedBuffer | AdaptiveBuffer, seed: int, fates: list[str]
) -> None:
    source, sink = ends(buffer, seed)
    held: list[RtpPacket] = []
    said: list[object] = []
    lost = 0
    for n in range(TICKS):
        pulled, frame = sink.pull()
        assert (frame.shape, frame.dtype) == ((160,), np.int16)
        said.append(pulled)
        for packet in held:
            sink.push(packet)
        held = []
        fate = fates[n] if 0 < n < len(fates) else "comes"
        for packet in source.next(np.full(160, 1000, np.int16)):
            if fate == "a tick late":
                held.append(packet)
            elif fate == "lost":
                lost += 1
            else:
                for _ in range(2 if fate == "twice" else 1):
                    sink.push(packet)
    counts = sink.counts
    assert counts.played == sum(isinstance(p, Play) for p in said)
    assert counts.concealed == sum(isinstance(p, Conceal) for p in said)
    assert counts.stretched == sum(isinstance(p, Stretch) for p in said)
    idle = sum(isinstance(p, Idle) for p in said)
    assert counts.played + counts.concealed + counts.stretched + idle == TICKS
    assert counts.concealed <= lost + counts.late + sum(f == "a tick late" for f in fates)
    played = [p.packet.timestamp for p in said if isinstance(p, Play)]
    steps = np.diff(np.array(played, np.int64)) % 2**32
    assert np.all(steps > 0), "in order, none twice"
    assert np.all(steps % 160 == 0)


@settings(deadline=None, max_examples=50)
@given(
    keys=st.text("0123456789*#ABCD", min_size=1, max_size=4),
    lost=st.sets(st.integers(6, 60), max_size=6),
    seed=st.integers(0, 2**32),
)
def test_keys_are_heard_once_each_whatever_single_packets_are_lost(keys: str, lost: set[int], seed: int) -> None:
    source, sink = ends(FixedBuffer(kind="fixed", depth_ms=20), seed)
    script = "....." + "".join(key * 6 + "....." for key in keys) + "....."
    single = {n for n in lost if n + 1 not in lost and n - 1 not in lost}
    heard, sent = [], 0
    for key in script:
        heard.append(sink.pull()[1])
        for packet in source.next(np.zeros(160, np.int16), None if key == "." else key):
            if sent not in single:
                sink.push(packet)
            sent += 1
    assert "".join(DtmfDetector(8000).push(np.concatenate(heard))) == keys


@settings(deadline=None)
@given(data=st.lists(st.tuples(st.integers(0, 127), st.integers(0, 2**32 - 1), st.binary(max_size=400)), max_size=40))
def test_whatever_payloads_come_a_frame_is_heard_and_nothing_is_raised(data: list[tuple[int, int, bytes]]) -> None:
    _, sink = ends(AdaptiveBuffer(kind="adaptive", min_ms=0, max_ms=120), 1)
    sink.pull()
    for n, (payload_type, timestamp, payload) in enumerate(data):
        sink.push(RtpPacket(payload_type, n, timestamp, 1, payload))
        assert sink.pull()[1].shape == (160,)
