"""Silero VAD v5 (ONNX), whose file lies inside the pipecat package. Pipecat itself is not imported."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import to_float
from callm_voice.core.errors import HarnessError, MissingDependencyError
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import engine_errors, load
from callm_voice.speech.engines import Pcm
from callm_voice.speech.settings import SileroVadSettings

FRAME_MS = 32
CONTEXT_SAMPLES = {8000: 32, 16000: 64}
"""The network sees the end of the last window in front of each window of 32 ms (256 or 512 samples)."""
STATE_SHAPE = (2, 1, 128)
RESET_S = 2.0
"""Long silence or music drifts the recurrent state until speech is missed (most at 8 kHz): it is cleared this often,"""
RESET_BELOW = 0.1
RESET_WINDOWS = 5
"""but only after that many windows in a row that are plainly no speech."""


class SileroVad:
    """The recurrent detector, one CPU thread.

    Args:
        settings: see `SileroVadSettings`.

    Raises:
        MissingDependencyError: onnxruntime or pipecat-ai is not installed.
    """

    frame_ms = FRAME_MS

    def __init__(self, settings: SileroVadSettings) -> None:
        runtime = load("onnxruntime", package="onnxruntime", extra="cpu")
        model = model_path()
        options = runtime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        with engine_errors(f"Silero cannot load {model}", "vad"):
            self._session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        sha256 = hashlib.sha256(model.read_bytes()).hexdigest()
        self.info = EngineInfo(engine="silero", model=model.stem, sha256=sha256, settings={"frame_ms": FRAME_MS})
        self._rate_hz = 0
        self._context: NDArray[np.float32] = np.zeros((1, 0), np.float32)
        self._state: NDArray[np.float32] = np.zeros(STATE_SHAPE, np.float32)
        self._windows = self._low_windows = 0

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        """See `Vad`."""
        if rate_hz not in CONTEXT_SAMPLES or frame.size * 1000 != FRAME_MS * rate_hz:
            raise HarnessError(f"Silero: {frame.size} samples at {rate_hz} Hz are not {FRAME_MS} ms", stage="vad")
        if rate_hz != self._rate_hz:
            self.reset()
            self._rate_hz = rate_hz
            self._context = np.zeros((1, CONTEXT_SAMPLES[rate_hz]), np.float32)
        window = np.concatenate([self._context, to_float(frame)[None, :]], axis=1)
        inputs = {"input": window, "state": self._state, "sr": np.array(rate_hz, np.int64)}
        with engine_errors("Silero failed", "vad"):
            output, self._state = self._session.run(None, inputs)
        self._context = window[:, -CONTEXT_SAMPLES[rate_hz] :]
        confidence = float(output[0, 0])
        self._reset_when_due(confidence)
        return confidence

    def reset(self) -> None:
        """See `Vad`."""
        self._rate_hz = 0
        self._context = np.zeros((1, 0), np.float32)
        self._clear_state()

    def _clear_state(self) -> None:
        self._state = np.zeros(STATE_SHAPE, np.float32)
        self._windows = self._low_windows = 0

    def _reset_when_due(self, confidence: float) -> None:
        self._windows += 1
        self._low_windows = self._low_windows + 1 if confidence < RESET_BELOW else 0
        if self._windows * FRAME_MS >= RESET_S * 1000 and self._low_windows >= RESET_WINDOWS:
            self._clear_state()


def model_path() -> Path:
    """The ONNX file inside the installed pipecat package.

    Raises:
        MissingDependencyError: pipecat-ai is not installed, or this version carries no such file.
    """
    spec = importlib.util.find_spec("pipecat")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / "audio" / "vad" / "data" / "silero_vad.onnx"
        if path.is_file():
            return path
    raise MissingDependencyError("pipecat-ai (for its Silero VAD file)", "cpu")
