"""Calls that a model might send to a pack's tools, drawn by Hypothesis, and what has to hold whatever they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from hypothesis import strategies as st

from callm_voice.desk.cleaning import clean_json
from callm_voice.desk.pack import Pack

Made = list[tuple[str, dict[str, Any]]]
WORDS = st.sampled_from(
    ["", " ", "x", "Otto Sample", "+13125550143", "312-555-0125", "2026-09-21", "0001-01-01", "9999-12-31", "true",
     "'; --", "\x00", "\ud800", "9" * 30]
)  # fmt: skip
ANY = (
    WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(WORDS, max_size=2)
)


@st.composite
def calls(draw: st.DrawFn, pack: Pack, plausible: Mapping[str, Sequence[Any]]) -> tuple[str, dict[str, Any]]:
    """A tool with its required arguments, mostly of the right kind.

    Args:
        plausible: argument → values that get a call past its first guard.
    """
    tool = pack.tools[draw(st.sampled_from(sorted(pack.tools)))]
    args: dict[str, Any] = {}
    for argument in tool.arguments:
        if argument.required or draw(st.booleans()):
            good = [*plausible.get(argument.name, ()), *argument.kind.schema.get("enum", ())]
            args[argument.name] = draw(st.sampled_from(good) | ANY if good else ANY)
    return tool.name, args


def assert_answered_and_sound(pack: Pack, session: Mapping[str, Any], made: Made) -> None:
    """Every call is answered in plain JSON and none is a fault of the tool's; the database keeps its references.

    Args:
        session: what is known of the caller before the first call.
    """
    with closing(pack.open_database()) as database:
        dispatcher = pack.dispatcher(database)
        dispatcher.session.update(session)
        for name, args in made:
            role = next(role for role in pack.roles.values() if name in role.tools)
            answer = dispatcher.run(role, name, clean_json(args))
            json.dumps(answer.output, allow_nan=False).encode()
            assert answer.output["error_code"] != "tool_error", (name, args, answer.error)
        assert database.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert not database.connection.in_transaction
