"""Run the model's tool calls on one call's database: one transaction each, and always an answer for the model."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from callm_voice.desk.arguments import shown
from callm_voice.desk.database import CallDatabase, DatabaseUnavailableError
from callm_voice.desk.formats import TransferSpec
from callm_voice.desk.toolkit import ToolContext, envelope, iso
from callm_voice.desk.tools import TRANSFER_PREFIX, BadArguments, Tool

TOOL_FAILED = "Something went wrong on our side with that step."


class RoleView(Protocol):
    """What dispatch needs to know of a role."""

    @property
    def name(self) -> str: ...
    @property
    def tools(self) -> tuple[str, ...]: ...
    @property
    def transfers(self) -> Mapping[str, TransferSpec]: ...


@dataclass(frozen=True)
class ToolAnswer:
    """What a call of the model's led to."""

    output: dict[str, Any]
    ok: bool
    is_transfer: bool = False
    to_role: str | None = None
    """The new role after a successful transfer."""
    error: str | None = None
    """Why it could not be run, or how the tool broke; for the record, not for the model."""


class Dispatcher:
    """Runs the model's tool calls on one call's database.

    Args:
        tools: the pack's tools by name.
        database: the call's own.
        session: the call's session facts; changed in place.
        safe_message_key: the last key of the envelope.
    """

    def __init__(
        self, tools: Mapping[str, Tool], database: CallDatabase, session: dict[str, Any], safe_message_key: str
    ) -> None:
        self._tools, self._database, self.session, self._key = tools, database, session, safe_message_key

    def run(self, role: RoleView, name: str, args: Mapping[str, Any], *, unparsed: str | None = None) -> ToolAnswer:
        """Answer one call in `role`. Never raises for what the model or the pack did.

        Args:
            unparsed: why the arguments could not be parsed, if they could not.

        Raises:
            DatabaseUnavailableError: the call's database cannot be used.
        """
        if name.startswith(TRANSFER_PREFIX):
            return _transfer(role, name.removeprefix(TRANSFER_PREFIX), args, unparsed)
        tool = self._tools.get(name)
        if tool is None:
            return self.refuse("unknown_tool", f"there is no tool named {shown(name)}; available: {_names(role)}")
        if name not in role.tools:
            return self.refuse(
                "not_available_in_role", f"{name} is not available to {role.name}; available: {_names(role)}"
            )
        if unparsed is not None:
            return self.refuse("invalid_arguments", f"the arguments are not a JSON object: {unparsed}")
        try:
            values = tool.convert(args)
        except BadArguments as error:
            return self.refuse("invalid_arguments", str(error))
        return self._call(role, tool, values)

    def refuse(self, error_code: str, message: str) -> ToolAnswer:
        """An envelope for a call that was not run; `data.message` tells the model what to do better."""
        return ToolAnswer(self._failure(error_code, {"message": message}, None), ok=False, error=message)

    def _call(self, role: RoleView, tool: Tool, values: dict[str, Any]) -> ToolAnswer:
        before = copy.deepcopy(self.session)
        try:
            with self._database.transaction() as connection:
                context = ToolContext(connection, self._database.now, self.session, role.name, self._key)
                output = self._checked(tool.function(context, **values))
        except DatabaseUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to a pack's own code; mapped here, once
            self.session.clear()
            self.session.update(before)
            broke = f"{tool.name} raised {type(error).__name__}: {error}"
            return ToolAnswer(self._failure("tool_error", None, TOOL_FAILED), ok=False, error=broke)
        return ToolAnswer(output, ok=output["ok"])

    def _failure(self, code: str, data: dict[str, Any] | None, safe_message: str | None) -> dict[str, Any]:
        return envelope(self._key, ok=False, error_code=code, safe_message=safe_message, data=data)

    def _checked(self, output: Any) -> dict[str, Any]:
        """The envelope as plain JSON, dates as ISO text.

        Raises:
            TypeError, ValueError: it is not an envelope, or not JSON.
        """
        if not isinstance(output, dict) or list(output) != list(envelope(self._key, ok=True)):
            raise TypeError("a tool returns ctx.ok(...) or ctx.fail(...)")
        plain: dict[str, Any] = json.loads(json.dumps(output, allow_nan=False, default=iso))
        return plain


def _transfer(role: RoleView, to: str, args: Mapping[str, Any], unparsed: str | None) -> ToolAnswer:
    """A handoff along an edge that the role declares."""
    transfer = role.transfers.get(to)
    problem = None
    if transfer is None:
        problem = f"{role.name} cannot transfer to {shown(to)}; available: {_names(role)}"
    elif unparsed is not None:
        problem = f"the arguments are not a JSON object: {unparsed}"
    elif wrong := [n for n in transfer.params if args.get(n) is not None and not isinstance(args[n], str)]:
        problem = f"{wrong[0]}: expected a string, got {shown(args[wrong[0]])}"
    if problem is not None:
        return ToolAnswer({"success": False, "role": to, "error": problem}, ok=False, is_transfer=True, error=problem)
    return ToolAnswer({"success": True, "role": to}, ok=True, is_transfer=True, to_role=to)


def _names(role: RoleView) -> str:
    """What the role can call, for messages to the model."""
    return ", ".join([*role.tools, *(TRANSFER_PREFIX + to for to in role.transfers)]) or "none"
