"""`callm-voice line wer` for two utterances with a real voice and real Whisper, stopped and gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.linewer.results import load_results
from callm_voice.bench.linewer.run import ROWS_FILE, read_rows
from tests.support.cli import callm

pytestmark = [pytest.mark.models, pytest.mark.timeout(600)]

OWN = """id: own
utterances:
  - id: a
    text: "My number is 212-555-0133."
    entities: [{kind: phone, text: 212-555-0133}]
  - id: b
    text: "I was born on June 30th, 1972."
    entities: [{kind: date_of_birth, text: "June 30th, 1972"}]
"""
WER_CEILING = 0.2
"""Measured: 0 on both lines."""


def test_two_utterances_are_heard_scored_and_not_heard_again(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN)
    args = (
        "line", "wer", "--utterances", "own.yaml", "--profiles", "clean-16k,pstn-g711u", "--voices", "heart",
        "--workers", "1", "--sounds", "3", "--out", "out",
    )  # fmt: skip
    ran = callm(*args, "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    results = load_results(tmp_path / "out/results.json")
    assert results.model_dump(mode="json") == ran.json
    assert results.heard == results.planned
    for cell in results.cells:
        assert cell.wer is not None
        assert cell.wer.value <= WER_CEILING
        assert {kind: (count.count, count.of) for kind, count in cell.entities.items()} == {
            "phone": (1, 1), "date_of_birth": (1, 1)
        }  # fmt: skip
        assert cell.non_speech.heard == cell.non_speech.planned == 3
        assert cell.non_speech.with_text == 0  # silence and two hisses
        assert cell.cpu_per_audio is not None
        assert cell.cpu_per_audio > 0
    rows = read_rows(tmp_path / "out" / ROWS_FILE)
    again = callm(*args, cwd=tmp_path)
    assert again.code == 0
    assert f"{len(rows)} of them done before" in again.err
    assert read_rows(tmp_path / "out" / ROWS_FILE) == rows


def test_without_its_packages_it_says_so_before_it_listens(tmp_path: Path) -> None:
    blocked = tmp_path / "jiwer.py"
    blocked.write_text("raise ImportError('not here')\n")
    ran = callm("line", "wer", "--limit", "1", "--out", str(tmp_path / "out"), env={"PYTHONPATH": str(tmp_path)})
    assert ran.code == 3
    assert "callm-voice[wer]" in ran.error_lines[0]
    assert not (tmp_path / "out").exists()
