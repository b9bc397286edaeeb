"""The playout queue: packing, notices, cutting."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import HarnessError
from callm_voice.line.playout import Ended, PlayoutQueue, Started

pytestmark = pytest.mark.unit


def pcm(*values: int) -> Pcm:
    return np.array(values, dtype=np.int16)


def pulled(queue: PlayoutQueue) -> tuple[list[int] | None, list[Started | Ended]]:
    frame, notices = queue.pull()
    return (None if frame is None else frame.tolist()), notices


def test_an_empty_queue_is_silent() -> None:
    assert pulled(PlayoutQueue(4)) == (None, [])


def test_puts_of_one_tag_are_packed_into_packets() -> None:
    queue = PlayoutQueue(4)
    for part in (pcm(1), pcm(2, 3), pcm(), pcm(4, 5, 6, 7, 8)):
        queue.put(1, part)
    assert pulled(queue) == ([1, 2, 3, 4], [Started(1, 0)])
    assert pulled(queue) == ([5, 6, 7, 8], [])


def test_less_than_a_packet_is_held_while_more_may_come() -> None:
    queue = PlayoutQueue(4)
    queue.put(1, pcm(1, 2, 3))
    assert pulled(queue) == (None, [])
    queue.put(1, pcm(4))
    assert pulled(queue) == ([1, 2, 3, 4], [Started(1, 0)])


def test_the_last_packet_is_padded_once_the_tag_has_ended() -> None:
    queue = PlayoutQueue(4)
    queue.put(1, pcm(1, 2, 3))
    queue.end(1)
    assert pulled(queue) == ([1, 2, 3, 0], [Started(1, 0), Ended(1, 3, 3)])


def test_the_next_tag_goes_on_in_the_same_packet() -> None:
    queue = PlayoutQueue(4)
    queue.put(1, pcm(1, 2, 3))
    queue.end(1)
    queue.put(2, pcm(4, 5))
    queue.end(2)
    assert pulled(queue) == ([1, 2, 3, 4], [Started(1, 0), Ended(1, 3, 3), Started(2, 3)])
    assert pulled(queue) == ([5, 0, 0, 0], [Ended(2, 2, 2)])


def test_the_end_of_a_tag_is_not_held_back_by_an_open_tag_without_sound() -> None:
    queue = PlayoutQueue(4)
    queue.put(1, pcm(1, 2))
    queue.put(2, pcm())
    assert pulled(queue) == ([1, 2, 0, 0], [Started(1, 0), Ended(1, 2, 2)])


def test_a_new_tag_completes_the_one_before() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1, 2))
    queue.put(2, pcm(3, 4))
    assert pulled(queue) == ([1, 2], [Started(1, 0), Ended(1, 2, 2)])


def test_an_end_that_comes_after_the_last_packet_is_noticed_at_the_next_pull() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1, 2))
    assert pulled(queue) == ([1, 2], [Started(1, 0)])
    queue.end(1)
    assert pulled(queue) == (None, [Ended(1, 2, 2)])
    assert pulled(queue) == (None, [])


def test_a_tag_without_sound_ends_without_having_started() -> None:
    queue = PlayoutQueue(2)
    queue.end(7)
    assert pulled(queue) == (None, [Ended(7, 0, 0)])


def test_clear_tells_what_was_played_of_each_tag() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1, 2, 3, 4, 5))
    queue.put(2, pcm(6, 7, 8))
    queue.pull()
    assert queue.clear() == [Ended(1, 2, 5, cut=True), Ended(2, 0, 3, cut=True)]
    assert pulled(queue) == (None, [])
    assert queue.queued_samples == 0


def test_a_tag_that_was_played_but_not_ended_counts_as_cut() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1, 2))
    queue.pull()
    assert queue.clear() == [Ended(1, 2, 2, cut=True)]


def test_a_tag_that_was_played_to_its_end_is_not_cut_by_a_later_clear() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1, 2))
    queue.pull()
    queue.end(1)
    assert queue.clear() == [Ended(1, 2, 2, cut=False)]
    assert queue.clear() == []


def test_late_sound_of_a_cut_tag_is_dropped_and_the_next_tag_plays() -> None:
    queue = PlayoutQueue(2)
    assert queue.put(1, pcm(1, 2, 3))
    queue.clear()
    assert not queue.put(1, pcm(4, 5))
    queue.end(1)
    queue.put(2, pcm(6, 7))
    assert pulled(queue) == ([6, 7], [Started(2, 0)])


def test_sound_after_the_end_of_a_tag_is_our_own_fault() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1))
    queue.end(1)
    with pytest.raises(HarnessError, match="tag 1 has ended"):
        queue.put(1, pcm(2))


def test_sound_for_a_tag_that_was_followed_by_another_is_our_own_fault() -> None:
    queue = PlayoutQueue(2)
    queue.put(1, pcm(1))
    queue.put(2, pcm(2))
    with pytest.raises(HarnessError, match="tag 1 has ended"):
        queue.put(1, pcm(3))


@pytest.mark.parametrize("sound", [np.zeros(4, np.float32), np.zeros((2, 2), np.int16)], ids=["float", "stereo"])
def test_only_mono_int16_is_taken(sound: np.ndarray) -> None:
    with pytest.raises(HarnessError, match="expected mono int16"):
        PlayoutQueue(4).put(1, sound)


def test_sound_is_copied_when_put() -> None:
    queue = PlayoutQueue(2)
    buffer = pcm(1, 2)
    queue.put(1, buffer)
    buffer[:] = 0
    assert pulled(queue)[0] == [1, 2]


def test_a_producer_that_is_late_within_a_tag_is_counted() -> None:
    queue = PlayoutQueue(2)
    queue.pull()
    queue.put(1, pcm(1, 2))
    queue.pull()
    queue.pull()
    queue.end(1)
    queue.pull()
    assert queue.underruns == 1
