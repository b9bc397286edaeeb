"""Prompts: of the wanted size, cold where they must be, warm where they must be, the same bytes for the same seed."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from callm_voice.bench.profile.prompts import (
    RULE_OF_THUMB,
    PromptMaker,
    oracle_script,
    scale_from,
    tool_chars,
    tools_of,
)
from callm_voice.bench.profile.prose import PARAGRAPHS, prose
from callm_voice.core import paths
from callm_voice.core.latency_profile import PromptScale
from callm_voice.desk.pack import load_pack
from callm_voice.llm.oracle_replay import next_reply
from callm_voice.llm.oracle_script import parse_script
from callm_voice.llm.types import ChatRequest

pytestmark = pytest.mark.unit

SCALE = PromptScale(
    base_tokens=50, tokens_per_prose_char=0.22, tokens_per_tool_char=0.25, tool_base_tokens=90, measured=True
)
ROLE = "profile-0"


@pytest.fixture(scope="module")
def maker() -> PromptMaker:
    tools, after = tools_of(load_pack(paths.find("packs", "healthcare")))
    return PromptMaker(tools, after, SCALE, seed=1, salt="salt", answer_tokens=64)


def as_text(request: ChatRequest) -> str:
    return json.dumps([list(request.tools), list(request.messages)])


def estimate(request: ChatRequest) -> float:
    """Tokens by the scale; the system prompt's own head and the caller's words are its base."""
    system = str(request.messages[0]["content"]).partition("\n\n")[2]
    tools = SCALE.tool_base_tokens + tool_chars(request.tools) * SCALE.tokens_per_tool_char if request.tools else 0
    return SCALE.base_tokens + len(system) * SCALE.tokens_per_prose_char + tools


@pytest.mark.parametrize("tokens", [500, 1000, 2000, 4000, 8000, 16000])
def test_a_prompt_has_the_wanted_size(maker: PromptMaker, tokens: int) -> None:
    assert estimate(maker.cold(tokens, "k", role=ROLE)) == pytest.approx(tokens, rel=0.02)


@pytest.mark.parametrize("tokens", [2000, 4000, 16000])
def test_a_prompt_of_a_desks_size_has_real_tools(maker: PromptMaker, tokens: int) -> None:
    request = maker.cold(tokens, "k", role=ROLE)
    assert len(request.tools) >= 4
    assert {"type", "function"} <= set(request.tools[0])


def test_two_cold_prompts_differ_from_their_first_words_on(maker: PromptMaker) -> None:
    one, other = maker.cold(2000, "a", role=ROLE), maker.cold(2000, "b", role=ROLE)
    begin = [str(r.messages[0]["content"])[:20] for r in (one, other)]
    tool = [r.tools[0]["function"]["description"][:15] for r in (one, other)]
    assert begin[0] != begin[1]
    assert tool[0] != tool[1]


def test_another_run_has_other_prompts(maker: PromptMaker) -> None:
    again = PromptMaker(maker.tools, maker.tools_after_handoff, SCALE, seed=1, salt="later", answer_tokens=64)
    assert as_text(again.cold(500, "a", role=ROLE)) != as_text(maker.cold(500, "a", role=ROLE))


def test_the_same_seed_and_salt_give_the_same_bytes(maker: PromptMaker) -> None:
    again = PromptMaker(maker.tools, maker.tools_after_handoff, SCALE, seed=1, salt="salt", answer_tokens=64)
    assert as_text(again.handoff(4000, "a", role=ROLE)) == as_text(maker.handoff(4000, "a", role=ROLE))


def test_a_warm_prompt_begins_with_the_whole_cold_one(maker: PromptMaker) -> None:
    cold = maker.cold(2000, "a", role=ROLE)
    for later in (maker.warm(2000, "a", 0, role=ROLE), maker.tool_result(2000, "a", role=ROLE)):
        assert list(later.tools) == list(cold.tools)
        assert list(later.messages)[: len(cold.messages)] == list(cold.messages)
        assert len(later.messages) > len(cold.messages)


def test_warm_turns_differ_in_the_callers_last_line_alone(maker: PromptMaker) -> None:
    turns = [list(maker.warm(2000, "a", turn, role=ROLE).messages) for turn in range(3)]
    assert all(a[:-1] == b[:-1] and a[-1] != b[-1] for a, b in pairwise(turns))


def test_a_handoff_swaps_prompt_and_tools_and_keeps_the_history(maker: PromptMaker) -> None:
    before, after = maker.tool_result(4000, "a", role=ROLE), maker.handoff(4000, "b", role=ROLE)
    assert before.messages[0] != after.messages[0]
    names = [[t["function"]["name"] for t in r.tools] for r in (before, after)]
    assert names[0] != names[1]
    assert list(after.messages)[1 : len(before.messages)] == list(before.messages)[1:]


def test_after_the_role_was_read_a_handoff_finds_its_prompt_warm(maker: PromptMaker) -> None:
    read, after = maker.next_role(4000, "a", role=ROLE), maker.handoff(4000, "a", role=ROLE)
    assert (read.messages[0], list(read.tools)) == (after.messages[0], list(after.tools))


def test_every_tool_call_of_a_history_has_its_result(maker: PromptMaker) -> None:
    messages = maker.handoff(1000, "a", role=ROLE).messages
    asked = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
    assert asked == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert len(set(asked)) == 2


def test_the_oracle_has_words_for_every_request(maker: PromptMaker) -> None:
    steps = parse_script(oracle_script())
    requests = [
        maker.cold(500, "a", role=ROLE),
        *(maker.warm(500, "a", turn, role=ROLE) for turn in range(6)),
        maker.tool_result(500, "a", role=ROLE),
        maker.next_role(500, "a", role=ROLE),
        maker.handoff(500, "a", role=ROLE),
        maker.plain(100, (), "a", role=ROLE),
    ]
    for request in requests:
        reply = next_reply(steps, request.messages, [])
        assert reply.text
        assert reply.calls == ()


def test_prose_is_exactly_as_long_as_asked_and_no_section_comes_twice() -> None:
    text = prose(40_000, tuple(range(len(PARAGRAPHS))))
    assert len(text) == 40_000
    headings = [line for line in text.splitlines() if line.startswith("# ")]
    assert len(headings) == len(set(headings)) > 50


def test_four_requests_give_the_scale() -> None:
    scale = scale_from(
        30 + 200, 30 + 650, 30 + 200 + 90 + 200, 30 + 200 + 90 + 600, chars=(800, 2600), tool_chars=(800, 2400)
    )
    assert scale == PromptScale(
        base_tokens=30, tokens_per_prose_char=0.25, tokens_per_tool_char=0.25, tool_base_tokens=90, measured=True
    )


@pytest.mark.parametrize("counts", [(10, 10, 10, 10), (700, 200, 900, 1200), (100, 50_000, 400, 800)])
def test_counts_that_cannot_be_fall_back_to_a_rule_of_thumb(counts: tuple[int, int, int, int]) -> None:
    assert scale_from(*counts, chars=(800, 2600), tool_chars=(800, 2400)) == RULE_OF_THUMB
