"""Whatever a model sends to the legal desk's tools: an answer comes back, and the database stays sound."""

from __future__ import annotations

import json
from contextlib import closing
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.cleaning import clean_json
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
WORDS = st.sampled_from(
    ["", " ", "x", "Otto Sample", "+13125550143", "312-555-0125", "2026-09-21", "0001-01-01", "9999-12-31", "true",
     "'; --", "\x00", "\ud800", "9" * 30]
)  # fmt: skip
ANY = (
    WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(WORDS, max_size=2)
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool with its required arguments, mostly of the right kind."""
    tool = legal().tools[draw(st.sampled_from(sorted(legal().tools)))]
    args: dict[str, Any] = {}
    for argument in tool.arguments:
        if argument.required or draw(st.booleans()):
            good = [*PLAUSIBLE.get(argument.name, ()), *argument.kind.schema.get("enum", ())]
            args[argument.name] = draw(st.sampled_from(good) | ANY if good else ANY)
    return tool.name, args


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(calls(), min_size=1, max_size=12),
    who=st.sampled_from([None, "cli_laura_bennett", "cli_olivia_barrett"]),
)
def test_any_arguments_get_an_answer_and_leave_the_database_sound(
    made: list[tuple[str, dict[str, Any]]], who: str | None
) -> None:
    pack = legal()
    with closing(pack.open_database()) as database:
        dispatcher = pack.dispatcher(database)
        dispatcher.session["client_id"] = who
        for name, args in made:
            role = next(role for role in pack.roles.values() if name in role.tools)
            answer = dispatcher.run(role, name, clean_json(args))
            json.dumps(answer.output, allow_nan=False).encode()
            assert answer.output["error_code"] != "tool_error", (name, args, answer.error)
        assert database.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert not database.connection.in_transaction
