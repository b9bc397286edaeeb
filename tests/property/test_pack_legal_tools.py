"""Whatever a model sends to the legal desk's tools: an answer comes back, and the database stays sound."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pack_calls import Made, assert_answered_and_sound, calls

from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack

pytestmark = pytest.mark.property


@cache
def legal() -> Pack:
    return load_pack(installed_data_dir() / "packs" / "legal")


PLAUSIBLE: dict[str, list[Any]] = {
    "matter_number": ["2417", "2471", "2901"],
    "invoice_number": ["10418", "10481", "10422"],
    "line_id": ["il_10418_1", "il_10481_2"],
    "document_id": ["doc_2417_1", "doc_2733_1", "doc_2910_1"],
    "deadline_id": ["dl_brooks_answers", "dl_sandoval_reply"],
    "hearing_id": ["hear_lang", "hear_marsh"],
    "appointment_id": [1, 5, 6],
    "slot_id": ["slot_hughes_0917_0900", "slot_fisher_0917_1100", "slot_singh_0917_0900"],
    "new_slot_id": ["slot_singh_0917_1100", "slot_romero_0917_1530"],
    "office_id": ["off_elm", "Elm Court"],
    "other_party": ["Summit Foods", "Catherine Doyle"],
    "full_name": ["Laura Bennett", "Olivia Barrett"],
    "dob": ["1981-02-08", "1969-11-19"],
    "months": [3, 6, 7],
}
"""Argument → values that get a call past its first guard."""


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(st.deferred(lambda: calls(legal(), PLAUSIBLE)), min_size=1, max_size=12),
    who=st.sampled_from([None, "cli_laura_bennett", "cli_olivia_barrett"]),
)
def test_any_arguments_get_an_answer_and_leave_the_database_sound(made: Made, who: str | None) -> None:
    assert_answered_and_sound(legal(), {"client_id": who}, made)
