"""What is said while a desk's prompts are read for the first time."""

from __future__ import annotations

import pytest

from callm_voice.core import paths
from callm_voice.core.clock import RealClock
from callm_voice.core.events import EventLog
from callm_voice.desk.agent import DeskAgent
from callm_voice.desk.pack import load_pack
from callm_voice.llm.scripted import ScriptedChatModel
from callm_voice.llm.types import ChatRequest
from callm_voice.llm.warm_progress import WarmProgress

pytestmark = pytest.mark.unit


def prompt(role: str, words: int) -> ChatRequest:
    return ChatRequest([{"role": "system", "content": "word " * words}], [], role=role)


PROMPTS = [prompt("router", 1_000), prompt("billing", 1_000), prompt("records", 2_000), prompt("clinical", 1_000)]


def test_nothing_is_announced_when_all_prompts_are_in_the_cache() -> None:
    assert WarmProgress(PROMPTS, []).begins() is None


def test_it_says_how_many_have_to_be_read_and_that_it_is_done_once() -> None:
    text = WarmProgress(PROMPTS, [2, 3]).begins()
    assert text is not None
    assert text.startswith("2 of 4 prompts have to be read before the call; this is done once")


def test_each_prompt_has_its_place_its_tokens_and_its_time() -> None:
    progress = WarmProgress(PROMPTS, [1])
    assert progress.reading(1) == "router (1 of 4): reading the prompt for the first time"
    assert progress.read(1, 3_012, 31.4) == "router (1 of 4): prompt read (3,012 tokens in 31 s)"
    assert progress.restored(2) == "billing (2 of 4): prompt restored from the cache"


def test_the_rest_is_estimated_by_size_from_what_was_read() -> None:
    progress = WarmProgress(PROMPTS, [1, 3, 4])
    assert progress.read(1, None, 40.0).endswith("prompt read (in 40 s); 2 to go, about 2 min")
    assert progress.read(3, None, 80.0).endswith("; 1 to go, about 40 s")
    assert progress.read(4, None, 40.0).endswith("(in 40 s)")


def test_a_damaged_file_of_the_cache_is_one_more_to_read() -> None:
    progress = WarmProgress(PROMPTS, [1])
    progress.reading(1)
    progress.read(1, None, 30.0)
    progress.reading(4)
    assert progress.read(4, None, 30.0).endswith("prompt read (in 30 s)")


def test_what_is_read_before_a_call_is_every_role_of_the_pack_and_never_a_task_s_own_choice() -> None:
    pack = load_pack(paths.find("packs", "healthcare"))
    clock = RealClock()
    database = pack.open_database()
    try:
        desk = DeskAgent(pack, database, ScriptedChatModel([], clock), EventLog(clock), clock)
        roles = [request.role for request in desk.requests_to_warm()]
    finally:
        database.close()
        clock.close()
    assert roles[0] == pack.file.start_role
    assert sorted(roles) == sorted(pack.roles)
