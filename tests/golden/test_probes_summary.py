"""One small call, its events committed and its audio made of integers: the latency summary is the same, byte for byte.

By the hand of the event log: turn 1 ends on the wire at 5,000 ms and is answered at 6,260; turn 2 (a tool, a handoff)
ends at 11,200 and is answered at 13,345.5; turn 3 is never answered.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callm_voice.core.events import from_jsonl, to_jsonl
from callm_voice.core.latency import LatencySummary
from callm_voice.probes.latency import summarise

pytestmark = pytest.mark.golden

HERE = Path(__file__).parent / "probes"
RATE_HZ = 8000
CALLER_MS = ((3000, 3900), (4100, 5000), (9000, 11_200), (16_000, 17_000))
AGENT_MS = ((320, 2400), (6260, 8000), (13_345.5, 15_400))


def channel(sounds_ms: tuple[tuple[float, float], ...], idle: int) -> np.ndarray:
    """20 s at 8 kHz: a square wave of 1 kHz in each stretch, `idle` elsewhere."""
    pcm = np.full(20 * RATE_HZ, idle, np.int16)
    for start_ms, end_ms in sounds_ms:
        first, after = round(start_ms * 8), round(end_ms * 8)
        pcm[first:after] = np.where(np.arange(after - first) // 4 % 2, -3000, 3000)
    return pcm


def summary() -> LatencySummary:
    events = from_jsonl((HERE / "events.jsonl").read_text(encoding="utf-8"))
    return summarise(events, channel(CALLER_MS, 8), channel(AGENT_MS, 0), RATE_HZ, scripted=True)


def test_the_summary_of_the_committed_call_is_byte_identical() -> None:
    text = json.dumps(summary().model_dump(mode="json"), indent=2) + "\n"
    assert text == (HERE / "summary.json").read_text(encoding="utf-8")


def test_the_golden_summary_says_what_the_log_says_by_hand() -> None:
    found = LatencySummary.model_validate_json((HERE / "summary.json").read_bytes())
    assert [(t.speech_end_ms, t.audio_start_ms) for t in found.turns] == [(5000, 6260), (11_200, 13_345.5)]
    assert (found.unanswered_turns, found.interrupted_inferences, found.ttft["caller_turn"].n) == (1, 1, 2)


def test_the_committed_log_is_in_the_form_that_the_product_writes() -> None:
    text = (HERE / "events.jsonl").read_text(encoding="utf-8")
    assert to_jsonl(from_jsonl(text)) == text
