"""webrtcvad: Gaussian mixtures per band. It carries 80-120 ms of hangover of its own."""

from __future__ import annotations

from callm_voice.core.errors import HarnessError
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import load
from callm_voice.speech.engines import Pcm
from callm_voice.speech.settings import WebrtcVadSettings

RATES_HZ = (8000, 16000)


class WebrtcVad:
    """The detector of WebRTC.

    Args:
        settings: see `WebrtcVadSettings`.

    Raises:
        MissingDependencyError: webrtcvad-wheels is not installed.
    """

    def __init__(self, settings: WebrtcVadSettings) -> None:
        self._library = load("webrtcvad", package="webrtcvad-wheels", extra="cpu")
        self._mode = settings.mode
        self.frame_ms = int(settings.frame_ms)
        self.info = EngineInfo(engine="webrtc", model=f"mode {self._mode}", settings={"frame_ms": self.frame_ms})
        self.reset()

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        """See `Vad`; 0 or 1."""
        if rate_hz not in RATES_HZ or frame.size * 1000 != self.frame_ms * rate_hz:
            raise HarnessError(
                f"webrtcvad: {frame.size} samples at {rate_hz} Hz are not {self.frame_ms} ms", stage="vad"
            )
        return float(self._vad.is_speech(frame.tobytes(), rate_hz))

    def reset(self) -> None:
        """See `Vad`."""
        self._vad = self._library.Vad(self._mode)
