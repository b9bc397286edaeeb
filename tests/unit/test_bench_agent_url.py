"""What `--agent` means, what it is called, and that nothing secret of it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.agent_url import parse_agent
from callm_voice.bench.callspec import CallSpec
from callm_voice.core.errors import UsageError

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("ws://127.0.0.1:8765/media", "twilio", "agent-127.0.0.1-8765"),
        ("wss://bot.example/media", "twilio", "agent-bot.example"),
        ("webrtc:http://localhost:7860/api/offer", "webrtc", "agent-localhost-7860"),
        ("webrtc:https://[::1]:7860/api/offer", "webrtc", "agent-1-7860"),
        ("ws://127.1:8765/", "twilio", "agent-127.1-8765"),
        ("wss://my_bot.example./media", "twilio", "agent-my-bot.example."),
    ],
)
def test_an_address_is_of_one_kind_and_gives_a_name(text: str, kind: str, name: str) -> None:
    agent = parse_agent(text)
    assert (agent.kind, agent.name, agent.shown) == (kind, name, text)


@pytest.mark.parametrize(
    "text", ["wss://me:s3cret@bot.example/media?key=s3cret", "webrtc:https://me:s3cret@b/o?k=s3cret"]
)
def test_what_may_be_secret_is_not_shown(text: str) -> None:
    assert "s3cret" not in parse_agent(text).shown + parse_agent(text).name


@pytest.mark.parametrize(
    "text",
    ["", "http://127.0.0.1/offer", "webrtc:", "webrtc:ws://127.0.0.1/x", "ws:///path", "ws://host:port/", "webrtc:http://[",
     "ws://host/#s3cret", "file:///etc/s3cret", "ws://127.0.0.256/s3cret", "webrtc:http://1.2.3.999/?key=s3cret",
     "ws://a..b/s3cret", f"webrtc:http://{'x' * 64}/s3cret"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UsageError, match="expected ws://HOST") as caught:
        parse_agent(text)
    assert "s3cret" not in caught.value.message


def test_a_user_without_a_password_is_refused_where_it_cannot_be_sent() -> None:
    with pytest.raises(UsageError, match="without a password") as caught:
        parse_agent("ws://s3cret@bot.example/media")
    assert "s3cret" not in caught.value.message
    assert parse_agent("webrtc:https://me@bot.example/offer").kind == "webrtc"


def test_a_spec_with_a_wrong_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        CallSpec(task="a/b", model="m", agent="ftp://x", run_dir=tmp_path)
