"""A level gate. It is right for scripted sound, and for nothing that comes over a real line."""

from __future__ import annotations

from callm_voice.audio.pcm import level_dbov
from callm_voice.core.record import EngineInfo
from callm_voice.speech.engines import Pcm
from callm_voice.speech.settings import EnergyVadSettings


class EnergyVad:
    """Speech is what is louder than a threshold.

    Args:
        settings: see `EnergyVadSettings`.
    """

    frame_ms = 20

    def __init__(self, settings: EnergyVadSettings) -> None:
        self._threshold_dbov = settings.threshold_dbov
        self.info = EngineInfo(engine="energy", settings=settings.model_dump(exclude={"engine"}))

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        """See `Vad`; 0 or 1."""
        return float(level_dbov(frame) > self._threshold_dbov)

    def reset(self) -> None:
        """See `Vad`; it has no state."""
