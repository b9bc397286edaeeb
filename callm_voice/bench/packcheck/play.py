"""Calls through a pack's real tools, without a model: the trace and the database that they leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callm_voice.desk.pack import Pack
from verifier.trace import Handoff, State, ToolCall, Trace


@dataclass(frozen=True)
class Played:
    """What a row of calls left behind."""

    trace: Trace
    state: State
    wrote: frozenset[int]
    """Indexes of the calls that changed the database."""


class HandDesk:
    """One call's desk, worked by hand. Closed by the caller."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.database = pack.open_database()
        self.dispatcher = pack.dispatcher(self.database)
        self.role = pack.role(pack.file.start_role)
        self._calls: list[ToolCall] = []
        self._handoffs: list[Handoff] = []
        self._wrote: set[int] = set()

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolCall:
        """Run one call in the role that has the floor."""
        before = self.database.connection.total_changes
        answer = self.dispatcher.run(self.role, tool, dict(args))
        if self.database.connection.total_changes != before:
            self._wrote.add(len(self._calls))
        call = ToolCall(
            call_id=f"call_{len(self._calls) + 1}", role=self.role.name, name=tool, args=dict(args),
            output=answer.output, ok=answer.ok, is_transfer=answer.is_transfer, error=answer.error,
        )  # fmt: skip
        self._calls.append(call)
        if answer.to_role is not None:
            self._handoffs.append(Handoff(from_role=self.role.name, to_role=answer.to_role))
            self.role = self.pack.role(answer.to_role)
        return call

    @property
    def wrote_last(self) -> bool:
        """Whether the last call changed the database."""
        return len(self._calls) - 1 in self._wrote

    def played(self) -> Played:
        """What was done so far."""
        trace = Trace(start_role=self.pack.file.start_role, calls=tuple(self._calls), handoffs=tuple(self._handoffs))
        return Played(trace, self.database.dump(), frozenset(self._wrote))

    def close(self) -> None:
        """Drop the database."""
        self.database.close()
