"""A call record with every field filled, for tests that write and read records. An invented call."""

from __future__ import annotations

from typing import Any

from support.verifier_cases import GOLD_FILE, SEED, perfect_trace

from callm_voice.core.latency import InferenceLatency, LatencySummary, Percentiles, Span, TurnLatency
from callm_voice.core.record import CallConfig, CallRecord, EngineInfo, Outcome, TranscriptTurn, Usage
from verifier.verify import verify


def full_record(**changes: Any) -> CallRecord:
    """A failed call; `changes` replace fields of the record."""
    some = Percentiles(n=1, p50=250.0, p95=250.0, p99=250.0, max=250.0)
    fields: dict[str, Any] = {
        "product_version": "0.1.0",
        "started_at": "2026-01-31T09:30:00Z",
        "duration_ms": 60_000.0,
        "ticks": 3000,
        "rate_hz": 8000,
        "config": CallConfig(
            task="demo/C1-E1", pack_version="1.0.0", model="oracle", pipeline="cpu", line="pstn-g711u",
            caller="scripted", pace="fast", seed=7, trial=2,
        ),
        "engines": {"stt": EngineInfo(engine="scripted", scripted=True, settings={"errors": [["Ana", "Anna"]]})},
        "transcript": (
            TranscriptTurn(party="agent", turn_id=0, role="router", start_ms=0.0, end_ms=900.0, said="Hi.", played="H"),
            TranscriptTurn(party="caller", turn_id=1, start_ms=1200.0, end_ms=2000.0, said="Füß \u2028", heard="fuss"),
        ),
        "trace": perfect_trace(),
        "usage": Usage(inferences=3, prompt_tokens=1200),
        "cost_usd": 0.087,
        "outcome": Outcome(status="fail", end_reason="caller_hangup"),
        "verdict": verify(perfect_trace(), SEED, GOLD_FILE),
        "latency": LatencySummary(
            in_category=True,
            ttft={"all": some, "caller_turn": Percentiles(n=0)},
            v2v=some,
            spans={"stt": some},
            turns=(
                TurnLatency(
                    turn_id=1, speech_end_ms=2000.0, audio_start_ms=2900.0, v2v_ms=900.0,
                    spans=(Span(name="stt", start_ms=2000.0, duration_ms=900.0),),
                ),
            ),
            inferences=(InferenceLatency(inference_id=1, turn_id=1, cause="caller_turn", role="r", ttft_ms=250.0),),
        ),
        "warnings": ("one",),
        "host": {"cpus": 2, "load": [0.5, None]},
    }  # fmt: skip
    return CallRecord(**fields | changes)
