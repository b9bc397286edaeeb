"""Token counts from the chunks of a stream, in the spellings that servers use. What is not said stays None."""

from __future__ import annotations

from typing import Any

from callm_voice.llm.types import UsageReport


class UsageTaker:
    """The latest counts of one answer: servers send them once at the end, or with every chunk."""

    def __init__(self) -> None:
        self.report: UsageReport | None = None

    def take(self, chunk: dict[str, Any], t_s: float) -> bool:
        """Look for counts in one chunk; whether there were any."""
        usage = chunk.get("usage")
        if not isinstance(usage, dict):
            vendor = chunk.get("x_groq")
            usage = vendor.get("usage") if isinstance(vendor, dict) else None
        if not isinstance(usage, dict):
            return False
        cached = _count(_inner(usage, "prompt_tokens_details"), "cached_tokens")
        if cached is None:
            cached = _count(usage, "prompt_cache_hit_tokens")
        if cached is None:
            cached = _count(_inner(chunk, "timings"), "cache_n")
        self.report = UsageReport(
            t_s,
            prompt_tokens=_count(usage, "prompt_tokens"),
            cached_tokens=cached,
            completion_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(_inner(usage, "completion_tokens_details"), "reasoning_tokens"),
        )
        return True


def _inner(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _count(data: dict[str, Any], key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
