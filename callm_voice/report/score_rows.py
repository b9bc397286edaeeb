"""One flat row a finished call: all that scores, exports and the site need of it, read from its folder alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.core.events import Cause
from callm_voice.core.record import PERSON, CallRecord
from callm_voice.core.runfolder import GOLD_FILE, RECORD_FILE, STATE_FILE, SUPERSEDED, find_calls, load_record
from callm_voice.report.blame import CallBlame, blame_call
from verifier import VERIFIER_VERSION
from verifier.gold import GoldFile
from verifier.trace import State
from verifier.verdict import Verdict
from verifier.verify import verify

__all__ = [
    "SUPERSEDED", "TEXT_LINE", "CallRow", "failure_kinds", "filter_rows", "load_calls", "load_row", "make_row",
]  # fmt: skip

TEXT_LINE = "text"
DIFFICULTIES = {"E": "easy", "M": "medium", "H": "hard"}
_TASK_ID = re.compile(r"(?P<category>C\d+)-(?P<difficulty>[EMH])\d+")
_NORMAL_ENDS = ("caller_hangup", "agent_hangup")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CallRow(_Frozen):
    """One finished call."""

    folder: Path
    task: str
    """`PACK/TASK`."""
    pack: str
    task_id: str
    category: str
    """`PACK/C5`; empty if the task's id does not tell."""
    difficulty: str
    """`easy`, `medium`, `hard`; empty if the task's id does not tell."""
    model: str
    line: str
    pipeline: str
    caller: str
    pace: str
    trial: int
    seed: int
    pack_hash: str
    product_version: str
    started_at: str
    duration_ms: float
    status: Literal["pass", "fail", "invalid", "unscored"]
    invalid_kind: Literal["harness", "infrastructure", "caller"] | None
    end_reason: str
    detail: str
    superseded: bool
    """Set aside in the run because it was made again on request; counted, never scored."""
    verified_again: bool
    """The recorded verdict was of another version of the verifier, so it was computed anew."""
    tools_passed: bool | None
    """None, as for the other two gates: an invalid call, or one without a task."""
    path_passed: bool | None
    state_passed: bool | None
    expected_tools: tuple[str, ...]
    """Of gold, in its order."""
    missed_tools: tuple[str, ...]
    failure_kinds: tuple[str, ...]
    """Each once; see `failure_kinds`."""
    blame: CallBlame | None
    """None: not failed, there is no `gold.json`, or a person called, whose words nobody knows."""
    scripted: bool
    """Some latency figure came from a scripted engine."""
    ttft: tuple[tuple[Cause, float], ...]
    """(cause, ms) of each inference that counts; empty if the call's latency does not."""
    v2v_ms: tuple[float, ...]
    latency_left_out: str | None
    """Why the call's latency does not count; None: it does, or there is none."""
    inferences: int
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    """None: unknown, which is not zero."""
    caller_cost_usd: float | None

    @property
    def scored(self) -> bool:
        """Counts as a trial."""
        return self.status in ("pass", "fail") and not self.superseded and not self.by_person

    @property
    def by_person(self) -> bool:
        """A person called: no two of them call alike, so it is no trial of a model."""
        return self.caller == PERSON


def load_calls(run_dirs: Iterable[Path]) -> list[CallRow]:
    """The rows of all finished calls at or below some folders, sorted. The same call twice is one row.

    Raises:
        NotFoundError: there is none below one of the folders.
        ConfigError: a file of a call does not have the form of this version.
    """
    rows: dict[str, CallRow] = {}
    for run_dir in run_dirs:
        folders = [(folder, False) for folder in find_calls(run_dir)]
        folders += [(path.parent, True) for path in sorted(run_dir.rglob(f"{SUPERSEDED}/**/{RECORD_FILE}"))]
        if not folders:
            raise NotFoundError("finished call", str(run_dir), [])
        for folder, superseded in folders:
            key = sha256((folder / RECORD_FILE).read_bytes()).hexdigest()
            if key not in rows or (rows[key].superseded and not superseded):
                rows[key] = load_row(folder, superseded=superseded)
    return [row for _, row in sorted(rows.items(), key=lambda item: (*_sort_key(item[1]), item[0]))]


def load_row(folder: Path, *, superseded: bool = False) -> CallRow:
    """The row of one finished call.

    Raises:
        ConfigError: a file of the call does not have the form of this version.
    """
    record = load_record(folder)
    gold = _gold(folder) if record.outcome.status != "invalid" else None
    again = record.verdict is not None and record.verdict.verifier_version != VERIFIER_VERSION
    if again and gold is not None:
        record = _verified(record, _state(folder), gold)
    return make_row(record, gold, folder=folder, superseded=superseded, verified_again=again and gold is not None)


