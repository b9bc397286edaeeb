"""Whatever JSON a model sends as arguments: an envelope comes back and the database stays sound."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import closing
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.desk_call import tiny_pack

from callm_voice.desk.arguments import kind_of
from callm_voice.desk.cleaning import clean_json
from callm_voice.desk.toolkit import Name, Phone, sql_value
from verifier.normalise import same

pytestmark = pytest.mark.property

WORDS = st.sampled_from(
    ["challah", "sourdough", "Otto Sample", "+12125550102", "212-555-0102", "2026-08-21", "2026-08-21T10:00", "10:00",
     "true", "2", "-1", "9" * 30, "'; DROP TABLE orders; --", "\x00", "\ud800", "now", "order"]
)  # fmt: skip
SCALARS = WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=2), max_leaves=5
)
KEYS = st.sampled_from(sorted({a for types in tiny_pack().arg_types().values() for a in types})) | st.text(max_size=4)
NAMES = st.sampled_from([*tiny_pack().arg_types(), "transfer_to_", "transfer_to_x", "", "drop"]) | st.text(max_size=6)
CALLS = st.lists(st.tuples(NAMES, st.dictionaries(KEYS, VALUES, max_size=6)), max_size=6)
VALID_ORDER = st.fixed_dictionaries(
    {"item": st.sampled_from(["challah", "sourdough", "cake"]), "day": st.dates().map(str)},
    optional={"quantity": st.integers(-2, 60), "gift": st.booleans(), "notes": st.lists(WORDS, max_size=2)},
)


def sound(database):
    """Foreign keys, checks and the file's structure hold, and no transaction is left open."""
    connection = database.connection
    assert not connection.in_transaction
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert list(database.tables()) == ["customers", "orders", "attempts"]
    for row in database.dump()["orders"]:
        assert row["item"] in ("challah", "sourdough")
        assert 1 <= row["quantity"] <= 50
        assert row["created_at"] == "2026-08-18 09:30:00"


@settings(max_examples=60, deadline=None)
@given(calls=CALLS)
def test_any_arguments_get_an_answer_and_leave_the_database_sound(calls):
    pack = tiny_pack()
    with closing(pack.open_database()) as database:
        dispatcher, role = pack.dispatcher(database), pack.role("front")
        for name, args in calls:
            answer = dispatcher.run(role, name, clean_json(args))
            json.dumps(answer.output, allow_nan=False).encode()
            assert answer.ok in (answer.output.get("ok"), answer.output.get("success"))
            role = pack.role(answer.to_role or role.name)
        sound(database)


@settings(max_examples=50, deadline=None)
@given(args=VALID_ORDER, identified=st.booleans())
def test_a_call_that_fails_writes_nothing_and_one_that_succeeds_writes_one_row(args, identified):
    pack = tiny_pack()
    with closing(pack.open_database()) as database:
        dispatcher = pack.dispatcher(database)
        dispatcher.session["customer_id"] = 2 if identified else None
        before = database.dump()
        answer = dispatcher.run(pack.role("baking"), "place_order", clean_json(args))
        sound(database)
        written = len(database.dump()["orders"]) - len(before["orders"])
        assert written == (1 if answer.ok else 0)
        assert answer.ok or database.dump() == before


ANNOTATIONS = st.sampled_from(
    [str, int, float, bool, dt.date, dt.time, dt.datetime, list[str], Literal["challah", "2"], Annotated[str, Phone],
     Annotated[str, Name]]
)  # fmt: skip
DATES = st.dates().map(str) | st.datetimes().map(lambda d: d.isoformat(" ", "seconds")) | st.times().map(str)


@settings(max_examples=200, deadline=None)
@given(annotation=ANNOTATIONS, value=VALUES | DATES)
def test_what_a_tool_gets_means_to_the_verifier_what_the_model_gave(annotation, value):
    kind = kind_of(annotation)
    try:
        taken = kind.convert(value)
    except ValueError:
        return
    given_back = taken if isinstance(taken, bool | list) else sql_value(taken)
    if isinstance(taken, dt.time | dt.datetime) and taken.microsecond:
        return  # the databases of packs hold whole seconds
    assert same(given_back, value, kind.arg_type)
