"""What a call's tokens cost. An unknown price or count gives None, never zero."""

from __future__ import annotations

from typing import Protocol

from callm_voice.llm.spec import ModelSpec

TOKENS_PER_PRICE = 1_000_000


class TokenCounts(Protocol):
    """Sums over inferences, or one inference."""

    @property
    def prompt_tokens(self) -> int | None: ...
    @property
    def cached_tokens(self) -> int | None: ...
    @property
    def completion_tokens(self) -> int | None: ...


def cost_usd(spec: ModelSpec, usage: TokenCounts) -> float | None:
    """US dollars, or None if the price or a count that it needs is unknown.

    Cached tokens are part of the prompt's (OpenAI's `prompt_tokens_details`) and are priced by `cached_usd`; where the
    spec does not name that price, a server that says it used its cache makes the cost unknown.
    """
    price = spec.price
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = usage.cached_tokens
    if price.cached_usd is None:
        if cached:
            return None
        cached_usd, cached = 0.0, 0
    else:
        if cached is None:
            return None
        cached_usd = cached * price.cached_usd
    full = max(0, usage.prompt_tokens - cached)
    total = full * price.input_usd + cached_usd + usage.completion_tokens * price.output_usd
    return total / TOKENS_PER_PRICE
