"""A worker: a process that makes one call after another and keeps its engines warm in between.

    python -m callm_voice.bench.run.worker

Jobs come on stdin and answers go to stdout, one JSON object a line. When stdin ends without a goodbye, the planner is
gone: the worker leaves at once, and the call that it was making is an unfinished one.

    in   {"job": {...}}              a `Job`
         {"bye": true}
    out  {"ready": true}
         {"open": ID}                the line of this call is open
         {"done": ID, "folder": F}   its folder is complete
         {"error": ID, ...}          a `JobError`
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import pack_dir
from callm_voice.bench.run.executor import Job, job_error
from callm_voice.bench.run_call import run_call
from callm_voice.bench.workshop import Workshop
from callm_voice.core.errors import UsageError
from callm_voice.core.events import CallStarted, Event
from callm_voice.core.record import CallRecord
from callm_voice.llm.server_pool import ServerPool

Send = Callable[[dict[str, Any]], None]


def make_call(job: Job, shop: Workshop, on_open: Callable[[], None]) -> tuple[CallRecord, str]:
    """Make one call of a run in this process; its record and folder. What broke a call is not used for the next one.

    Raises:
        CallmError: there is no record; the folder is left unfinished.
    """
    pack = shop.pack(pack_dir(job.spec.split_task()[0]))
    if pack.content_hash != job.pack_hash:
        raise UsageError(f"{pack.path}: the pack was edited while the run was going on", hint="start a new run")

    def on_event(event: Event) -> None:
        if isinstance(event, CallStarted):
            on_open()

    try:
        record, folder = run_call(job.spec, on_event=on_event, on_progress=lambda _: None, shop=shop, note=False)
    except BaseException:
        shop.drop()
        raise
    if record.outcome.status == "invalid" and record.outcome.invalid_kind != "caller":
        shop.drop()
    return record, str(folder)


def serve(jobs: queue.Queue[Job | None], send: Send) -> None:
    """Work until there is a None."""
    shop = Workshop(ServerPool())
    send({"ready": True})
    try:
        while (job := jobs.get()) is not None:
            try:
                _, folder = make_call(job, shop, partial(send, {"open": job.id}))
                send({"done": job.id, "folder": folder})
            except Exception as error:  # noqa: BLE001 - every failure of a call is told to the planner, who judges it
                send({"error": job.id, **asdict(job_error(error))})
            gc.collect()  # loops and tasks of a call refer to each other
    finally:
        shop.close()


def read_jobs(jobs: queue.Queue[Job | None]) -> None:
    """Feed the queue from stdin; end the process if stdin does."""
    for line in sys.stdin:
        message = json.loads(line)
        if "bye" in message:
            jobs.put(None)
            return
        fields = message["job"]
        jobs.put(Job(**{**fields, "spec": CallSpec.model_validate(fields["spec"])}))
    os._exit(3)


def main() -> int:
    """Work until told to leave."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints goes to stderr
    jobs: queue.Queue[Job | None] = queue.Queue()

    def send(message: dict[str, Any]) -> None:
        try:
            answers.write(json.dumps(message) + "\n")
            answers.flush()
        except OSError:
            os._exit(3)  # the planner is gone

    threading.Thread(target=read_jobs, args=(jobs,), name="jobs", daemon=True).start()
    serve(jobs, send)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
