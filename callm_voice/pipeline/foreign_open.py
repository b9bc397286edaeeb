"""The agent's engines of one call: ours, or a Pipecat service class that is made for the call and ended with it.

A service is not kept for the next call as our own engines may be: it can have state of its own, such as words that come
late.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from callm_voice.core.clock import Clock
from callm_voice.speech.engines import SttEngine, TtsEngine
from callm_voice.speech.settings import (
    AgentSttSettings,
    AgentTtsSettings,
    ForeignSttSettings,
    ForeignTtsSettings,
    SttSettings,
    TtsSettings,
)


async def open_stt(
    settings: AgentSttSettings, ours: Callable[[SttSettings], SttEngine], clock: Clock, stack: AsyncExitStack
) -> SttEngine:
    """A warm recogniser.

    Args:
        ours: makes one of our own engines.

    Raises:
        UsageError, SetupError, EngineError: see `make_stt` and `ForeignStt`.
    """
    if not isinstance(settings, ForeignSttSettings):
        return await clock.in_thread("load", ours, settings)
    from callm_voice.pipeline.foreign_stt import ForeignStt  # Pipecat, which must see the patched time

    engine = await clock.in_thread("load", ForeignStt, settings)
    stack.push_async_callback(clock.in_thread, "load", engine.close)
    return engine


async def open_tts(
    settings: AgentTtsSettings, ours: Callable[[TtsSettings], TtsEngine], clock: Clock, stack: AsyncExitStack
) -> TtsEngine:
    """A warm voice.

    Args:
        ours: makes one of our own engines.

    Raises:
        UsageError, SetupError, EngineError: see `make_tts` and `ForeignTts`.
    """
    if not isinstance(settings, ForeignTtsSettings):
        return await clock.in_thread("load", ours, settings)
    from callm_voice.pipeline.foreign_tts import ForeignTts

    engine = await clock.in_thread("load", ForeignTts, settings)
    stack.push_async_callback(clock.in_thread, "load", engine.close)
    return engine
