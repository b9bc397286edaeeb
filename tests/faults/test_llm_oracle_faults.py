"""The oracle's server as a process: its errors, its death, ours."""

import asyncio
import json
import os
import signal
import sys

import httpx
import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import HarnessError, ModelError, ModelStatusError, UsageError
from callm_voice.llm.factory import open_model
from callm_voice.llm.spec import BUILT_IN, OpenAiSpec, OracleSpec
from callm_voice.llm.types import ChatRequest, Finished, TextDelta, ToolCallReady, UsageReport

pytestmark = pytest.mark.faults
SCRIPT = [{"say": "Hello, who is calling?"}, {"hear": {}}, {"say": "One moment."}, {"call": "find", "args": {"n": 1}}]
TOOL = {"type": "function", "function": {"name": "find", "parameters": {}}}
GREETED = [{"role": "assistant", "content": "Hello, who is calling?"}, {"role": "user", "content": "Maria"}]
QUICK = OracleSpec(ttft_ms=0, tokens_per_s=1000)


@pytest.fixture
def clock():
    clock = RealClock()
    yield clock
    clock.close()


@pytest.fixture
async def oracle(clock):
    """An open oracle at full speed."""
    model = await open_model(QUICK, name="oracle", clock=clock, script=SCRIPT)
    await model.warm([])
    yield model
    await model.aclose()


async def ask(model, messages, tools=(TOOL,)):
    async with asyncio.timeout(20):
        return [event async for event in model.stream(ChatRequest(messages, tools))]


async def test_it_plays_words_and_calls_with_estimated_counts(oracle):
    events = await ask(oracle, GREETED)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "One moment."
    assert [(e.name, e.arguments) for e in events if isinstance(e, ToolCallReady)] == [("find", {"n": 1})]
    assert [e.completion_tokens for e in events if isinstance(e, UsageReport)] == [7]
    assert events[-1] == Finished(events[-1].t_s, "tool_calls")


async def test_its_log_says_what_it_did(oracle):
    await ask(oracle, GREETED)
    entry = (await oracle.log())[-1]
    assert (entry["step"], entry["text"], entry["calls"], entry["cut"]) == (3, "One moment.", ["find"], False)
    assert entry["received_s"] <= entry["first_token_s"] <= entry["last_token_s"] <= entry["ended_s"]


async def test_a_fault_of_the_pack_is_a_400_that_names_the_tool(oracle):
    with pytest.raises(ModelStatusError, match=r"HTTP 400.*step 4 calls 'find', which is not offered here"):
        await ask(oracle, GREETED, tools=())


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"messages": ["not a message"]}', b'{"messages": 7}'])
async def test_a_request_that_is_none_is_a_400(oracle, body):
    async with httpx.AsyncClient() as http:
        url = f"http://127.0.0.1:{oracle.server.ready['port']}/v1/chat/completions"
        response = await http.post(url, content=body)
    assert response.status_code == 400
    assert "not a chat completion request" in response.json()["error"]["message"]


async def test_a_client_that_leaves_is_seen_in_the_log(clock):
    model = await open_model(OracleSpec(ttft_ms=0, tokens_per_s=20), name="oracle", clock=clock, script=SCRIPT)
    events = model.stream(ChatRequest([], [TOOL]))
    async for event in events:
        if isinstance(event, TextDelta):
            break
    await events.aclose()
    async with asyncio.timeout(10):
        while not (await model.log())[-1]["ended_s"]:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.02)
    assert (await model.log())[-1]["cut"]
    await model.aclose()


async def test_a_server_that_dies_is_a_model_error_and_no_hang(oracle):
    os.kill(oracle.server.pid, signal.SIGKILL)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        await ask(oracle, GREETED)


async def test_closing_ends_the_process(clock):
    model = await open_model(QUICK, name="oracle", clock=clock, script=SCRIPT)
    assert model.server.alive
    await model.aclose()
    assert not model.server.alive


async def test_a_wrong_script_is_a_usage_error_before_anything_starts(clock):
    with pytest.raises(UsageError, match="dialogue step 1"):
        await open_model(QUICK, name="oracle", clock=clock, script=[{"shout": "Hi"}])


async def test_an_oracle_without_script_is_our_own_fault(clock):
    with pytest.raises(HarnessError, match="dialogue"):
        await open_model(QUICK, name="oracle", clock=clock, script=None)


async def test_a_script_goes_to_no_other_model(clock):
    """Blindness: gold reaches nobody but the oracle."""
    with pytest.raises(HarnessError, match="not the oracle"):
        await open_model(OpenAiSpec(base_url="http://h/v1", model="m"), name="m", clock=clock, script=SCRIPT)
    assert BUILT_IN  # the embedded one is refused by the same line, before its weight is looked for
    with pytest.raises(HarnessError, match="not the oracle"):
        await open_model(BUILT_IN["qwen2.5-coder-0.5b"], name="q", clock=clock, script=SCRIPT)


async def test_the_server_ends_when_its_stdin_does(tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callm_voice.llm.oracle_server", "--script", str(script),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    assert ready["port"] > 0
    async with asyncio.timeout(20):
        _, errors = await process.communicate(b"")  # closes stdin
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("content", ["[", '[{"shout": 1}]', "null"])
async def test_the_server_refuses_a_wrong_script_in_one_line(tmp_path, content):
    script = tmp_path / "script.json"
    script.write_text(content)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callm_voice.llm.oracle_server", "--script", str(script),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, errors = await process.communicate(b"")
    assert process.returncode == 2
    assert str(script) in errors.decode()
    assert "Traceback" not in errors.decode()