def make_row(
    record: CallRecord, gold: GoldFile | None, *, folder: Path, superseded: bool = False, verified_again: bool = False
) -> CallRow:
    """The row of a record. `gold`: None for an invalid call, or where it is not kept; then there is no blame."""
    config, verdict, latency = record.config, record.verdict, record.latency
    pack, _, task_id = config.task.rpartition("/")
    match = _TASK_ID.fullmatch(task_id)
    counts = latency is not None and latency.valid
    findings = verdict.tools.findings if verdict is not None else ()
    return CallRow(
        folder=folder,
        task=config.task,
        pack=pack,
        task_id=task_id,
        category=f"{pack}/{match['category']}" if match else "",
        difficulty=DIFFICULTIES[match["difficulty"]] if match else "",
        **config.model_dump(include={"model", "line", "pipeline", "caller", "pace", "trial", "seed", "pack_hash"}),
        product_version=record.product_version,
        started_at=record.started_at,
        duration_ms=record.duration_ms,
        status=record.outcome.status,
        invalid_kind=record.outcome.invalid_kind,
        end_reason=record.outcome.end_reason,
        detail=record.outcome.detail,
        superseded=superseded,
        verified_again=verified_again,
        tools_passed=verdict.tools.passed if verdict else None,
        path_passed=verdict.path.passed if verdict else None,
        state_passed=verdict.state.passed if verdict else None,
        expected_tools=tuple(f.tool for f in findings if f.kind != "extra"),
        missed_tools=tuple(f.tool for f in findings if f.kind == "missing"),
        failure_kinds=failure_kinds(verdict, record.outcome.end_reason),
        blame=blame_call(record, gold) if gold is not None and config.caller != PERSON else None,
        scripted=any(engine.scripted for engine in record.engines.values()),
        ttft=tuple(
            (i.cause, i.ttft_ms)
            for i in (latency.inferences if latency is not None and counts else ())
            if i.ttft_ms is not None and not i.interrupted and not i.failed
        ),
        v2v_ms=tuple(turn.v2v_ms for turn in latency.turns) if latency is not None and counts else (),
        latency_left_out=None if latency is None or counts else latency.invalid_reason or "no reason given",
        inferences=record.usage.inferences,
        prompt_tokens=record.usage.prompt_tokens,
        cached_tokens=record.usage.cached_tokens,
        completion_tokens=record.usage.completion_tokens,
        cost_usd=record.cost_usd,
        caller_cost_usd=record.caller_cost_usd,
    )


def failure_kinds(verdict: Verdict | None, end_reason: str) -> tuple[str, ...]:
    """What went wrong in a failed call, each kind once, sorted; empty if it passed or is invalid.

    `tool_not_called tool_arguments tool_not_run tool_refused tool_not_refused` of the missed calls; `path_short` (the
    transfers stop before the end of the expected ones) or `path_other`; `row_missing row_extra row_wrong` of the
    database; and `ended_...` if nobody hung up.
    """
    if verdict is None or verdict.passed:
        return ()
    kinds = {f"tool_{f.why or 'not_called'}" for f in verdict.tools.findings if f.kind == "missing"}
    if not verdict.path.passed:
        actual, expected = verdict.path.actual, verdict.path.expected
        kinds.add("path_short" if actual == expected[: len(actual)] else "path_other")
    kinds |= {"row_wrong" if f.differs_from is not None else f"row_{f.kind}" for f in verdict.state.findings}
    if end_reason not in _NORMAL_ENDS:
        kinds.add(f"ended_{end_reason}")
    return tuple(sorted(kinds))


def filter_rows(
    rows: Sequence[CallRow],
    *,
    packs: Sequence[str] = (),
    lines: Sequence[str] = (),
    categories: Sequence[str] = (),
    difficulties: Sequence[str] = (),
    models: Sequence[str] = (),
) -> list[CallRow]:
    """The rows that fit all filters; an empty one lets everything through. A category is `C5` or `PACK/C5`.

    Raises:
        NotFoundError: a value that no row has; lists those there are.
    """
    kept = list(rows)
    for kind, wanted, of in (
        ("pack", packs, lambda r: (r.pack,)),
        ("line", lines, lambda r: (r.line,)),
        ("category", categories, lambda r: (r.category, r.category.rpartition("/")[2])),
        ("difficulty", difficulties, lambda r: (r.difficulty,)),
        ("model", models, lambda r: (r.model,)),
    ):
        known = {value for row in rows for value in of(row) if value}
        for value in wanted:
            if value not in known:
                raise NotFoundError(kind, value, sorted(known))
        if wanted:
            kept = [row for row in kept if any(value in wanted for value in of(row))]
    return kept


def _sort_key(row: CallRow) -> tuple[str, str, str, int, int, str]:
    return row.task, row.model, row.line, row.trial, row.seed, row.started_at


def _gold(folder: Path) -> GoldFile | None:
    path = folder / GOLD_FILE
    if not path.is_file():
        return None
    try:
        return GoldFile.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise ConfigError(path, "", "not gold of this version: " + " ".join(str(error).splitlines()[:3])) from error


def _state(folder: Path) -> State:
    path = folder / STATE_FILE
    try:
        state: State = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(path, "", f"cannot be read: {error}") from error
    return state


def _verified(record: CallRecord, state: State, gold: GoldFile) -> CallRecord:
    """The record with the verdict of this version of the verifier."""
    verdict = verify(record.trace, state, gold)
    status: Literal["pass", "fail"] = "pass" if verdict.passed else "fail"
    outcome = record.outcome.model_copy(update={"status": status})
    return record.model_copy(update={"verdict": verdict, "outcome": outcome})
