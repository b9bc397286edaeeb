"""Cost: unknown is None, never zero."""

import pytest

from callm_voice.llm.prices import cost_usd
from callm_voice.llm.spec import BUILT_IN, OpenAiSpec, Price
from callm_voice.llm.types import UsageReport

pytestmark = pytest.mark.unit


def cost(price, prompt, cached, completion):
    spec = OpenAiSpec(base_url="http://h/v1", model="m", price=price)
    return cost_usd(spec, UsageReport(0.0, prompt, cached, completion))


FULL = Price(input_usd=2, cached_usd=0.5, output_usd=8)
NO_CACHE_PRICE = Price(input_usd=2, output_usd=8)


def test_cached_tokens_are_part_of_the_prompt_and_cheaper():
    assert cost(FULL, 1_000_000, 400_000, 1_000_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 8)


def test_without_a_cache_price_a_prompt_without_cache_is_priced():
    assert cost(NO_CACHE_PRICE, 1_000_000, None, 0) == 2
    assert cost(NO_CACHE_PRICE, 1_000_000, 0, 0) == 2


@pytest.mark.parametrize(
    ("price", "counts"),
    [
        (None, (1, 0, 1)), (FULL, (None, 0, 1)), (FULL, (1, None, 1)), (FULL, (1, 0, None)),
        (NO_CACHE_PRICE, (9, 5, 1)),
    ],
)  # fmt: skip
def test_what_is_unknown_makes_the_cost_unknown(price, counts):
    assert cost(price, *counts) is None


@pytest.mark.parametrize("spec", BUILT_IN.values())
def test_a_model_without_price_costs_none_and_not_zero(spec):
    assert cost_usd(spec, UsageReport(0.0, 10, 0, 10)) is None
