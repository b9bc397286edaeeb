"""What an agent that runs elsewhere may use of a call's desk, and that its calls are written down like our own's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.manual_clock import ManualClock

from callm_voice.bench.agent_tools import OpenTools, _Turns
from callm_voice.bench.tool_options import Offer, ToolOptions
from callm_voice.bench.toolserver import ToolServer
from callm_voice.bench.toolserver_desk import ToolDesk
from callm_voice.core import paths
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog, HandedOff, ToolFinished, ToolStarted
from callm_voice.desk.agent import AgentLimits
from callm_voice.desk.database import CallDatabase
from callm_voice.desk.pack import Pack, load_pack
from callm_voice.desk.switchboard import REFUSALS_WRITTEN

pytestmark = pytest.mark.unit
FIND = {"phone_e164": "+15035550112", "full_name": "Walter Simmons"}


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(paths.find("packs", "customer_support"))


class Bench:
    """A desk with what it wrote."""

    def __init__(self, pack: Pack, offer: Offer) -> None:
        clock = ManualClock()
        self.log = EventLog(clock)
        self.log.start_line(clock.now_s())
        self.database: CallDatabase = pack.open_database()
        self.broken: list[CallmError] = []
        self.turn = 3
        self.desk = ToolDesk(
            pack, self.database, self.log, clock, offer=offer, turn_id=lambda: self.turn, on_broken=self.broken.append
        )

    def names(self) -> list[str]:
        return [schema["function"]["name"] for schema in self.desk.tools()]


@pytest.fixture
def role(pack: Pack) -> Iterator[Bench]:
    bench = Bench(pack, "role")
    yield bench
    bench.database.close()


@pytest.fixture
def everything(pack: Pack) -> Iterator[Bench]:
    bench = Bench(pack, "all")
    yield bench
    bench.database.close()


def test_the_tools_are_those_of_the_role_and_a_handoff_changes_them_and_the_prompt(role: Bench, pack: Pack) -> None:
    assert role.desk.role == pack.file.start_role
    assert "find_account" not in role.names()
    before = role.desk.prompt()
    assert role.desk.call("transfer_to_identity", {"next_intent": "account"}) == {"success": True, "role": "identity"}
    assert role.desk.role == "identity"
    assert "find_account" in role.names()
    assert role.desk.prompt() == pack.role("identity").system_prompt != before


def test_a_tool_of_another_role_is_refused_as_it_is_for_our_own_agent(role: Bench) -> None:
    output = role.desk.call("find_account", FIND)
    assert (output["ok"], output["error_code"]) == (False, "not_available_in_role")
    output = role.desk.call("no_such_tool", {})
    assert (output["ok"], output["error_code"]) == (False, "unknown_tool")


def test_calls_and_handoffs_are_traced_and_told_with_the_callers_turn(role: Bench) -> None:
    role.desk.call("transfer_to_identity", {})
    role.turn = 4
    output = role.desk.call("find_account", FIND)
    assert output["ok"] is True
    trace = role.desk.trace()
    assert [(c.role, c.name, c.ok, c.is_transfer) for c in trace.calls] == [
        ("router", "transfer_to_identity", True, True), ("identity", "find_account", True, False),
    ]  # fmt: skip
    assert [(h.from_role, h.to_role) for h in trace.handoffs] == [("router", "identity")]
    assert trace.calls[1].args == FIND
    assert trace.calls[1].output == output
    assert len({c.call_id for c in trace.calls}) == 2
    started = role.log.of(ToolStarted)
    assert [(e.turn_id, e.inference_id, e.role) for e in started] == [(3, 0, "router"), (4, 0, "identity")]
    assert [e.ok for e in role.log.of(ToolFinished)] == [True, True]
    assert [(e.turn_id, e.to_role) for e in role.log.of(HandedOff)] == [(3, "identity")]


def test_all_offers_every_tool_and_every_transfer_from_the_first_word(everything: Bench, pack: Pack) -> None:
    names = everything.names()
    assert set(names) == {*pack.tools, *(f"transfer_to_{to}" for role in pack.roles.values() for to in role.transfers)}
    assert len(names) == len(set(names))
    assert everything.desk.call("find_account", FIND)["ok"] is True
    assert everything.desk.call("transfer_to_billing", {})["success"] is True
    trace = everything.desk.trace()
    assert [c.role for c in trace.calls] == ["router", "router"]
    assert [(h.from_role, h.to_role) for h in trace.handoffs] == [("router", "billing")]
    assert everything.names() == names, "nothing changes with a handoff"


def test_a_write_of_the_agents_is_in_the_state_that_is_scored(everything: Bench) -> None:
    before = everything.desk.state()
    for name, args in (
        ("find_account", FIND),
        ("verify_customer", {**FIND, "zip_code": "97214"}),
        ("add_authorized_person", {"full_name": "Laura Simmons", "scope": "full"}),
    ):
        assert everything.desk.call(name, args)["ok"] is True, name
    rows = everything.desk.state()["authorized_people"]
    assert [row["full_name"] for row in rows if row not in before["authorized_people"]] == ["Laura Simmons"]


def test_arguments_that_no_model_should_send_are_kept_as_data(role: Bench) -> None:
    role.desk.call("transfer_to_identity", {})
    output = role.desk.call("find_account", {"phone_e164": float("nan"), "x\ud800": [[[]]]})
    assert output["ok"] is False
    role.desk.call("\ud800", {})
    assert len(role.desk.trace().calls) == 3


def test_of_an_agent_that_goes_round_in_circles_the_first_refusals_are_written_and_the_rest_is_counted(
    everything: Bench,
) -> None:
    limit, sent = AgentLimits().tool_calls_per_call, AgentLimits().tool_calls_per_call + 3 * REFUSALS_WRITTEN
    written = limit + REFUSALS_WRITTEN
    large = {"phone_e164": "x" * 60_000}
    outputs = []
    for number in range(sent):
        outputs.append(everything.desk.call("find_account", FIND if number < limit else large))
        if number < written:
            assert (everything.desk.calls, everything.desk.left_out) == (number + 1, 0)
    assert [output["ok"] for output in outputs] == [True] * limit + [False] * (sent - limit)
    assert {output["error_code"] for output in outputs[limit:]} == {"too_many_calls"}
    assert (everything.desk.calls, everything.desk.left_out) == (sent, sent - written)
    calls = everything.desk.trace().calls
    assert len(calls) == written
    assert [call.ok for call in calls] == [True] * limit + [False] * REFUSALS_WRITTEN
    assert calls[-1].args == large
    for kind in (ToolStarted, ToolFinished):
        assert len(everything.log.of(kind)) == written
    # A transfer over the limit is not made either, and a call of any name is no way around it.
    for name in ("transfer_to_billing", "no_such_tool", "y" * 60_000):
        assert everything.desk.call(name, {})["error_code"] == "too_many_calls"
    assert everything.desk.role == "router"
    assert len(everything.desk.trace().calls) == written
    assert everything.desk.left_out == everything.desk.calls - written


def test_the_record_says_how_many_calls_it_lacks(everything: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = OpenTools(ToolServer(everything.desk, ToolOptions(offer="all")), _Turns())
    everything.desk.call("find_account", FIND)
    assert tools.settings() == {"tools": "all", "tool_calls": 1}
    monkeypatch.setattr(everything.desk._board, "_max", 1 - REFUSALS_WRITTEN)
    everything.desk.call("find_account", FIND)
    assert tools.settings() == {"tools": "all", "tool_calls": 2, "tool_calls_left_out": 1}


def test_a_database_that_is_gone_breaks_the_call_and_not_the_server(everything: Bench) -> None:
    from callm_voice.desk.database import DatabaseUnavailableError

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailableError("the call's database cannot be used: database is locked")

    everything.desk._board._dispatcher.run = gone  # type: ignore[method-assign]
    assert everything.desk.call("find_account", FIND)["ok"] is False
    assert [error.message for error in everything.broken] == ["the call's database cannot be used: database is locked"]
    for _ in range(AgentLimits().tool_calls_per_call + 2 * REFUSALS_WRITTEN):
        assert everything.desk.call("find_account", FIND)["ok"] is False
    assert len(everything.log.of(ToolStarted)) == AgentLimits().tool_calls_per_call + REFUSALS_WRITTEN
