"""docs/packs.md names every key that an author may write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callm_voice.bench.gold import GoldPart
from callm_voice.core.brief import Beat, Brief, Expect, Never
from callm_voice.desk.formats import PackFile, RoleFile, TaskFile, TransferSpec
from callm_voice.llm.oracle_script import CallStep, HearStep, SayStep
from verifier.gold import ChangedRow, ExpectedCall, TableChange

pytestmark = pytest.mark.unit
PAGE = Path(__file__).parents[2] / "docs" / "packs.md"
MODELS = (
    PackFile, RoleFile, TransferSpec, TaskFile, Brief, Beat, Expect, Never, GoldPart, ExpectedCall, TableChange,
    ChangedRow, SayStep, HearStep, CallStep,
)  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_is_described(model):
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", text))
    keys = {field.alias or name for name, field in model.model_fields.items()}
    assert {key for key in keys - named if f"{key}:" not in text} == set()
