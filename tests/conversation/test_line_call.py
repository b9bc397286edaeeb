"""A whole call over a line that loses packets and delays them, with scripted engines at the fast pace."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
from support.cli import scripted_call

from callm_voice.core.events import Event, LineEnded, LineLoss, from_jsonl

pytestmark = pytest.mark.conversation


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Event]]:
    ran = scripted_call(tmp_path_factory.mktemp("run"), "--line", "loss-mobile")
    assert ran.code == 0, ran.err
    line = next(line for line in ran.err.splitlines() if line.startswith("call folder: "))
    events = Path(line.removeprefix("call folder: ")) / "events.jsonl"
    return ran.json, from_jsonl(events.read_text("utf-8"))


def test_the_call_passes_and_names_its_codec(call: tuple[dict[str, Any], list[Event]]) -> None:
    record, _ = call
    assert record["verdict"]["passed"] is True
    assert record["engines"]["codec"]["engine"] == "amr"
    assert record["config"]["line"] == "loss-mobile"


def test_spans_sum_to_voice_to_voice_in_which_the_jitter_buffer_is(call: tuple[dict[str, Any], list[Event]]) -> None:
    record, events = call
    (ended,) = [e for e in events if isinstance(e, LineEnded)]
    assert ended.to_caller is not None
    latency = record["latency"]
    assert latency["line"]["codec_one_way_ms"] == pytest.approx(ended.codec_delay_ms)
    assert latency["line"]["codec_one_way_ms"] >= 40
    assert latency["turns"]
    audible_ms = []
    for turn in latency["turns"]:
        assert all(span["duration_ms"] >= 0 for span in turn["spans"])
        assert sum(span["duration_ms"] for span in turn["spans"]) == pytest.approx(turn["v2v_ms"], abs=0.01)
        audible_ms += [span["duration_ms"] for span in turn["spans"] if span["name"] == "audible"]
    # Least depth of the buffer, and a frame may be recorded a packet before its event; late ticks shorten single ones.
    assert statistics.median(audible_ms) >= 40 - 20


def test_every_burst_is_told_and_they_add_up(call: tuple[dict[str, Any], list[Event]]) -> None:
    _, events = call
    (ended,) = [e for e in events if isinstance(e, LineEnded)]
    for direction, counts in (("to_agent", ended.to_agent), ("to_caller", ended.to_caller)):
        assert counts is not None
        assert counts.sent == ended.ticks
        assert counts.concealed_by == "codec"
        bursts = [e for e in events if isinstance(e, LineLoss) and e.direction == direction]
        assert sum(e.packets for e in bursts) == counts.concealed > 0
        assert 0.005 < counts.lost / counts.sent < 0.05
