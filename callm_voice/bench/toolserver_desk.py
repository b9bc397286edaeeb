"""The desk of a call as an agent that runs elsewhere sees it: tools, roles, prompts. Without I/O.

The same switchboard, dispatcher and database as of our own agent, so calls and handoffs are written down and scored
the same way. What the agent is offered is one of

    role   the tools of the current role and its transfers; a handoff changes the list, as it does for our own agent
    all    every tool of the pack and a transfer to every role, from the first word: for an agent that reads its list
           of tools once and has one prompt. The handoff path is scored all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from callm_voice.bench.tool_options import Offer
from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog
from callm_voice.desk.agent import AgentLimits
from callm_voice.desk.database import CallDatabase, DatabaseUnavailableError
from callm_voice.desk.dispatch import RoleView
from callm_voice.desk.formats import TransferSpec
from callm_voice.desk.pack import Pack
from callm_voice.desk.switchboard import Switchboard
from callm_voice.desk.tools import transfer_schema
from callm_voice.llm.types import ToolCallReady, ToolSchema
from verifier.trace import State, Trace


@dataclass(frozen=True)
class WholeDesk:
    """A role's view (`RoleView`) that may use everything."""

    name: str
    tools: tuple[str, ...]
    transfers: Mapping[str, TransferSpec]


class ToolDesk:
    """One call's tools for an agent that runs elsewhere.

    Args:
        database: the call's own; this closes nothing.
        turn_id: which caller turn is being answered now.
        on_broken: called if the database cannot be used any more.
    """

    def __init__(
        self,
        pack: Pack,
        database: CallDatabase,
        log: EventLog,
        clock: Clock,
        *,
        offer: Offer = "role",
        turn_id: Callable[[], int],
        on_broken: Callable[[CallmError], None],
    ) -> None:
        self._pack, self._database, self.offer = pack, database, offer
        self._board = Switchboard(pack, database, log, clock, max_tool_calls=AgentLimits().tool_calls_per_call)
        self._turn_id, self._on_broken = turn_id, on_broken
        self._everything = _everything(pack)
        self._over = False
        self.calls = 0
        """Tool calls so far, transfers and refused ones included, written down or not."""

    @property
    def role(self) -> str:
        """The role that has the call now."""
        return self._board.role.name

    @property
    def left_out(self) -> int:
        """Of `calls`, those that were refused and only counted: they stand neither in the trace nor in the events."""
        return self._board.left_out

    def tools(self) -> list[ToolSchema]:
        """What the agent may call now, as the `tools` of a chat request."""
        if self.offer == "role":
            return list(self._board.role.tool_schemas)
        own = [tool.schema() for tool in self._pack.tools.values()]
        return [*own, *(transfer_schema(transfer) for transfer in self._everything.values())]

    def prompt(self) -> str:
        """The system prompt of the current role, as our own agent would have it."""
        return self._board.role.system_prompt

    def roles(self) -> list[dict[str, Any]]:
        """All roles: name, title, tools, transfers."""
        return [
            {"name": role.name, "title": role.title, "tools": list(role.tools), "transfers": list(role.transfers)}
            for role in self._pack.roles.values()
        ]

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run one tool call; the envelope, or `{success, role}` of a transfer. Never raises for what the agent sent.

        Args:
            arguments: a JSON object.
        """
        if self._over:
            return {"ok": False, "error_code": "call_is_over", "data": None}
        self.calls += 1
        ready = ToolCallReady(0.0, "", name, arguments, raw_arguments="")
        try:
            output = self._board.run_foreign(ready, turn_id=self._turn_id(), view=self._view())
        except DatabaseUnavailableError as broken:
            self._on_broken(broken)
            return {"ok": False, "error_code": "unavailable", "data": None}
        return dict(output)

    def close(self) -> None:
        """The caller has gone: whatever the agent does from now on is not done any more."""
        self._over = True

    def trace(self) -> Trace:
        """What was done so far."""
        return self._board.trace()

    def state(self) -> State:
        """The database now.

        Raises:
            DatabaseUnavailableError: it cannot be read.
        """
        return self._database.dump()

    def _view(self) -> RoleView | None:
        if self.offer == "role":
            return None
        return WholeDesk(self.role, tuple(self._pack.tools), self._everything)


def _everything(pack: Pack) -> dict[str, TransferSpec]:
    """Role → a transfer to it: of several with different words, the first in the order of the roles. A role's own
    parameters differ between edges; all of them are taken."""
    found: dict[str, TransferSpec] = {}
    for role in pack.roles.values():
        for to, transfer in role.transfers.items():
            known = found.get(to)
            params = {**transfer.params, **(known.params if known else {})}
            found[to] = (known or transfer).model_copy(update={"params": params})
    return found
