"""Keys that were pressed, and those that were recognised of them."""

from __future__ import annotations

from typing import Any

import pytest

from callm_voice.report.keys import key_rows

pytestmark = pytest.mark.unit


def pressed(t_ms: float, digits: str) -> dict[str, Any]:
    return {"type": "dtmf_sent", "t_ms": t_ms, "utterance_id": 1, "digits": digits}


def recognised(t_ms: float, digit: str, turn_id: int = 1) -> dict[str, Any]:
    return {"type": "dtmf_heard", "t_ms": t_ms, "turn_id": turn_id, "digit": digit}


def texts(*events: dict[str, Any]) -> list[tuple[float, str]]:
    return [(row.t_ms, row.text) for row in key_rows(events)]


def test_the_keys_of_one_turn_are_one_row_at_its_last_key() -> None:
    assert texts(pressed(100, "12"), recognised(180, "1"), recognised(380, "2")) == [
        (100, "pressed 12"), (380, "recognised 12"),
    ]  # fmt: skip


def test_keys_pressed_in_two_goes_and_recognised_in_one_turn_are_the_same_keys() -> None:
    rows = key_rows([pressed(100, "1"), pressed(400, "2"), recognised(180, "1"), recognised(480, "2")])
    assert [row.instead_of for row in rows] == [None, None, None]


def test_other_keys_than_were_pressed_say_so() -> None:
    assert texts(pressed(100, "12"), recognised(180, "7"))[1] == (180, "recognised 7, pressed were 12")


def test_keys_that_nobody_pressed_say_so() -> None:
    assert texts(recognised(180, "7")) == [(180, "recognised 7, pressed were none")]


def test_keys_that_were_not_recognised_say_so() -> None:
    assert texts(pressed(100, "1"), recognised(180, "1"), pressed(900, "2"))[-1] == (900, "pressed 2, none recognised")
