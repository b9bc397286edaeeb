"""What is asked in which round, and how long it is said to take."""

from __future__ import annotations

from collections import Counter

import pytest
from support.manual_clock import ManualClock

from callm_voice.bench.profile.plan import WARM_TURNS, Step, capped, desk_size, round_steps
from callm_voice.bench.profile.progress import Progress, duration
from callm_voice.bench.profile.prompts import RULE_OF_THUMB, PromptMaker

pytestmark = pytest.mark.unit

SIZES, LEVELS = (500, 1000, 2000, 4000, 8000), (1, 2, 4)


def test_each_round_asks_everything_once() -> None:
    for number in (1, 2, 3):
        kinds = Counter((step.kind, step.tokens, step.concurrency) for step in round_steps(number, SIZES, LEVELS, 1))
        assert {key for key in kinds if key[0] == "cold"} == {("cold", size, 1) for size in SIZES}
        assert all(kinds["cold", size, 1] == 1 for size in SIZES)
        assert {size: kinds["warm", size, 1] for size in SIZES} == {
            **dict.fromkeys(SIZES, 1), 4000: WARM_TURNS
        }  # fmt: skip
        assert [kinds["concurrent", 4000, level] for level in LEVELS] == [1, 1, 1]
        assert kinds["tool_result", 4000, 1] == kinds["handoff_cold", 4000, 1] == kinds["handoff_warm", 4000, 1] == 1


def test_a_warm_turn_follows_the_cold_prompt_that_it_goes_on_from() -> None:
    steps = round_steps(1, SIZES, LEVELS, 1)
    for at, step in enumerate(steps):
        if step.kind in ("warm", "tool_result"):
            before = steps[at - 1]
            assert (before.key, before.tokens) == (step.key, step.tokens)
            assert before.kind in ("cold", "warm")


def test_no_cold_prompt_comes_twice_in_a_profile() -> None:
    keys = [
        (step.tokens, step.key)
        for number in range(1, 11)
        for step in round_steps(number, SIZES, LEVELS, 1)
        if step.kind in ("cold", "handoff_cold")
    ]
    assert len(keys) == len(set(keys))


def test_the_order_is_drawn_for_each_round_by_the_seed() -> None:
    rounds = [[(s.kind, s.tokens) for s in round_steps(number, SIZES, LEVELS, 1)] for number in range(1, 6)]
    assert len({tuple(r) for r in rounds}) > 1
    assert rounds == [[(s.kind, s.tokens) for s in round_steps(n, SIZES, LEVELS, 1)] for n in range(1, 6)]


@pytest.mark.parametrize(
    ("sizes", "desk"), [((500, 4000, 8000), 4000), ((500, 1000), 1000), ((6000, 8000), 6000), ((3000, 5000), 3000)]
)
def test_the_headline_is_measured_at_a_desks_size(sizes: tuple[int, ...], desk: int) -> None:
    assert desk_size(sizes) == desk


def test_sizes_over_the_limit_are_measured_at_it_once() -> None:
    assert capped((500, 8000, 16000), 7680) == (500, 7680)
    assert capped((16000, 500), None) == (500, 16000)


def test_progress_says_what_is_left_and_is_not_chatty() -> None:
    clock, lines = ManualClock(), []
    progress = Progress(2, clock, lines.append)
    rounds = [[Step("warm", 1000, "a")] * 10, [Step("warm", 1000, "a")] * 10]
    progress.begin(rounds)
    for number, steps in enumerate(rounds, 1):
        for step in steps:
            clock.spend(1.0)
            progress.done(step, number, errors=0)
    assert lines[0] == "20 requests in 2 rounds, about 20,000 prompt tokens"
    assert lines[1] == "round 1 of 2: 5 of 20 requests; about 15 s left"
    assert lines[-1] == "round 2 of 2: 20 of 20 requests; about 0 s left"
    assert len(lines) == 5


@pytest.mark.parametrize(("seconds", "text"), [(12.4, "12 s"), (200, "3 min"), (7800, "2 h 10 min")])
def test_a_duration_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_turn_whose_cold_prompt_failed_has_it_read_first() -> None:
    maker = PromptMaker((), (), RULE_OF_THUMB, seed=1, salt="s", answer_tokens=8)
    step = Step("warm", 500, "mine")
    assert list(step.prepare(maker, read="mine")) == []
    assert list(step.prepare(maker, read="another")) == [maker.cold(500, "mine", role="profile-0")]
