"""The published table of recogniser errors is what its results say, and its results are of what is shipped now."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from callm_voice.bench.linewer.page import page
from callm_voice.bench.linewer.plan import make_plan
from callm_voice.bench.linewer.results import load_results
from callm_voice.bench.linewer.run import read_rows
from callm_voice.bench.linewer.score import Scorer, score_rows
from callm_voice.bench.linewer.utterances import KINDS, load_utterances

pytestmark = pytest.mark.meta
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "wer-by-profile.json"
ROWS = ROOT / "docs" / "wer-by-profile.jsonl.gz"


def test_the_page_is_made_from_its_results() -> None:
    assert (ROOT / "docs/wer-by-profile.md").read_text(encoding="utf-8") == page(load_results(RESULTS))


def test_the_results_are_what_was_heard(tmp_path: Path) -> None:
    rows_file = tmp_path / "results.jsonl"
    rows_file.write_bytes(gzip.decompress(ROWS.read_bytes()))
    plan, rows = make_plan(load_utterances()), read_rows(rows_file)
    results = load_results(RESULTS)
    heard = [rows.pop(what.key) for what in plan.listenings() if what.key in rows]
    assert rows == {}, "heard of another plan: lines, voices or utterances have changed since"
    again = score_rows(
        plan, heard, scorer=Scorer(), version=results.product_version, made_at=results.made_at, host=results.host
    )
    assert again == results


def test_the_results_are_of_the_shipped_utterances_and_profiles() -> None:
    results, shipped = load_results(RESULTS), load_utterances()
    assert (results.utterance_set, results.utterances) == (shipped.id, len(shipped.utterances))
    assert results.entities == {k: sum(e.kind == k for u in shipped.utterances for e in u.entities) for k in KINDS}
    assert sorted(results.profiles) == sorted(path.stem for path in (ROOT / "audio_profiles").glob("*.yaml"))


def test_the_results_are_small() -> None:
    assert RESULTS.stat().st_size < 300_000
