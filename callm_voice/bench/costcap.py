"""The cost cap of one call (`limits.max_cost_usd`): looked at after each inference, where the price is known."""

from __future__ import annotations

from collections.abc import Callable

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.core.events import Event, EventLog, InferenceEnded
from callm_voice.desk.agent import DeskAgent
from callm_voice.llm.prices import cost_usd


def watch_cost(resolved: ResolvedCall, desk: DeskAgent, log: EventLog, on_over: Callable[[str], None]) -> None:
    """Call `on_over` with the reason once the desk's inferences have cost more than the pipeline allows.

    An unknown price never ends a call: nobody knows what it costs.
    """
    cap_usd = resolved.pipeline.limits.max_cost_usd
    if cap_usd is None:
        return

    def look(event: Event) -> None:
        if isinstance(event, InferenceEnded):
            spent_usd = cost_usd(resolved.model.spec, desk.usage())
            if spent_usd is not None and spent_usd > cap_usd:
                on_over(f"the call has cost ${spent_usd:.4f}, more than limits.max_cost_usd: {cap_usd:g}")

    log.listen(look)
