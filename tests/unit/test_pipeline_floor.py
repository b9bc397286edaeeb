"""Who has the floor."""

from __future__ import annotations

import pytest

from callm_voice.pipeline.floor import Floor

pytestmark = pytest.mark.unit


def test_speech_into_silence_is_a_turn_and_no_interruption() -> None:
    floor = Floor()
    assert floor.caller_starts() is False
    assert (floor.turn_id, floor.epoch, floor.caller_speaking) == (1, 0, True)


@pytest.mark.parametrize("held_by", ["agent_playing", "agent_working", "pending_sentences"])
def test_speech_over_the_agent_interrupts_whatever_it_is_doing(held_by: str) -> None:
    floor = Floor()
    setattr(floor, held_by, 1 if held_by == "pending_sentences" else True)
    assert floor.caller_starts() is True
    assert (floor.turn_id, floor.epoch, floor.pending_sentences) == (1, 1, 0)


def test_without_barge_in_speech_over_the_agent_is_only_a_turn() -> None:
    floor = Floor(barge_in=False, agent_playing=True)
    assert floor.caller_starts() is False
    assert floor.epoch == 0


def test_the_floor_is_free_again_after_the_endpoint() -> None:
    floor = Floor()
    floor.caller_starts()
    floor.caller_stops()
    assert not floor.caller_speaking
