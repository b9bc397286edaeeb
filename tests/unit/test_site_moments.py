"""What went wrong, and when: one kind a call, at the moment that is worth listening to."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_builder import TURN_MS, MadeCall, Plot, write_call

from callm_voice.core.record import Outcome
from callm_voice.report.score_rows import load_row
from callm_voice.report.site.collect import find_places, load_call
from callm_voice.report.site.moments import KINDS, Moment, moment_of

pytestmark = pytest.mark.unit


def moment(tmp_path: Path, plot: Plot, **changes: object) -> Moment | None:
    folder = write_call(tmp_path, MadeCall(plot=plot, changes=dict(changes)))
    call = load_call(find_places([folder])[0])
    return moment_of(call.record, load_row(folder).blame, call.events)


@pytest.mark.parametrize("plot", ["pass", "passes_misheard"])
def test_a_call_that_passed_has_none(tmp_path: Path, plot: Plot) -> None:
    assert moment(tmp_path, plot) is None


@pytest.mark.parametrize(
    ("plot", "kind", "t_ms", "words"),
    [
        ("misheard_name", "misheard", TURN_MS, "Anna Feel"),
        ("misheard_number", "misheard", 4 * TURN_MS, "0138"),
        ("turn_lost", "misheard", 4 * TURN_MS, "nothing"),
        ("wrong_argument", "arguments", 3 * TURN_MS + 2000, "move with another new_start"),
        ("refused", "arguments", 3 * TURN_MS + 2000, "move was refused"),
        ("missing_call", "not_called", 4 * TURN_MS, "send_link was never called"),
        ("wrong_path", "handoff", 3 * TURN_MS + 2010, "handed off to billing, expected none"),
        ("harness", "invalid", 4 * TURN_MS + 2100, "harness at fault"),
    ],
)
def test_each_kind_of_failure_has_its_moment(tmp_path: Path, plot: Plot, kind: str, t_ms: float, words: str) -> None:
    found = moment(tmp_path, plot)
    assert found is not None
    assert (found.kind, found.t_ms) == (kind, t_ms)
    assert words in found.what


def test_a_row_too_many_is_a_failure_of_the_state(tmp_path: Path) -> None:
    found = moment(tmp_path, "extra_row")
    assert found is not None
    assert (found.kind, found.gates) == ("state", ("state",))
    assert "links" in found.what


def test_a_call_that_ended_for_silence_is_a_timeout_before_all_else(tmp_path: Path) -> None:
    found = moment(tmp_path, "misheard_name", outcome=Outcome(status="fail", end_reason="silence"))
    assert found is not None
    assert found.kind == "timeout"


def test_every_kind_has_a_heading() -> None:
    from callm_voice.report.site import moments

    assert moments.__doc__ is not None
    assert [kind for kind in KINDS if f"\n    {kind} " not in moments.__doc__] == []
