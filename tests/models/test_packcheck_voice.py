"""`packs check --voice` with the real voice, line and Whisper."""

from __future__ import annotations

import pytest
from support.small_pack import TASK, small_pack

from callm_voice.bench.packcheck.run import check_packs

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Listens anew and gives what was heard, line by line."""
    monkeypatch.setattr("callm_voice.bench.packcheck.audible.cache_dir", lambda: tmp_path / "cache")
    return lambda: [path.read_text(encoding="utf-8") for path in (tmp_path / "cache" / "audible").iterdir()]


def test_the_small_packs_caller_is_understood_as_it_speaks(tmp_path, kept):
    (report,) = check_packs([small_pack(tmp_path)], voice=True)
    assert (report.document()["inaudible"], report.problems) == (0, ())
    assert len(kept()) == 2  # its name and its number, each once


def test_a_name_that_nobody_knows_is_understood_when_it_is_spelled(tmp_path, kept):
    edits = ("seed.sql", "'Nora'", "'Xquzrhk'"), (TASK, "Nora", "Xquzrhk")
    (report,) = check_packs([small_pack(tmp_path, *edits)], voice=True)
    assert report.document()["inaudible"] == 0
    letters = ["".join(c for c in text.upper() if c.isalpha()) for text in kept()]
    assert "XQUZRHK" in letters
    assert not any("MYNAMEIS" in text and "XQUZRHK" in text for text in letters)
