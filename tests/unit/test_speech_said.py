"""What the scripted recogniser is told."""

from __future__ import annotations

import pytest

from callm_voice.speech.said import SaidLog

pytestmark = pytest.mark.unit


@pytest.fixture
def log() -> SaidLog:
    said = SaidLog()
    said.add("one two three four", 1000, 2000)
    said.add("five six", 3000, 3500)
    return said


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "expected"),
    [
        (700, 2200, "one two three four"),
        (700, 4000, "one two three four five six"),
        (1500, 2200, "three four"),
        (2000, 3000, ""),
        (0, 900, ""),
    ],
)
def test_words_count_where_their_middle_lies(log: SaidLog, start_ms: float, end_ms: float, expected: str) -> None:
    assert log.lookup(start_ms, end_ms) == expected
