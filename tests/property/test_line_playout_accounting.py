"""Whatever is put, pulled, ended and cleared: played + dropped = put, and sound comes out as it went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.line.playout import Ended, Notice, PlayoutQueue, Started

pytestmark = pytest.mark.property

FRAME = 7
steps = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 30)),
    st.tuples(st.just("new"), st.integers(0, 30)),
    st.tuples(st.just("end"), st.just(0)),
    st.tuples(st.just("pull"), st.integers(1, 4)),
    st.tuples(st.just("clear"), st.just(0)),
)


class Owner:
    """Does what a leg does and keeps its own account. Each sample put is a number of its own, never 0."""

    def __init__(self) -> None:
        self.queue = PlayoutQueue(FRAME)
        self.tag = 0
        self.open = False
        self.next_sample = 1
        self.put_of: dict[int, list[int]] = {}
        self.frames: list[list[int]] = []
        self.notices: list[Notice] = []

    def put(self, samples: int, *, new: bool) -> None:
        if new or not self.open:
            self.tag, self.open = self.tag + 1, True
        values = list(range(self.next_sample, self.next_sample + samples))
        self.next_sample += samples
        self.put_of.setdefault(self.tag, []).extend(values)
        assert self.queue.put(self.tag, np.array(values, dtype=np.int16))

    def end(self) -> None:
        if self.open:
            self.queue.end(self.tag)
            self.open = False

    def pull(self, times: int) -> None:
        for _ in range(times):
            frame, notices = self.queue.pull()
            self.frames += [] if frame is None else [frame.tolist()]
            self.notices += notices

    def clear(self) -> None:
        self.notices += self.queue.clear()
        self.open = False

    def run(self, script: list[tuple[str, int]]) -> None:
        for what, number in script:
            match what:
                case "put" | "new":
                    self.put(number, new=what == "new")
                case "end":
                    self.end()
                case "pull":
                    self.pull(number)
                case "clear":
                    self.clear()
        self.clear()

    def ended(self) -> list[Ended]:
        return [n for n in self.notices if isinstance(n, Ended)]


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=40))
def test_played_and_dropped_sum_to_what_was_put(script: list[tuple[str, int]]) -> None:
    owner = Owner()
    owner.run(script)
    ended = {n.tag: n for n in owner.ended()}
    assert {t: n.samples_total for t, n in ended.items()} == {t: len(v) for t, v in owner.put_of.items()}
    assert all(0 <= n.samples_played <= n.samples_total for n in ended.values())
    assert all(n.cut or n.samples_played == n.samples_total for n in ended.values())
    played = [s for frame in owner.frames for s in frame if s]
    assert played == [s for t, v in owner.put_of.items() for s in v[: ended[t].samples_played]]
    assert owner.queue.queued_samples == 0


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=40))
def test_each_tag_ends_once_in_order_and_starts_if_it_played(script: list[tuple[str, int]]) -> None:
    owner = Owner()
    owner.run(script)
    started = [n.tag for n in owner.notices if isinstance(n, Started)]
    assert [n.tag for n in owner.ended()] == sorted(owner.put_of)
    assert started == [n.tag for n in owner.ended() if n.samples_played]
    for tag in started:
        kinds = [type(n) for n in owner.notices if n.tag == tag]
        assert kinds == [Started, Ended]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=20))
def test_silence_is_only_padded_after_a_tag_that_has_ended(puts: list[tuple[int, bool]]) -> None:
    """Put everything, end the last tag, pull until it is empty: no gap inside, less than a packet at the end."""
    owner = Owner()
    for samples, new in puts:
        owner.put(samples, new=new)
    owner.end()
    owner.pull(len(puts) * 6 + 1)
    flat = [s for frame in owner.frames for s in frame]
    total = sum(samples for samples, _ in puts)
    assert flat[:total] == list(range(1, total + 1))
    assert not any(flat[total:])
    assert len(flat) == -(-total // FRAME) * FRAME
