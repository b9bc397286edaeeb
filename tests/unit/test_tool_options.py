"""How a call's tools are offered: what a user may say, and what is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.tool_options import TOKEN_ENV, ToolOptions, choose_token
from callm_voice.cli.call import call_spec
from callm_voice.core.errors import UsageError

pytestmark = pytest.mark.unit
CALL = {"task": "customer_support/C1-E1", "model": "mine", "agent": "ws://127.0.0.1:1/", "run_dir": Path("runs")}


def test_a_token_is_drawn_anew_for_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_ENV, raising=False)
    assert choose_token() != choose_token()
    assert len(choose_token()) >= 32


def test_a_token_may_be_chosen_but_not_one_that_can_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_ENV, " 0123456789abcdef ")
    assert choose_token() == "0123456789abcdef"
    for bad in ("short", "has a space in it....", "slash/slash/slash/slash", "x" * 201):
        monkeypatch.setenv(TOKEN_ENV, bad)
        with pytest.raises(UsageError, match=f"{TOKEN_ENV}: expected 16 to 200") as refused:
            choose_token()
        assert bad not in refused.value.one_line()


@pytest.mark.parametrize(
    ("tools", "option"),
    [
        ({"offer": "some"}, "--tools: "),
        ({"port": 70_000}, "--tools-port: "),
        ({"public_url": "tunnel"}, "--tools-url: "),
        ({"public_url": "http://host/?x=1"}, "--tools-url: "),
        ({"public_url": "ftp://host/"}, "--tools-url: "),
    ],
)
def test_a_wrong_option_is_named(tools: dict[str, object], option: str) -> None:
    with pytest.raises(UsageError) as refused:
        call_spec(**CALL, tools=tools)
    assert refused.value.one_line().startswith(option)


def test_tools_are_offered_by_role_on_this_machine_unless_said_otherwise() -> None:
    assert call_spec(**CALL).tools == ToolOptions(offer="role", host="127.0.0.1", port=0, public_url=None)
