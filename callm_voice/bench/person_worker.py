"""A process that makes one person's call and ends, so that nothing in a web server can delay a tick.

    python -m callm_voice.bench.person_worker

One JSON object a line, each way. When stdin ends without a word, the server is gone and the person cannot be told
anything any more: the call ends as if they had hung up, and its folder is written.

    in   {"call": {spec}, "offer": SDP}      first; the trial is chosen here
         {"hang_up": WHY}
    out  {"folder": F}                       its unfinished folder
         {"answer": SDP}
         {"progress": TEXT}                  what is loaded
         {"open": LIMIT_S}                   the line is open, for so long at most
         {"event": {...}}                    as in events.jsonl
         {"done": {...}}                     the folder is complete: see `outcome`
         {"error": TEXT, "kind": KIND}       `usage`, `offer` or `setup`: there is no call, and no folder
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import resolve
from callm_voice.bench.run_call import run_call
from callm_voice.bench.workshop import Workshop
from callm_voice.core.errors import CallmError, UsageError
from callm_voice.core.events import CallStarted, Event
from callm_voice.core.livefiles import unfinished
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import disk_errors

Kind = Literal["usage", "offer", "setup"]
SERVER_GONE = "the server is gone"
Message = dict[str, Any]


class Outbox:
    """Writes messages from a thread of its own: no tick of the line waits for whoever reads them."""

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, "w", encoding="utf-8", errors="replace")
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="callm-outbox", daemon=True)
        self._thread.start()

    def put(self, **message: Any) -> None:
        """Never blocks."""
        self._messages.put(message)

    def close(self) -> None:
        """Write what is left and end."""
        self._messages.put(None)
        self._thread.join()

    def _write(self) -> None:
        with suppress(OSError):  # the server is gone; the call ends by its stdin
            while (message := self._messages.get()) is not None:
                self._file.write(json.dumps(message) + "\n")
                self._file.flush()
        with suppress(OSError):  # what could not be written is written once more, in vain
            self._file.close()


def claim(spec: CallSpec) -> CallSpec:
    """The call with the first trial that is free; its unfinished folder is made, so no other call takes it.

    Raises:
        DiskError: the folder cannot be made.
    """
    trial = 1
    while True:
        final = spec.model_copy(update={"trial": trial}).folder()
        work = unfinished(final)
        with disk_errors(work):
            work.parent.mkdir(parents=True, exist_ok=True)
            if not final.exists():
                with suppress(FileExistsError):
                    work.mkdir()
                    if not final.exists():  # a call may have been finished in between
                        return spec.model_copy(update={"trial": trial})
                    work.rmdir()
        trial += 1


def unclaim(work: Path, run_dir: Path) -> None:
    """Remove the folder of a call that was never made, and the folders that are empty without it."""
    shutil.rmtree(work, ignore_errors=True)
    for folder in work.parents:
        if folder == run_dir.parent or not folder.is_relative_to(run_dir):
            return
        with suppress(OSError):
            folder.rmdir()


def outcome(record: CallRecord, folder: Path) -> Message:
    """What the caller is told at the end: how it counts, its gates, and the latency from the samples on the wire."""
    latency, verdict = record.latency, record.verdict
    return {
        "folder": str(folder),
        "status": record.outcome.status,
        "invalid_kind": record.outcome.invalid_kind,
        "end_reason": record.outcome.end_reason,
        "detail": record.outcome.detail,
        "duration_ms": record.duration_ms,
        "gates": {
            name: gate.passed
            for name, gate in (
                ("tools", verdict.tools), ("handoff path", verdict.path), ("final state", verdict.state),
            )
        } if verdict else None,
        "v2v_ms": {turn.turn_id: round(turn.v2v_ms) for turn in latency.turns} if latency else {},
        "latency_invalid": latency.invalid_reason if latency else None,
    }  # fmt: skip


def make_call(spec: CallSpec, offer: str, box: Outbox, stdin: Any) -> int:
    """Make the call and say what became of it; the exit code."""
    work: Path | None = None
    opened = False

    def on_event(event: Event) -> None:
        nonlocal opened
        if isinstance(event, CallStarted):
            opened = True
            box.put(open=limit_s)
        box.put(event=event.model_dump(mode="json"))

    answered: list[str] = []

    def on_answer(sdp: str) -> None:
        answered.append(sdp)
        box.put(answer=sdp)

    try:
        shop = Workshop()
        resolved = resolve(spec, shop)
        limit_s = resolved.pipeline.limits.max_duration_s
        spec = claim(spec)
        work = unfinished(spec.folder())
        box.put(folder=str(work))
        from callm_voice.bench.person_side import (
            PersonCall,
        )  # imports Pipecat and aiortc: after what is checked quickly

        call = PersonCall(offer, on_answer)
        threading.Thread(target=_listen, args=(stdin, call.hang_up), name="callm-orders", daemon=True).start()
        record, folder = run_call(
            spec, on_event=on_event, on_progress=lambda text: box.put(progress=text), shop=shop, sides=call.sides()
        )
    except CallmError as error:
        if work is not None and not opened:
            unclaim(work, spec.run_dir)
        box.put(error=error.one_line(), kind=_kind(error, answered=bool(answered)))
        return error.exit_code
    box.put(done=outcome(record, folder))
    return 0


def _kind(error: CallmError, *, answered: bool) -> Kind:
    if isinstance(error, UsageError):
        return "usage"
    return "offer" if error.stage == "line" and not answered else "setup"


def _listen(stdin: Any, hang_up: Any) -> None:
    """Until the end of stdin: whoever is on the other side speaks, or is gone."""
    for line in stdin:
        with suppress(ValueError, TypeError):
            why = json.loads(line).get("hang_up")
            if why:
                hang_up(str(why))
    hang_up(SERVER_GONE)


def main() -> int:
    """Read the call, make it."""
    box = Outbox(os.dup(1))
    os.dup2(2, 1)  # whatever a library prints goes to stderr
    try:
        order = json.loads(sys.stdin.readline())
        spec, offer = CallSpec.model_validate(order["call"]), str(order["offer"])
    except (ValueError, KeyError, TypeError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        box.put(error=f"not a call: {first}", kind="usage")
        box.close()
        return 2
    code = make_call(spec, offer, box, sys.stdin)
    box.close()
    return code


if __name__ == "__main__":
    # What a library leaves running must not keep the process.
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
