"""What an attempt that does not count leaves behind, and how long to wait before the next one."""

from __future__ import annotations

import os
import re
from typing import Literal

from callm_voice import __version__
from callm_voice.bench.assemble import host
from callm_voice.bench.run.plan import PlannedCall, RunPlan
from callm_voice.core.record import CallConfig, CallRecord, Outcome, Usage
from callm_voice.llm.secrets import MIN_SECRET_CHARS, Secret, redact
from verifier.trace import Trace

MAX_BACKOFF_S = 300.0
MAX_RETRY_AFTER_S = 3600.0
"""A server that asks for more is asked again after so long."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)


class Backoff:
    """How long a model is left alone after infrastructure faults: doubled with each one in a row.

    Args:
        first_s: after the first.
    """

    def __init__(self, first_s: float) -> None:
        self._first_s = first_s
        self._in_a_row = 0

    def fault(self, retry_after_s: float | None) -> float:
        """Seconds to wait now. What the server asked for (Retry-After, RFC 9110 section 10.2.3) counts if more."""
        wait_s = min(self._first_s * 2.0**self._in_a_row, MAX_BACKOFF_S)
        self._in_a_row = min(self._in_a_row + 1, 30)
        return max(wait_s, min(retry_after_s or 0.0, MAX_RETRY_AFTER_S))

    def success(self) -> None:
        """A call went through."""
        self._in_a_row = 0


def invalid_record(
    plan: RunPlan, call: PlannedCall, kind: Literal["harness", "infrastructure"], detail: str, *, at: str
) -> CallRecord:
    """The record of an attempt that left none of its own: its process died, or the line never opened.

    Args:
        detail: why; keys of the environment that stand in it are masked.
        at: UTC.
    """
    return CallRecord(
        product_version=__version__,
        started_at=at,
        duration_ms=0.0,
        ticks=0,
        rate_hz=0,
        config=CallConfig(
            task=f"{call.pack}/{call.task}",
            pack_version=plan.packs[call.pack].version,
            pack_hash=plan.packs[call.pack].hash,
            model=plan.models[call.model].id,
            pipeline=plan.pipeline.id,
            line=plan.lines[call.line].id,
            caller=plan.args.caller,
            pace=plan.args.pace,
            seed=call.seed,
            trial=call.trial,
        ),
        engines={},
        transcript=(),
        trace=Trace(start_role=plan.packs[call.pack].start_role),
        usage=Usage(),
        outcome=Outcome(
            status="invalid",
            invalid_kind=kind,
            end_reason="harness_error" if kind == "harness" else "model_error",
            detail=without_keys(detail),
        ),
        host=host(),
    )


def without_keys(text: str) -> str:
    """`text` with the values of all environment variables that are named like keys masked."""
    keys = (value for name, value in os.environ.items() if _SECRET_NAME.search(name))
    return redact(text, [Secret(key) for key in keys if len(key) >= 2 * MIN_SECRET_CHARS])
