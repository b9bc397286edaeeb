"""The format of a scoreboard: what `callm-voice score --json` prints. Shares and scores are 0 to 1, times in ms."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from callm_voice.core.latency import TTFT_BAR_MS
from verifier.scores import Interval

SCORE_VERSION = 1
K = 5
"""Of pass5."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figures(_Frozen):
    """Some trials of one model."""

    pass_at_1: float | None
    """Mean over tasks of the share of trials that passed. None: some task has no valid trial."""
    pass_at_1_low: float | None
    """The same with a task's missing trial counted as failed."""
    pass_at_1_high: float | None
    """The same with it counted as passed."""
    pass_at_1_interval: Interval | None
    """Tasks are resampled within packs. None: undefined, or fewer than two tasks."""
    pass5: float | None
    """Mean over tasks of C(c, 5) / C(n, 5). None: some task has fewer than five valid trials."""
    pass5_low: float | None
    """Missing trials counted as failed."""
    pass5_high: float | None
    """Missing trials counted as passed."""
    pass5_interval: Interval | None
    tasks: int
    trials: int
    """Valid ones."""
    passed: int
    invalid: int
    """Invalid attempts: never scored."""


class Group(Figures):
    """The trials of one model in one pack, category, difficulty or line."""

    key: str


class TtftFigures(_Frozen):
    """Time to first token over all inferences of a cause; invalid calls and lagged ones left out."""

    n: int
    p50: float | None
    p95: float | None
    p99: float | None
    share_over_bar: float | None


class HeadlineTtft(TtftFigures):
    """Over caller turns."""

    p50_low: float | None
    """95 % interval of the median; tasks are resampled, because turns of one task are alike. None: fewer than two."""
    p50_high: float | None


class V2vFigures(_Frozen):
    """Voice to voice on the wire, over answered turns."""

    n: int
    p50: float | None
    p95: float | None
    p99: float | None


class Cost(_Frozen):
    """US dollars. Unknown is None, never zero."""

    per_call_usd: float | None
    """Mean over the scored calls of the headline; None if the cost of one of them is unknown."""
    known_calls: int
    unknown_calls: int
    total_usd: float | None
    """Of all attempts whose cost is known, invalid ones too. None: of none."""
    caller_per_call_usd: float | None
    """Of the model that played the caller, mean over the calls in which that is known. Never part of the others."""


class MissedTool(_Frozen):
    tool: str
    missed: int
    """Expected calls that nothing matched."""
    expected: int


class TaskDetail(_Frozen):
    """One task over one line."""

    task: str
    pack: str
    category: str
    difficulty: str
    line: str
    passed: int
    trials: int
    invalid: int
    pass_at_1: float | None
    pass5: float | None
    pass5_low: float | None
    pass5_high: float | None
    results: tuple[Literal["pass", "fail"], ...]
    """Of the valid trials, by their number."""


class ModelScore(Figures):
    """One model. The headline is over its voice calls; over its text calls if it has no others."""

    model: str
    basis: Literal["voice", "text"]
    lines: tuple[str, ...]
    """Of the headline."""
    invalid_by_kind: dict[str, int]
    """Over all lines; every kind is there."""
    superseded: int
    """Calls that were made again on demand; counted, never scored."""
    ttft_ms: HeadlineTtft
    ttft_by_cause: dict[str, TtftFigures]
    in_category: bool | None
    """The median is at most the bar. None: no caller turn has a TTFT."""
    settled: bool | None
    """The interval of the median does not hold the bar. None: there is no interval."""
    bar_ms: float = TTFT_BAR_MS
    scripted: bool
    """Some figure came from a scripted engine: it shows the harness, not a model's speed."""
    latency_left_out: int
    """Scored calls whose latency does not count because the harness lagged."""
    v2v_ms: V2vFigures
    cost_usd: float | None
    """`cost.per_call_usd`."""
    cost: Cost
    by_pack: tuple[Group, ...]
    by_category: tuple[Group, ...]
    """Key `PACK/C5`."""
    by_difficulty: tuple[Group, ...]
    by_line: tuple[Group, ...]
    """All lines, `text` too."""
    gates_failed: dict[str, int]
    """`tools`, `path`, `state` → failed calls in which that gate failed; a call may count in several."""
    most_missed_tools: tuple[MissedTool, ...]
    """Worst first."""
    failure_kinds: dict[str, int]
    """Kind → failed calls that show it, most first; a call may show several."""
    tasks_detail: tuple[TaskDetail, ...]


class ModelComparison(_Frozen):
    """Two models over the tasks and lines that both were called on: the first minus the second."""

    first: str
    second: str
    tasks: int
    trials: int
    """Of the first that are paired."""
    mean_difference: float | None
    """Of pass@1, mean over tasks."""
    interval: Interval | None
    p_value: float | None
    """Two-sided sign-flip test over tasks."""
    p_holm: float | None
    """Adjusted for all pairs of models (Holm)."""
    exact: bool | None
    better: str | None
    """The model that is better at p_holm <= 0.05; None: no such finding."""


class VoiceCost(_Frozen):
    """The same tasks of one model by voice and by text: voice minus text."""

    model: str
    line: str
    """A voice line, or `all` of them."""
    tasks: int
    pass_at_1_text: float | None
    """Over the common tasks, as the next."""
    pass_at_1_voice: float | None
    mean_difference: float | None
    interval: Interval | None
    p_value: float | None
    """Not adjusted."""
    exact: bool | None


class MisheardWords(_Frozen):
    said: str
    heard: str
    calls: int


class BlamedCall(_Frozen):
    task: str
    line: str
    trial: int
    blame: str
    because: str


class ModelBlame(_Frozen):
    """The failed voice calls of one model by who lost them (docs/method.md)."""

    model: str
    failed: int
    """Failed voice calls that could be looked at."""
    calls: dict[str, int]
    """`recogniser`, `model`, `caller`, `unclear` → failed calls."""
    missed_tools: dict[str, int]
    """The same by missed tool calls."""
    words: tuple[MisheardWords, ...]
    """Expected values that were said and not heard, most often first."""
    detail: tuple[BlamedCall, ...]


class CallCounts(_Frozen):
    found: int
    """Different finished calls."""
    scored: int
    invalid: int
    superseded: int
    by_person: int = 0
    """Made by a person: shown, never scored, and in none of the figures."""


class RunScore(_Frozen):
    """The whole scoreboard, computed from call folders alone."""

    score_version: int = SCORE_VERSION
    product_version: str
    verifier_version: str
    calls: CallCounts
    notes: tuple[str, ...]
    """What keeps scores from being comparable, in words; empty: nothing was found."""
    models: tuple[ModelScore, ...]
    """Best pass@1 first."""
    comparisons: tuple[ModelComparison, ...]
    voice_cost: tuple[VoiceCost, ...]
    blame: tuple[ModelBlame, ...]
