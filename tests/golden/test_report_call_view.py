"""The whole view of one call at 80 columns, compared with the committed text."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.report_record import BARGE_IN, EVENTS, GOLD, latency, loaded, record, shown

from callm_voice.report.terminal import call_view

pytestmark = pytest.mark.golden


def test_the_view_of_a_call_is_the_committed_text() -> None:
    expected = Path(__file__).parent / "report" / "call_view_80.txt"
    call = loaded(record(latency=latency(barge_ins=(BARGE_IN,))), gold=GOLD, events=EVENTS)
    assert shown(call_view(call)) == expected.read_text(encoding="utf-8")
