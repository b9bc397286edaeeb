"""What the far end of a WebRTC connection can do wrong: each is one clear error, bounded, and nothing is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.sdp_texts import MALFORMED, audio_sdp

from callm_voice.core.clock import RealClock
from callm_voice.pipeline.rtc_peer import RtcPeer
from callm_voice.pipeline.rtc_sdp import RtcError

pytestmark = [pytest.mark.faults, pytest.mark.timeout(60)]


@pytest.fixture
async def peer() -> AsyncIterator[RtcPeer]:
    clock, told = RealClock(), list[str]()
    held = RtcPeer(rate_hz=8000, codec="pcmu", clock=clock, on_closed=told.append)
    tasks = asyncio.all_tasks()
    yield held
    await held.aclose()
    assert len(told) <= 1, "the end is told once"
    left = asyncio.all_tasks() - tasks - {asyncio.current_task()}
    assert not left, f"tasks were left running: {left}"
    clock.close()


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_malformed_offer_is_refused_and_the_peer_closes(name: str, peer: RtcPeer) -> None:
    with pytest.raises(RtcError):
        await peer.answer(MALFORMED[name])


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_malformed_answer_is_refused_and_the_peer_closes(name: str, peer: RtcPeer) -> None:
    await peer.offer()
    with pytest.raises(RtcError):
        await peer.accept(MALFORMED[name])


async def test_an_offer_without_our_codec_is_refused_by_name(peer: RtcPeer) -> None:
    with pytest.raises(RtcError, match="no codec in common: expected pcmu, found opus, G722"):
        await peer.answer(audio_sdp(codecs=((111, "opus/48000/2"), (9, "G722/8000"))))


async def test_an_answer_that_nobody_asked_for_is_refused(peer: RtcPeer) -> None:
    with pytest.raises(RtcError, match="the answer cannot be used"):
        await peer.accept(audio_sdp(setup="active"))


async def test_a_second_offer_is_refused(peer: RtcPeer) -> None:
    clock = RealClock()
    other = RtcPeer(rate_hz=8000, codec="pcmu", clock=clock, on_closed=lambda why: None)
    offer = await other.offer()
    await peer.answer(offer)
    with pytest.raises(RtcError):
        await peer.answer(offer)
    await other.aclose()
    clock.close()


async def test_an_end_that_cannot_be_reached_is_given_up_in_time(peer: RtcPeer) -> None:
    await peer.offer()
    await peer.accept(audio_sdp(setup="active"))
    with pytest.raises(RtcError, match=r"not made"):
        await peer.connected(0.5)


async def test_an_end_without_any_address_is_given_up_in_time(peer: RtcPeer) -> None:
    await peer.offer()
    await peer.accept(audio_sdp(setup="active", candidates=()))
    with pytest.raises(RtcError, match=r"not made"):
        await peer.connected(0.5)


async def test_whatever_comes_as_a_packet_is_dropped_or_decoded_and_never_raises(peer: RtcPeer) -> None:
    clock = RealClock()
    other = RtcPeer(rate_hz=8000, codec="pcmu", clock=clock, on_closed=lambda why: None)
    await other.accept(await peer.answer(await other.offer()))
    await asyncio.gather(peer.connected(10), other.connected(10))
    peer.pull()
    for data in (b"", b"\x80", b"\x00" * 40, bytes([0x80, 0, 0, 1]) + bytes(8), bytes([0x80, 101, 0, 2]) + bytes(11)):
        peer._on_packet(data)
        assert peer.pull().shape == (160,)
    await other.aclose()
    clock.close()
