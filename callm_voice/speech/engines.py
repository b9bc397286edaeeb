"""What a speech engine is. Engines are synchronous and blocking; the pipeline runs them through `Clock.in_thread`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from callm_voice.core.record import EngineInfo

Pcm = NDArray[np.int16]
"""Mono PCM, shape (samples,), dtype int16."""


@dataclass(frozen=True)
class Transcript:
    """What a recogniser made of one segment."""

    text: str
    """After the guards; empty when nothing was recognised or a guard rejected it."""
    raw: str = ""
    rejected: str | None = None
    """`no_speech`, `low_confidence`, `loop`, `non_speech`, or None."""
    decode_ms: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


class TtsEngine(Protocol):
    """Text to speech."""

    info: EngineInfo
    rate_hz: int
    """Native rate of the voice."""

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """Audio of `text` at `rate_hz`. `text` is in spoken form already (speech/spoken.py).

        Raises:
            EngineError: synthesis failed.
        """
        ...


class SttEngine(Protocol):
    """Speech to text."""

    info: EngineInfo

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        """Transcribe one whole segment.

        Args:
            pcm: the segment at `rate_hz`; the engine resamples it as a whole if it wants another rate.
            start_ms, end_ms: where it lies on the line's clock (real engines ignore it; the scripted one looks up
                what was said then).

        Raises:
            EngineError: decoding failed.
        """
        ...


class Vad(Protocol):
    """Voice activity per frame."""

    info: EngineInfo
    frame_ms: int
    """Length of the frames it wants."""

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        """0 (no speech) to 1 (speech) for one frame of `frame_ms`."""
        ...

    def reset(self) -> None:
        """Forget all state."""
        ...
