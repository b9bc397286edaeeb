"""Calls of people, each in a process of its own (`person_worker`), as a web server holds them.

The server relays the session descriptions and what the worker says; the media go from the browser to the worker. A call
is bounded at each stage, and a worker that does not end by itself is killed by its id.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_worker import Message, unclaim
from callm_voice.core.errors import CallmError, SetupError, UsageError
from callm_voice.core.runfolder import is_finished

MODULE = "callm_voice.bench.person_worker"
MAX_CALLS = 2
"""At once: a call has its own recogniser, voice and model, and more would compete for the processors."""
KEPT = 20
"""Calls that are over and can still be looked at."""
MAX_LINE_BYTES = 16 * 1024 * 1024
"""Of one message: a tool's answer may be long."""
LAST_WORDS = 300
"""Characters of a dead worker's stderr that go into the message."""
State = Literal["starting", "loading", "open", "over"]


@dataclass(frozen=True)
class Limits:
    """Seconds of wall time that the stages of a call may take."""

    answer_s: float = 120.0
    """From the offer to the answer: a process starts and loads its modules."""
    setup_s: float = 300.0
    """From the answer to the opening of the line: engines and model are loaded."""
    finish_s: float = 60.0
    """From the end of the line (at the latest: the pipeline's limit) to the finished folder."""


class BusyError(SetupError):
    """There are as many calls as may be at once."""


class SecondOfferError(UsageError):
    """The call has had its offer."""


class OfferError(UsageError):
    """The offer cannot be taken."""


@dataclass
class PersonCall:
    """One call, from the server's side."""

    id: str
    spec: CallSpec
    state: State = "starting"
    messages: list[Message] = field(default_factory=list)
    """All that the worker said, without the answer."""
    folder: Path | None = None
    """Of the finished call."""
    process: asyncio.subprocess.Process | None = None
    _work: Path | None = None
    _answer: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _timeout: asyncio.Timeout | None = None
    _given_up: bool = False

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, Message]]:
        """Number and message, from number `after` on, as they come; ends when the call is over."""
        n = after
        while True:
            while n < len(self.messages):
                yield n, self.messages[n]
                n += 1
            if self.state == "over":
                return
            await self._changed.wait()

    def _say(self, message: Message) -> None:
        self.messages.append(message)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _within(self, limit_s: float) -> None:
        """The present stage may take so long from now on. One whose time is over gets no more."""
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + limit_s)


