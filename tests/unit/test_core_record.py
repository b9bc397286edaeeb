"""The call record survives its file, refuses what it does not know, and keeps missing apart from zero."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError
from support.records import full_record

from callm_voice.core.record import RECORD_VERSION, CallRecord, Usage
from callm_voice.core.runfolder import dump_record

pytestmark = pytest.mark.unit


def test_a_record_survives_its_text() -> None:
    assert CallRecord.model_validate_json(dump_record(full_record())) == full_record()


def test_an_invalid_call_has_neither_verdict_nor_latency_and_survives_too() -> None:
    record = full_record(verdict=None, latency=None, cost_usd=None, rate_hz=0)
    assert CallRecord.model_validate_json(dump_record(record)) == record


def test_an_unknown_key_is_refused() -> None:
    content = json.loads(dump_record(full_record())) | {"colour": "red"}
    with pytest.raises(ValidationError, match="colour"):
        CallRecord.model_validate(content)


def test_the_record_says_which_version_of_the_form_it_has() -> None:
    assert json.loads(dump_record(full_record()))["record_version"] == RECORD_VERSION


def test_what_a_server_did_not_say_is_none_not_zero() -> None:
    assert Usage().prompt_tokens is None
    assert full_record(cost_usd=None).cost_usd is None
