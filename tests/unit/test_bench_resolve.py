"""A user's mistakes about a call show before anything is started: who plays the caller."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import resolve
from callm_voice.core.errors import NotFoundError, UsageError

pytestmark = pytest.mark.unit


def spec(caller: str) -> CallSpec:
    return CallSpec(
        task="healthcare/C1-E1", model="oracle", pipeline="scripted", line="text", caller=caller, pace="fast",
        run_dir=Path("runs"),
    )  # fmt: skip


def test_a_scripted_caller_has_no_model() -> None:
    assert resolve(spec("scripted")).caller_model is None


def test_a_model_that_plays_the_caller_is_looked_up_as_the_desk_s_is() -> None:
    named = resolve(spec("llm:openai:http://127.0.0.1:8000/v1#my-model")).caller_model
    assert named is not None
    assert named.name == "openai:http://127.0.0.1:8000/v1#my-model"


@pytest.mark.parametrize("caller", ["llm:oracle", "llm:oracle?ttft_ms=900"])
def test_the_oracle_cannot_play_the_caller(caller: str) -> None:
    with pytest.raises(UsageError, match="the oracle plays the desk, not the caller"):
        resolve(spec(caller))


def test_a_caller_s_model_without_a_name_is_not_a_scripted_caller() -> None:
    with pytest.raises(NotFoundError, match="no model named ''"):
        resolve(spec("llm:"))
