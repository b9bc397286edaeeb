"""What `callm-voice calibrate` reports."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

TTFT_BAR_MS = 5.0
V2V_BAR_MS = 20.0
SPANS_BAR_MS = 0.01


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Errors(_Frozen):
    """Probe minus truth. With n = 0 all are None: nothing was compared, which is not an error of 0."""

    n: int
    p50: float | None = None
    """Percentiles of the magnitude."""
    p95: float | None = None
    max: float | None = None
    bias: float | None = None
    """Median with its sign: positive if the probe says more than the truth."""


class Comparison(_Frozen):
    """One figure of the probes beside the truth, milliseconds."""

    what: str
    """`inference 3 (tool_result)`, `turn 2`, `barge-in over turn 3`."""
    probe_ms: float
    truth_ms: float

    @property
    def error_ms(self) -> float:
        """Probe minus truth."""
        return self.probe_ms - self.truth_ms


class Case(_Frozen):
    """One call of the calibration."""

    pipeline: str
    ttft_ms: float
    """What the oracle was set to."""
    folder: str
    outcome: str
    inferences: int
    interrupted: int
    """By barge-in; they are compared where a first token came, and stand in no statistics of the call."""
    interrupted_in_statistics: int
    """Must be 0."""
    turns: int
    barge_ins: int
    ttft: tuple[Comparison, ...]
    last_token: tuple[Comparison, ...]
    v2v: tuple[Comparison, ...]
    barge_in: tuple[Comparison, ...]
    spans_sum_error_ms: float
    """The greatest difference between a turn's V2V and the sum of its spans."""
    missing: tuple[str, ...] = ()
    """What has no truth to be compared with: it is named, and the calibration does not pass."""
    latency_valid: bool
    invalid_reason: str | None = None


class Calibration(_Frozen):
    """The whole: cases, and the figures over all of them."""

    product_version: str
    host: dict[str, Any]
    pace: str
    line: str
    ttft_error_ms: Errors
    last_token_error_ms: Errors
    v2v_error_ms: Errors
    barge_in_error_ms: Errors
    ttft_probe_error_ms_p95: float | None
    v2v_probe_error_ms_p95: float | None
    barge_in_probe_error_ms_p95: float | None
    spans_sum_error_ms: float
    bars_ms: dict[str, float]
    missed: tuple[str, ...]
    """The bars that were missed and the comparisons that could not be made; empty: passed."""
    passed: bool
    cases: tuple[Case, ...]
