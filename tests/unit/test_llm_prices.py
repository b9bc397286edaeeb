"""Cost: unknown is None, never zero."""

import datetime as dt
import re

import pytest

from callm_voice.llm.prices import cost_usd, price_source, total_cost_usd
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


VENDOR = "https://api.openai.com/v1"
LONG_PROMPTS = "https://generativelanguage.googleapis.com/v1beta/openai"
AT = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)


def listed(base_url, model, *counts, price=None):
    spec = OpenAiSpec(base_url=base_url, model=model, price=price)
    return cost_usd(spec, UsageReport(0.0, *counts), at=AT)


def test_a_vendors_model_has_its_list_price_and_cached_tokens_are_cheaper():
    full, cached = listed(VENDOR, "gpt-4o", 1000, 0, 100), listed(VENDOR, "gpt-4o", 1000, 400, 100)
    assert full == pytest.approx(1000 * 2.5e-6 + 100 * 10e-6)
    assert cached == pytest.approx(600 * 2.5e-6 + 400 * 1.25e-6 + 100 * 10e-6)


def test_a_vendors_count_of_cached_tokens_must_be_known_where_they_have_a_price():
    assert listed(VENDOR, "gpt-4o", 1000, None, 100) is None
    groq = "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"
    assert listed(*groq, 1000, None, 100) == listed(*groq, 1000, 0, 100) > 0
    assert listed(*groq, 1000, 400, 100) is None


@pytest.mark.parametrize(
    ("base_url", "model"),
    [("http://127.0.0.1:8000/v1", "gpt-4o"), (VENDOR, "no-such-model"), ("https://h.example/api.openai.com", "gpt-4o")],
)
def test_a_model_of_ones_own_server_or_one_that_is_not_listed_has_no_price(base_url, model):
    assert listed(base_url, model, 1000, 0, 100) is None
    assert price_source(OpenAiSpec(base_url=base_url, model=model)) is None


def test_the_users_price_comes_before_the_list():
    assert listed(VENDOR, "gpt-4o", 1_000_000, 0, 0, price=FULL) == 2
    assert price_source(OpenAiSpec(base_url=VENDOR, model="gpt-4o", price=FULL)) == "given with the model"


def test_the_source_of_a_list_price_names_the_list_its_version_and_the_entry():
    found = price_source(OpenAiSpec(base_url=VENDOR, model="gpt-4o"))
    assert re.fullmatch(r"genai-prices [0-9.]+: openai/gpt-4o", found)


def test_a_price_that_rises_with_the_prompt_is_taken_for_each_inference_and_not_for_their_sum():
    spec = OpenAiSpec(base_url=LONG_PROMPTS, model="gemini-2.5-pro")
    one = UsageReport(0.0, 150_000, 0, 0)
    total = total_cost_usd(spec, [one, one], at=AT)
    assert total == pytest.approx(2 * cost_usd(spec, one, at=AT))
    assert cost_usd(spec, UsageReport(0.0, 300_000, 0, 0), at=AT) > total


def test_one_unknown_inference_makes_the_sum_unknown_and_none_is_no_sum():
    spec = OpenAiSpec(base_url="http://h/v1", model="m", price=NO_CACHE_PRICE)
    known, unknown = UsageReport(0.0, 1_000_000, 0, 0), UsageReport(0.0, None, 0, 0)
    assert total_cost_usd(spec, [known, known]) == 4
    assert total_cost_usd(spec, [known, unknown]) is None
    assert total_cost_usd(spec, []) is None
