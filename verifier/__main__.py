"""`python -m verifier RECORD`: the verdict of one call folder as JSON on stdout, one line about it on stderr.

RECORD is a call folder or its `call.json`. Of the record only `trace` is read; the database at hang-up stands beside
it in `state.json`, what the task expects in `gold.json`. Exit 0: passed; 1: failed; 2: bad usage or input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

from pydantic import TypeAdapter, ValidationError

from verifier.gold import GoldError, GoldFile
from verifier.trace import State, Trace
from verifier.verdict import Verdict
from verifier.verify import dump_verdict, verify

USAGE = "usage: python -m verifier RECORD   (a call folder, or its call.json)"
T = TypeVar("T")


class _BadInputError(Exception):
    """One line about a file that cannot be used."""


def main(argv: list[str], out: TextIO, err: TextIO) -> int:
    """Verify one record; the exit status."""
    if argv in (["-h"], ["--help"]):
        out.write(USAGE + "\n")
        return 0
    if len(argv) != 1 or argv[0].startswith("-"):
        err.write(USAGE + "\n")
        return 2
    try:
        verdict = verify_record(Path(argv[0]))
    except _BadInputError as error:
        err.write(f"error: {error}\n")
        return 2
    out.write(dump_verdict(verdict))
    err.write(summary(verdict) + "\n")
    return 0 if verdict.passed else 1


def verify_record(record: Path) -> Verdict:
    """The verdict of a call folder or of its `call.json`."""
    folder = record if record.is_dir() else record.parent
    path = folder / "call.json" if record.is_dir() else record
    content = _read(path)
    if not isinstance(content, dict) or "trace" not in content:
        raise _BadInputError(f"{path}: not a call record: it has no `trace`")
    trace = _parse(TypeAdapter(Trace), content["trace"], path, "trace")
    state = _parse(TypeAdapter(State), _read(folder / "state.json"), folder / "state.json")
    gold = _parse(TypeAdapter(GoldFile), _read(folder / "gold.json"), folder / "gold.json")
    try:
        return verify(trace, state, gold)
    except GoldError as error:
        raise _BadInputError(f"{folder / 'gold.json'}: {error}") from error


def summary(verdict: Verdict) -> str:
    """One line for people: `failed: tools 1 missing, path ok, state 2 rows differ`."""
    missing = sum(finding.kind == "missing" for finding in verdict.tools.findings)
    rows = len(verdict.state.findings)
    tools = "ok" if verdict.tools.passed else f"{missing} missing"
    path = "ok" if verdict.path.passed else " > ".join(verdict.path.actual) or "no transfer"
    state = "ok" if verdict.state.passed else f"{rows} row{'s' if rows != 1 else ''} differ"
    return f"{'passed' if verdict.passed else 'failed'}: tools {tools}, path {path}, state {state}"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _BadInputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _BadInputError(f"{path}: not JSON text: {' '.join(str(error).split())}") from error


def _parse(kind: TypeAdapter[T], value: Any, path: Path, *keys: str) -> T:
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        where = ".".join([*keys, *(str(part) for part in finding["loc"])])
        raise _BadInputError(f"{path}: {where or 'top level'}: {finding['msg']}") from error


def run() -> NoReturn:
    """The command."""
    sys.exit(main(sys.argv[1:], sys.stdout, sys.stderr))


if __name__ == "__main__":
    run()
