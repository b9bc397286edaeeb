"""A user's pack outside the repository works as an installed one does."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import QUICK_ORACLE, callm

import callm_voice

pytestmark = pytest.mark.conversation
ELSEWHERE = {"PYTHONPATH": str(Path(callm_voice.__file__).parents[1])}
"""The package under test, wherever the command is run."""


def test_a_new_pack_is_proven_and_called_by_its_name_in_the_users_folder(tmp_path):
    made = callm("packs", "new", "bike_shop", cwd=tmp_path, env=ELSEWHERE)
    assert made.code == 0, made.err
    checked = callm("packs", "check", "bike_shop", "--json", cwd=tmp_path, env=ELSEWHERE)
    assert (checked.code, checked.json["packs"][0]["oracle_complete"]) == (0, 1), checked.out
    called = callm(
        "call", "--task", "bike_shop/C1-E1", "--model", QUICK_ORACLE, "--line", "text", "--pace", "fast", "--json",
        "--out", "runs", cwd=tmp_path, env=ELSEWHERE,
    )  # fmt: skip
    assert called.code == 0, called.err
    assert called.json["outcome"]["status"] == "pass"
    assert called.json["config"]["task"] == "bike_shop/C1-E1"


def test_a_pack_is_called_by_the_path_of_its_folder(tmp_path):
    assert callm("packs", "new", "bike_shop", "--into", str(tmp_path / "mine")).code == 0
    called = callm(
        "call", "--task", f"{tmp_path / 'mine' / 'bike_shop'}/C1-E1", "--model", QUICK_ORACLE, "--line", "text",
        "--pace", "fast", "--json", "--out", str(tmp_path / "runs"),
    )  # fmt: skip
    assert called.code == 0, called.err
    assert called.json["verdict"]["passed"] is True
