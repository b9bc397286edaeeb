"""Which inferences of a call have a cost, and where the record says its price comes from."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any, cast

import pytest

from callm_voice.bench.assemble import _with_price_source, counted
from callm_voice.bench.resolve import ResolvedCall
from callm_voice.core.events import InferenceEnded
from callm_voice.core.record import EngineInfo
from callm_voice.llm.spec import BUILT_IN, ModelSpec, NamedSpec, OpenAiSpec, Price

pytestmark = pytest.mark.unit
AT = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)


def ended(**fields: Any) -> InferenceEnded:
    return InferenceEnded(t_ms=1.0, inference_id=1, **fields)


def with_source(spec: ModelSpec) -> dict[str, EngineInfo]:
    resolved = cast(ResolvedCall, SimpleNamespace(model=NamedSpec("m", spec)))
    engines = {"model": EngineInfo(engine=spec.kind, settings={"a": 1}), "stt": EngineInfo(engine="x")}
    return _with_price_source(resolved, engines, AT)


def test_an_answer_that_was_cut_off_before_its_counts_came_is_left_out() -> None:
    finished, cut, cut_counted, failed = (
        ended(), ended(interrupted=True), ended(interrupted=True, prompt_tokens=9), ended(error="stalled"),
    )  # fmt: skip
    assert counted([finished, cut, cut_counted, failed]) == [finished, cut_counted]


def test_the_record_says_whose_price_was_taken() -> None:
    spec = OpenAiSpec(base_url="http://h/v1", model="m", price=Price(input_usd=1, output_usd=1))
    assert with_source(spec)["model"].settings == {"a": 1, "price_source": "given with the model"}


@pytest.mark.parametrize("spec", BUILT_IN.values(), ids=BUILT_IN)
def test_a_model_without_a_price_has_no_source_of_one(spec: ModelSpec) -> None:
    assert "price_source" not in with_source(spec)["model"].settings
