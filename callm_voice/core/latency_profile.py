"""The format of a latency profile: what `callm-voice profile` measures and what it says. Milliseconds everywhere."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callm_voice.core.latency import TTFT_BAR_MS, Percentiles
from callm_voice.core.record import EngineInfo

PROFILE_VERSION = 1
MEASUREMENTS_FILE = "measurements.jsonl"
PROFILE_FILE = "profile.json"

Kind = Literal["cold", "warm", "tool_result", "handoff_cold", "handoff_warm", "concurrent"]
KINDS: tuple[Kind, ...] = ("cold", "warm", "tool_result", "handoff_cold", "handoff_warm", "concurrent")
HEADLINE: Kind = "warm"
"""The caller's next words after a prompt that the server has read: what most turns of a call are."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measurement(_Frozen):
    """One request. All times are from the moment at which the request was sent; None where the moment never came."""

    number: int
    """From 1, in the order in which they ended."""
    round: int
    """From 1."""
    kind: Kind
    target_tokens: int
    """What the prompt was built for."""
    concurrency: int = 1
    """Requests that were sent together."""
    sent_at_ms: float
    """Since the profile began."""
    stream_opened_ms: float | None = None
    first_chunk_ms: float | None = None
    first_reasoning_ms: float | None = None
    ttft_ms: float | None = None
    first_speakable_ms: float | None = None
    last_token_ms: float | None = None
    prompt_tokens: int | None = None
    """As the server said."""
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    pieces: int = 0
    """Deltas of the answer that were read."""
    tokens_per_s: float | None = None
    """Decoding: answer tokens after the first over the time after the first."""
    tool_calls: int = 0
    finish_reason: str | None = None
    error: str | None = None
    """The request failed; it is in no statistic but the count of errors."""


class MedianInterval(_Frozen):
    """A confidence interval of the median."""

    low_ms: float
    high_ms: float
    level: float
    """What was asked for."""
    coverage: float
    """What the two order statistics give, at least `level`."""
    method: str = "exact binomial order statistics"


class Figures(_Frozen):
    """TTFT of one group of measurements."""

    ttft: Percentiles
    median_interval: MedianInterval | None = None
    """None: too few values for the level."""
    prompt_tokens: float | None = None
    """Mean of what the server said."""
    cached_tokens: float | None = None
    errors: int = 0
    no_token: int = 0
    """Answers without any answer token."""


class SizeFigures(_Frozen):
    """One prompt size."""

    target_tokens: int
    cold: Figures
    warm: Figures


class LevelFigures(_Frozen):
    """One number of simultaneous requests."""

    concurrency: int
    figures: Figures
    tokens_per_s: Percentiles
    """Of each request."""
    skew_ms: float | None = None
    """Between the first and the last request's sending, the greatest over rounds."""


class LineFit(_Frozen):
    """Least squares over all cold prompts: TTFT = intercept + slope * tokens."""

    intercept_ms: float
    ms_per_1k_tokens: float
    r2: float | None
    """None: TTFT does not vary at all."""
    n: int
    tokens_at_bar: int | None = None
    """Where the line crosses the bar. None: it does not rise, or lies above the bar from the start."""


class Drift(_Frozen):
    """Stability: the headline's median over the last third of the rounds over that of the first third."""

    ratio: float | None
    """None: fewer than three rounds, or nothing measured in one of the thirds."""
    first_third_ms: float | None = None
    last_third_ms: float | None = None


class ProfileSummary(_Frozen):
    """Headline: `headline.ttft.p50` against `bar_ms`."""

    bar_ms: float = TTFT_BAR_MS
    in_category: bool | None
    """None: no caller turn has a TTFT."""
    settled: bool | None
    """Whether the bar lies outside the interval of the median. None: there is no interval."""
    scripted: bool
    """The figures are those of the oracle: they show the instrument, not a model."""
    desk_tokens: int
    """The prompt size of the headline and of everything that is not a sweep over sizes."""
    headline: Figures
    over_bar_share: float | None
    kinds: dict[Kind, Figures]
    """At `desk_tokens`; `concurrent` holds all levels."""
    sizes: tuple[SizeFigures, ...]
    levels: tuple[LevelFigures, ...]
    fit: LineFit | None
    tokens_per_s: Percentiles
    """One request at a time; `p95` is the fast end."""
    speakable_delay: Percentiles
    """First speakable text after the first token; only answers with text."""
    drift: Drift
    errors: dict[str, int]
    """Message to count."""
    requests: int
    median_turn: int | None
    """Number of the measurement with the headline's median TTFT (the lower of two)."""


class PromptScale(_Frozen):
    """How text becomes tokens at this server; found by four small requests."""

    base_tokens: float
    """Of the shortest prompt without tools."""
    tokens_per_prose_char: float
    tokens_per_tool_char: float
    tool_base_tokens: float = 0.0
    """What a chat template adds as soon as there is any tool."""
    measured: bool
    """False: the server does not say how many tokens it read; these are rules of thumb."""


class LatencyProfile(_Frozen):
    """`profile.json`."""

    profile_version: int = PROFILE_VERSION
    product_version: str
    model: EngineInfo
    started_at: str
    duration_ms: float
    seed: int
    salt: str
    """Stands at the start of each cold prompt, so that no cache of an earlier run is hit."""
    rounds: int
    sizes: tuple[int, ...]
    concurrency: tuple[int, ...]
    answer_tokens: int
    scale: PromptScale
    notes: tuple[str, ...] = ()
    host: dict[str, Any] = Field(default_factory=dict)
    summary: ProfileSummary
    measurements: tuple[Measurement, ...]
