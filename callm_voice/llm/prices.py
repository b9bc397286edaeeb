"""What a call's tokens cost. An unknown price or count gives None, never zero.

A price that the user gave with the model comes first. Without one the published price of a vendor is taken from
`genai-prices`, whose list lies in the package (nothing is fetched): by the host of `base_url`, the model's name and the
time of the call. A server on a host that is no vendor's, the embedded model and the oracle have no price.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Protocol

from callm_voice.llm.spec import ModelSpec, OpenAiSpec, OutsideSpec, Price

TOKENS_PER_PRICE = 1_000_000
LIST_PACKAGE = "genai-prices"


class TokenCounts(Protocol):
    """Of one inference, or sums over some."""

    @property
    def prompt_tokens(self) -> int | None: ...
    @property
    def cached_tokens(self) -> int | None: ...
    @property
    def completion_tokens(self) -> int | None: ...


def cost_usd(spec: ModelSpec | OutsideSpec, usage: TokenCounts, *, at: dt.datetime | None = None) -> float | None:
    """US dollars, or None if the price or a count that it needs is unknown.

    Cached tokens are part of the prompt's (OpenAI's `prompt_tokens_details`). Where a model has a price for them, their
    count must be known; where it has none, a server that says it used its cache makes the cost unknown.

    Args:
        usage: of one inference; sums are right too, except for a vendor whose price rises with the length of a prompt.
        at: when the request was sent, because list prices change; None: the list as it is now.
    """
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    if spec.price is not None:
        return _by_users_price(spec.price, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    return _by_list_price(spec, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, at)


def total_cost_usd(
    spec: ModelSpec | OutsideSpec, usages: Iterable[TokenCounts], *, at: dt.datetime | None = None
) -> float | None:
    """The sum over inferences; None if one of them is unknown, or there are none."""
    costs = [cost_usd(spec, usage, at=at) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 12) if costs and len(known) == len(costs) else None


def price_source(spec: ModelSpec | OutsideSpec, *, at: dt.datetime | None = None) -> str | None:
    """Where the price comes from: `given with the model`, or the list's version and entry. None: there is no price."""
    if spec.price is not None:
        return "given with the model"
    listed = _listed(spec, 1, 0, 1, at)
    if listed is None:
        return None
    return f"{LIST_PACKAGE} {version(LIST_PACKAGE)}: {listed.provider.id}/{listed.model.id}"


def _by_users_price(price: Price, prompt: int, cached: int | None, completion: int) -> float | None:
    if price.cached_usd is None:
        if cached:
            return None
        cached_usd, cached = 0.0, 0
    else:
        if cached is None:
            return None
        cached_usd = cached * price.cached_usd
    full = max(0, prompt - cached)
    return (full * price.input_usd + cached_usd + completion * price.output_usd) / TOKENS_PER_PRICE


def _by_list_price(
    spec: ModelSpec | OutsideSpec, prompt: int, cached: int | None, completion: int, at: dt.datetime | None
) -> float | None:
    listed = _listed(spec, prompt, min(cached or 0, prompt), completion, at)
    if listed is None:
        return None
    has_cache_price = listed.model_price.cache_read_mtok is not None
    if (cached is None and has_cache_price) or (cached and not has_cache_price):
        return None
    return float(listed.total_price)


def _listed(spec: ModelSpec | OutsideSpec, prompt: int, cached: int, completion: int, at: dt.datetime | None) -> Any:
    """The list's own calculation for a vendor's model; None if it does not know the host or the model there."""
    if not isinstance(spec, OpenAiSpec):
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(
            Usage(input_tokens=prompt, cache_read_tokens=cached, output_tokens=completion),
            model_ref=spec.model,
            provider_api_url=spec.base_url,
            genai_request_timestamp=at,
        )
    except (LookupError, ValueError):  # ValueError: a price without a rate for a kind of token that was used
        return None