class PersonCalls:
    """All calls of one server.

    Args:
        max_calls: at once.
        limits: of their stages.
        command: what is started for each; of tests.
    """

    def __init__(
        self, max_calls: int = MAX_CALLS, limits: Limits | None = None, command: tuple[str, ...] | None = None
    ) -> None:
        self._max, self._limits = max_calls, limits or Limits()
        self._command = command or (sys.executable, "-m", MODULE)
        self._calls: dict[str, PersonCall] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def get(self, call_id: str) -> PersonCall | None:
        """A call of this server's, running or one of the last that were over."""
        return self._calls.get(call_id)

    @property
    def running(self) -> list[PersonCall]:
        """Calls that are not over."""
        return [call for call in self._calls.values() if call.state != "over"]

    async def start(self, call_id: str, spec: CallSpec, offer: str) -> str:
        """Start a call; the answer to the offer.

        Raises:
            SecondOfferError, BusyError: it may not start.
            UsageError, OfferError: something in it is wrong.
            SetupError: its process did not come so far as to answer.
        """
        if call_id in self._calls:
            raise SecondOfferError("this call has had its offer; hang up and call again")
        if len(self.running) >= self._max:
            raise BusyError(f"{self._max} calls are going on, and no more are taken at once; try again later")
        call = self._calls[call_id] = PersonCall(call_id, spec)
        self._forget_old()
        self._tasks[call_id] = asyncio.create_task(self._run(call, offer), name=f"person-call-{call_id}")
        try:
            return await asyncio.shield(call._answer)
        except CallmError:
            del self._calls[call_id]  # it never was one: the same page may try again
            raise

    def hang_up(self, call_id: str, why: str) -> bool:
        """The person hangs up. False: there is no such call, or it is over."""
        call = self._calls.get(call_id)
        if call is None or call.state == "over":
            return False
        if call.state == "open":
            if _tell(call, {"hang_up": why}):
                call._within(self._limits.finish_s)
        elif not call._given_up:
            call._given_up = True  # nothing was said: there is nothing to keep
            call._say({"error": f"{why} before the desk answered", "kind": "setup"})
            if call.process is not None:
                _kill(call.process)
        return True

    async def close(self) -> None:
        """Hang all calls up and wait until their folders are written."""
        for call in self.running:
            self.hang_up(call.id, "the server was stopped")
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _run(self, call: PersonCall, offer: str) -> None:
        """One call's process from its start to its end."""
        with ExitStack() as stack:
            stderr: Any = None
            try:
                stderr = stack.enter_context(tempfile.TemporaryFile())
                async with asyncio.timeout(self._limits.answer_s) as call._timeout:
                    await self._talk(call, offer, stderr)
            except TimeoutError:
                stage = {"starting": "the start", "loading": "loading"}.get(call.state, "the call or its writing")
                call._say({"error": f"{stage} took too long; the call was ended", "kind": "setup"})
            except OSError as error:
                why = f"the call's process cannot be started: {error.strerror or error}"
                call._say({"error": why, "kind": "setup"})
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                why = f"the call's process said what makes no sense: {error}"
                call._say({"error": why[:LAST_WORDS], "kind": "setup"})
            finally:
                await self._end(call, stderr)

    async def _talk(self, call: PersonCall, offer: str, stderr: Any) -> None:
        call.process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr,
            limit=MAX_LINE_BYTES,
            start_new_session=True,  # Ctrl-C is the server's, which then hangs up
        )  # fmt: skip
        assert call.process.stdout is not None
        if call._given_up:
            return
        _tell(call, {"call": call.spec.model_dump(mode="json"), "offer": offer})
        while line := await call.process.stdout.readline():
            message = json.loads(line)
            if not isinstance(message, dict):
                raise ValueError("expected one object a line")
            self._take(call, message)
        await call.process.wait()

    def _take(self, call: PersonCall, message: Message) -> None:
        """One message of the worker's."""
        if "answer" in message:
            call.state = "loading"
            call._within(self._limits.setup_s)
            if not call._answer.done():
                call._answer.set_result(message["answer"])
            return
        if "folder" in message:
            call._work = Path(message["folder"])
            return
        if "open" in message:
            call.state = "open"
            call._within(message["open"] + self._limits.finish_s)
        elif "done" in message:
            call.folder = Path(message["done"]["folder"])
        elif message.get("event", {}).get("type") == "call_ended":
            call._within(self._limits.finish_s)
        call._say(message)

    async def _end(self, call: PersonCall, stderr: Any) -> None:
        """Nothing of the process is left, and everybody knows how it ended."""
        call._timeout = None
        code: int | None = None
        if call.process is not None:
            _kill(call.process)
            code = await call.process.wait()
        error = next((m for m in reversed(call.messages) if "error" in m), None)
        if error is None and call.folder is None:
            error = {"error": f"the call's process died ({_died_of(code)}){_last_words(stderr)}", "kind": "setup"}
            call._say(error)
        if call._work is not None and call.state != "open" and not is_finished(call._work):
            unclaim(call._work, call.spec.run_dir)
        if not call._answer.done():
            call._answer.set_exception(_as_error(error or {"error": "the call ended at once", "kind": "setup"}))
            call._answer.exception()  # a page that has gone does not ask for it
        call.state = "over"
        call._wake()
        self._tasks.pop(call.id, None)

    def _forget_old(self) -> None:
        over = [call.id for call in self._calls.values() if call.state == "over"]
        for call_id in over[: max(0, len(over) - KEPT)]:
            del self._calls[call_id]


def _tell(call: PersonCall, message: Message) -> bool:
    """Send the worker one message; False: it takes none any more."""
    stdin = call.process.stdin if call.process else None
    if stdin is None or stdin.is_closing():
        return False
    stdin.write(json.dumps(message).encode() + b"\n")
    return True


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def _died_of(code: int | None) -> str:
    return "it could not be started" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"


def _last_words(stderr: Any) -> str:
    stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, stderr.tell() - 4000))
    words = " ".join(stderr.read().decode("utf-8", errors="replace").split())
    return f": {words[-LAST_WORDS:]}" if words else ""


def _as_error(message: Message) -> CallmError:
    kinds = {"usage": UsageError, "offer": OfferError}
    return kinds.get(str(message.get("kind")), SetupError)(str(message["error"]))
