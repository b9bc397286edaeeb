"""RTP packets: bytes as RFC 3550 §5.1 draws them, what is refused, and numbers that run on."""

from __future__ import annotations

import pytest

from callm_voice.line.rtp import RtpError, RtpPacket, Unwrapper

pytestmark = pytest.mark.unit

PLAIN = bytes.fromhex("80 00 ffff 000000a0 12345678") + b"\x7f" * 4
"""Version 2, payload type 0 (G.711 µ-law), sequence 65535, timestamp 160."""
FULL = bytes.fromhex("b2 e0 0001 fffffff0 00000001 0000000a 0000000b bede0001 10aa0000") + b"voice" + b"\0\0\3"
"""Padding, extension, two contributing sources, marker, payload type 96."""


def test_a_plain_packet_has_the_bytes_of_the_rfc() -> None:
    packet = RtpPacket(payload_type=0, sequence=65535, timestamp=160, ssrc=0x12345678, payload=b"\x7f" * 4)
    assert packet.pack() == PLAIN
    assert RtpPacket.parse(PLAIN) == packet


def test_all_parts_of_a_packet_are_read_and_padding_is_taken_off() -> None:
    packet = RtpPacket.parse(FULL)
    assert (packet.marker, packet.payload_type, packet.sequence, packet.timestamp) == (True, 96, 1, 0xFFFFFFF0)
    assert packet.csrcs == (10, 11)
    assert packet.extension == (0xBEDE, bytes.fromhex("10aa0000"))
    assert packet.payload == b"voice"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "0 bytes"),
        (PLAIN[:11], "11 bytes"),
        (b"\x40" + PLAIN[1:], "version 1"),
        (b"\x8f" + PLAIN[1:], "15 contributing sources do not fit"),
        (b"\x90" + PLAIN[1:12], "extension is cut"),
        (b"\x90" + PLAIN[1:12] + b"\xbe\xde\xff\xff" + b"x" * 8, "65535 words does not fit"),
        (b"\xa0" + PLAIN[1:12] + b"abc\x00", "0 bytes of padding"),
        (b"\xa0" + PLAIN[1:12] + b"abc\x05", "5 bytes of padding in 4"),
        (b"\xa0" + PLAIN[1:12], "padding"),
    ],
)
def test_what_is_no_rtp_packet_is_refused_in_words(data: bytes, why: str) -> None:
    with pytest.raises(RtpError, match=why):
        RtpPacket.parse(data)


@pytest.mark.parametrize(
    "packet",
    [
        RtpPacket(128, 0, 0, 0),
        RtpPacket(0, 65536, 0, 0),
        RtpPacket(0, -1, 0, 0),
        RtpPacket(0, 0, 1 << 32, 0),
        RtpPacket(0, 0, 0, 1 << 32),
        RtpPacket(0, 0, 0, 0, csrcs=(1,) * 16),
        RtpPacket(0, 0, 0, 0, extension=(0, b"abc")),
    ],
)
def test_what_does_not_fit_its_bits_is_not_packed(packet: RtpPacket) -> None:
    with pytest.raises(ValueError, match=r"fit|at most|whole words"):
        packet.pack()


def test_a_sequence_runs_on_over_its_wrap() -> None:
    unwrap = Unwrapper(16).unwrap
    assert [unwrap(n) for n in (65534, 65535, 0, 1, 65535, 2)] == [65534, 65535, 65536, 65537, 65535, 65538]


def test_what_is_older_than_the_first_is_below_it() -> None:
    unwrap = Unwrapper(16).unwrap
    assert [unwrap(n) for n in (0, 65535, 1)] == [0, -1, 1]


def test_a_timestamp_runs_on_over_its_wrap() -> None:
    unwrap = Unwrapper(32).unwrap
    assert [unwrap(n % (1 << 32)) for n in range(4294967000, 4294967600, 160)] == list(
        range(4294967000, 4294967600, 160)
    )
