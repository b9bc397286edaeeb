"""The published table of recogniser errors is what its results say, and its results are of what is shipped now."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.linewer.page import page
from callm_voice.bench.linewer.results import load_results
from callm_voice.bench.linewer.utterances import KINDS, load_utterances

pytestmark = pytest.mark.meta
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "wer-by-profile.json"


def test_the_page_is_made_from_its_results() -> None:
    assert (ROOT / "docs/wer-by-profile.md").read_text(encoding="utf-8") == page(load_results(RESULTS))


def test_the_results_are_of_the_shipped_utterances_and_profiles() -> None:
    results, shipped = load_results(RESULTS), load_utterances()
    assert (results.utterance_set, results.utterances) == (shipped.id, len(shipped.utterances))
    assert results.entities == {k: sum(e.kind == k for u in shipped.utterances for e in u.entities) for k in KINDS}
    assert sorted(results.profiles) == sorted(path.stem for path in (ROOT / "audio_profiles").glob("*.yaml"))


def test_the_results_are_small() -> None:
    assert RESULTS.stat().st_size < 300_000
