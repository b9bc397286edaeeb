"""A call's tools, opened for the agent that runs elsewhere, whatever the way to it."""

from __future__ import annotations

from callm_voice.bench.sides import CallContext
from callm_voice.bench.toolserver import ToolServer, is_open_to_others
from callm_voice.bench.toolserver_desk import ToolDesk
from callm_voice.core.events import CallEnded, Event, UtteranceStarted
from verifier.trace import State, Trace


class OpenTools:
    """See `AgentTools` (outside_agent.py)."""

    def __init__(self, server: ToolServer, turns: _Turns) -> None:
        self._server, self._desk, self._turns = server, server.desk, turns

    @property
    def turn_id(self) -> int:
        """Which caller turn is being answered; 0: none yet."""
        return self._turns.turn_id

    def trace(self) -> Trace:
        return self._desk.trace()

    def state(self) -> State:
        return self._desk.state()

    def told(self) -> dict[str, str]:
        """What the agent is told when it is called: where the tools are, and which role begins."""
        return {"tools_url": self._server.url, "mcp_url": self._server.mcp_url, "role": self._desk.role}

    def settings(self) -> dict[str, object]:
        """For the record. `tool_calls_left_out` is there only if the trace lacks some of `tool_calls`."""
        told: dict[str, object] = {"tools": self._desk.offer, "tool_calls": self._desk.calls}
        if self._desk.left_out:
            told["tool_calls_left_out"] = self._desk.left_out
        return told


class _Turns:
    """Which caller turn is being answered, and when the call is over."""

    def __init__(self) -> None:
        self.turn_id = 0
        self.desk: ToolDesk | None = None

    def note(self, event: Event) -> None:
        if isinstance(event, UtteranceStarted):
            self.turn_id = event.utterance_id
        elif isinstance(event, CallEnded) and self.desk is not None:
            self.desk.close()


async def open_tools(ctx: CallContext) -> OpenTools:
    """Database and tool server of one call; closed by its stack.

    Raises:
        SetupError: they cannot be served, or a package is missing.
        UsageError: the token of the environment is no good.
    """
    options, turns = ctx.resolved.spec.tools, _Turns()
    database = ctx.resolved.pack.open_database()
    ctx.stack.callback(database.close)
    desk = turns.desk = ToolDesk(
        ctx.resolved.pack,
        database,
        ctx.log,
        ctx.clock,
        offer=options.offer,
        turn_id=lambda: turns.turn_id,
        on_broken=ctx.control.fail,
    )
    ctx.log.listen(turns.note)
    server = ToolServer(desk, options)
    await server.start()
    ctx.stack.push_async_callback(server.aclose)
    ctx.on_progress(f"tools for the agent at {server.without_token(server.url)}")
    if is_open_to_others(options.host) and options.public_url is None:
        ctx.on_progress(f"warning: other machines can reach the tools at {options.host}; only the token keeps them out")
    return OpenTools(server, turns)
