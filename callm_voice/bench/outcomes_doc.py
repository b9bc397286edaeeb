"""`python -m callm_voice.bench.outcomes_doc [--check]`: writes docs/outcomes.md from the rows that the tests make."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from callm_voice.bench.faults import KINDS
from callm_voice.bench.faults_table import ENDINGS, LIMITS, Ending

TARGET = Path("docs/outcomes.md")
HEAD = """\
# Outcomes

Made by `python -m callm_voice.bench.outcomes_doc` from `bench/faults_table.py`. The tests in `tests/faults` make a call
for every row, by voice and, where that can be, by text, and compare; a test compares this page.

## What counts

A finished call is **pass** or **fail**, with a verdict, or **invalid**, without one:

| status | whose doing | verdict | exit code of `call` | in a run |
|---|---|---|---|---|
| pass, fail | the desk's: the model, and the pipeline it works in | yes | 0, 1 | counts |
| invalid: infrastructure | the model's server, a speech engine | no | 3 | made again, up to `--invalid-cap` times |
| invalid: harness | this product's | no | 3 | the same |
| invalid: caller | the simulated caller's: it broke its brief | no | 3 | the same |
| unscored | nobody's: a person called without a task ([call-in.md](call-in.md)) | no | | never in one |
| no record | the process or the disk | no | 3, or 137 if it was killed | see below |

The rule behind the rows: **what a model does is the model's**, however odd - an empty reply, one without end, a tool
that does not exist, arguments that are not JSON. The desk answers it, the call goes on, and the verdict says what came
of it. **What a server or we do is not**: nobody learns anything about a model from a call that a full queue ended.
"""
FAULTS = """\
## Faults

`callm-voice call --fault NAME[@WHEN]` puts a fault into a call, `callm-voice run --fault` into the first attempt at
each call, so that what a run does about it can be seen. It works with any model, voice, recogniser and line. The record
says `fault injected: ...` under `warnings`: such a call is no measurement.

`@3` is the third chance alone, `@3+` the third and all that follow; what is counted, and what holds without it, stands
here. Faults of the model's server are made by a proxy on a local socket between the client and the server; it starts to
count when the prompts are read, so request 1 is the greeting. Error messages name the proxy's address.
A server that is away before the line opens ends with exit code 3 and no record; a run tries again.

| name | what happens | counted | when, unless told |
|---|---|---|---|
"""
ENDS = """\

## How each ends

Each ends within the limits that stand under `timeouts` of the model and `limits` of the pipeline. No task, thread,
process or open file is left behind, and the next call in the same worker is as if nothing had been.

| fault | outcome | end reason | exit code | in a run | why |
|---|---|---|---|---|---|
"""
LIMITS_HEAD = """\

## Limits

They end a call that does not end by itself. It is judged as it stands, which mostly means that it failed.

| `limits:` | end reason | why |
|---|---|---|
"""
TAIL = """\

Both sides waiting for ever is `caller-silent` above: after two minutes in which nobody spoke and the model was not
asked anything (or twice `caller.give_up_after_ms`, if that is more) the call ends with the reason `silence`. Wall time
is limited by `callm-voice run --deadline-s` ([runs.md](runs.md)): the worker is killed, and the attempt is invalid
(harness).
"""


def page() -> str:
    """The whole page."""
    return "".join([HEAD, "\n", FAULTS, *_kinds(), ENDS, *map(_row, ENDINGS), LIMITS_HEAD, *_limits(), TAIL])


def _kinds() -> Iterator[str]:
    for kind in KINDS.values():
        when = f"from the {_nth(kind.first)} on" if kind.lasting else f"the {_nth(kind.first)}"
        yield f"| `{kind.name}` | {kind.what} | {kind.counts} | {when} |\n"


def _row(row: Ending) -> str:
    outcome = {"none": "no record"}.get(row.status, row.status) + (f": {row.kind}" if row.kind else "")
    reasons = f"`{row.reason}`" if row.reason else ""
    if row.text_reason:
        reasons += f" (by text `{row.text_reason}`)"
    return f"| `{row.fault}` | {outcome} | {reasons} | {row.exit_code} | {row.in_run} | {row.why} |\n"


def _limits() -> Iterator[str]:
    for limit in LIMITS:
        yield f"| `{limit.key}` | `{limit.reason}` | {limit.why} |\n"


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def main() -> None:
    """Write the page, or with `--check` exit with 1 if it differs."""
    text = page()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        sys.exit(0 if current == text else f"{TARGET} is stale: run python -m callm_voice.bench.outcomes_doc")
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
