"""RTP of a real connection, without one: numbers, keys as events and tones again, what is lost and what is foreign."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.tones import DtmfDetector
from callm_voice.line.jitter import Conceal, Idle, Play
from callm_voice.line.profile_parts import FixedBuffer
from callm_voice.line.rtp import RtpPacket
from callm_voice.line.rtp_events import TelephoneEvent
from callm_voice.pipeline.rtc_media import MediaReceiver, MediaSender
from callm_voice.pipeline.rtc_sdp import AudioFormat

pytestmark = pytest.mark.unit
PCMU = AudioFormat("pcmu", 0, 101)
SAMPLES = 160
SILENCE = np.zeros(SAMPLES, np.int16)


def sender(audio: AudioFormat = PCMU, seed: int = 3) -> MediaSender:
    return MediaSender(make_codec("pcmu", 8000), audio, ssrc=0x1234, seed=seed)


def receiver(audio: AudioFormat = PCMU) -> MediaReceiver:
    return MediaReceiver(make_codec("pcmu", 8000), audio, buffer=FixedBuffer(kind="fixed", depth_ms=20))


def carried(source: MediaSender, keys: str, lost: set[int] | None = None) -> tuple[np.ndarray, list[RtpPacket]]:
    """One frame a tick; a character of `keys` each, a dot is no key. What is heard, and what was sent."""
    sink, heard, sent = receiver(), [], []
    for key in keys:
        heard.append(sink.pull()[1])
        for packet in source.next(SILENCE, None if key == "." else key):
            sent.append(packet)
            if len(sent) - 1 not in (lost or set()):
                sink.push(packet)
    return np.concatenate([*heard, *(sink.pull()[1] for _ in range(3))]), sent


def test_sequence_and_timestamp_go_up_by_one_packet_and_the_first_is_marked() -> None:
    source = sender()
    packets = [packet for _ in range(4) for packet in source.next(SILENCE)]
    assert [(p.sequence - packets[0].sequence) % 65536 for p in packets] == [0, 1, 2, 3]
    assert [(p.timestamp - packets[0].timestamp) % 2**32 for p in packets] == [0, 160, 320, 480]
    assert [p.marker for p in packets] == [True, False, False, False]
    assert {p.ssrc for p in packets} == {0x1234}


def test_a_key_goes_as_events_in_place_of_sound_and_its_end_three_times() -> None:
    """RFC 4733 §2.5.1: one timestamp, growing duration, marker on the first, three ends."""
    _, sent = carried(sender(), "..555....")
    events = [(n, p, TelephoneEvent.parse(p.payload)) for n, p in enumerate(sent) if p.payload_type == 101]
    assert [e.duration for _, _, e in events] == [160, 320, 480, 480, 480, 480]
    assert [e.end for _, _, e in events] == [False, False, False, True, True, True]
    assert len({p.timestamp for _, p, _ in events}) == 1
    assert [p.marker for _, p, _ in events] == [True, False, False, False, False, False]
    assert {e.key for _, _, e in events} == {"5"}
    places = [n for n, _, e in events if e.end]
    assert places == [5, 7, 9], "a packet of sound stands between two copies"
    sequences = [p.sequence for p in sent]
    assert sequences == list(range(sequences[0], sequences[0] + len(sent)))


@pytest.mark.parametrize("key", "0123456789*#ABCD")
def test_the_far_end_hears_the_keys_tone(key: str) -> None:
    heard, _ = carried(sender(), "..." + key * 5 + "....")
    assert DtmfDetector(8000).push(heard) == [key]


def test_the_same_key_twice_is_heard_twice() -> None:
    heard, _ = carried(sender(), ".77777....77777...")
    assert DtmfDetector(8000).push(heard) == ["7", "7"]


def test_a_key_survives_the_loss_of_packets_in_its_middle() -> None:
    heard, _ = carried(sender(), "...99999....", lost={4, 6})
    assert DtmfDetector(8000).push(heard) == ["9"]


def test_an_end_that_knows_no_events_gets_the_sound() -> None:
    source = sender(AudioFormat("pcmu", 0, None))
    assert {p.payload_type for key in "5555" for p in source.next(SILENCE, key)} == {0}


def test_what_came_before_the_first_pull_is_heard_by_nobody() -> None:
    source, sink = sender(), receiver()
    for _ in range(50):
        for packet in source.next(SILENCE):
            sink.push(packet)
    assert isinstance(sink.pull()[0], Idle)
    assert sink.counts.slots == 0


def test_each_slot_is_played_once_and_what_is_missing_is_concealed() -> None:
    source, sink = sender(), receiver()
    said = []
    for n in range(10):
        said.append(sink.pull()[0])
        if n not in (4, 5):
            sink.push(source.next(SILENCE)[0])
        else:
            source.next(SILENCE)
    assert [type(s) for s in said[2:]] == [Play, Play, Play, Play, Conceal, Conceal, Play, Play]
    assert (sink.counts.played, sink.counts.concealed) == (6, 2)


def test_packets_of_another_type_and_events_that_are_none_are_counted_and_dropped() -> None:
    sink = receiver()
    sink.pull()
    sink.push(RtpPacket(77, 1, 0, 1, b"x" * 160))
    sink.push(RtpPacket(101, 2, 0, 1, b"abc"))
    sink.push(RtpPacket(0, 3, 0, 1, b""))
    assert sink.foreign == 2
    assert sink.counts.slots == 0


def test_packets_of_several_packet_times_are_cut_and_others_dropped() -> None:
    sink = receiver()
    sink.pull()
    sink.push(RtpPacket(0, 1, 0, 1, b"\x80" * 480))
    sink.push(RtpPacket(0, 2, 480, 1, b"\x80" * 80))
    sink.push(RtpPacket(0, 3, 560, 1, b"\x80" * 161))
    frames = [sink.pull() for _ in range(6)]
    assert (sink.counts.played, sink.foreign) == (3, 2)
    assert {frame.shape for _, frame in frames} == {(160,)}


def test_the_same_seed_begins_with_the_same_numbers_and_another_with_others() -> None:
    firsts = [sender(seed=seed).next(SILENCE)[0] for seed in (1, 1, 2)]
    assert firsts[0] == firsts[1]
    assert firsts[0].timestamp != firsts[2].timestamp
