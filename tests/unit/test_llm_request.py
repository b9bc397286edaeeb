"""The request's body."""

import json

import pytest

from callm_voice.llm.request import offered_tools, request_body
from callm_voice.llm.spec import OpenAiSpec
from callm_voice.llm.types import ChatRequest

pytestmark = pytest.mark.unit
TOOL = {"type": "function", "function": {"name": "get_balance", "parameters": {}}}
USER = {"role": "user", "content": "Hi"}


def body(request=None, extra=None, **spec):
    request = request or ChatRequest([USER])
    return json.loads(request_body(OpenAiSpec(base_url="http://h/v1", model="m", **spec), request, extra))


def test_only_what_was_said_is_sent():
    assert body() == {
        "model": "m", "messages": [USER], "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_sampling_goes_in_also_when_it_is_zero():
    sent = body(temperature=0, top_p=0.5, seed=0, max_tokens=9)
    assert (sent["temperature"], sent["top_p"], sent["seed"], sent["max_tokens"]) == (0, 0.5, 0, 9)


def test_the_request_goes_before_the_spec_for_max_tokens():
    assert body(ChatRequest([USER], max_tokens=3), max_tokens=9)["max_tokens"] == 3


def test_max_tokens_can_have_the_newer_name():
    sent = body(max_tokens=9, max_tokens_key="max_completion_tokens")
    assert (sent.get("max_tokens"), sent["max_completion_tokens"]) == (None, 9)


def test_extra_fields_are_merged_last():
    sent = body(extra={"id_slot": 2}, extra_body={"stream_options": {}, "id_slot": 1})
    assert (sent["stream_options"], sent["id_slot"]) == ({}, 2)


@pytest.mark.parametrize(("supported", "role"), [(True, "developer"), (False, "system")])
def test_developer_messages_are_sent_as_the_server_takes_them(supported, role):
    request = ChatRequest([{"role": "developer", "content": "x"}])
    assert body(request, supports_developer_role=supported)["messages"][0]["role"] == role


def test_tools_are_sent_and_named():
    request = ChatRequest([USER], [TOOL])
    assert body(request)["tools"] == [TOOL]
    assert offered_tools(request) == {"get_balance"}


def test_a_lone_surrogate_does_not_break_the_request():
    assert request_body(
        OpenAiSpec(base_url="http://h/v1", model="m"), ChatRequest([{"role": "user", "content": "\ud800"}])
    )
