"""Kokoro-82M by ONNX Runtime: many voices of one model, for the caller. Bit-identical for the same text and style."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callm_voice.core import weights
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import engine_errors, load
from callm_voice.speech.engines import Pcm
from callm_voice.speech.pcm import at_peak, trimmed
from callm_voice.speech.settings import KokoroSettings

MODEL_WEIGHT, STYLES_WEIGHT = "kokoro-82m", "kokoro-styles"
RATE_HZ = 24_000
STYLE_DIM = 256
MAX_TOKENS = 400
"""Of one synthesis. The model takes 510, but the ends of long ones come out hurried; they are cut at clauses."""
PAD = 0
_CLAUSE = re.compile(r"(?<=[,;:—]) ")


class KokoroTts:
    """One style of Kokoro. Phonemes come from hibari-tts' English g2p, British for the `b.` styles.

    Args:
        settings: see `KokoroSettings`.

    Raises:
        MissingDependencyError: hibari-tts or onnxruntime is not installed.
        MissingWeightError, BadWeightError: model or styles are not here, or not the listed ones.
        EngineError: the model cannot be loaded.
    """

    def __init__(self, settings: KokoroSettings) -> None:
        hibari = load("hibari", package="hibari-tts", extra="cpu")
        g2p = load("hibari.g2p", package="hibari-tts", extra="cpu")
        runtime = load("onnxruntime", package="onnxruntime", extra="cpu")
        model, style = weights.path(MODEL_WEIGHT), weights.path(STYLES_WEIGHT) / f"{settings.voice}.bin"
        with engine_errors(f"Kokoro cannot load {model}", "tts"):
            self._session = _session(runtime, model, settings.threads)
            vocabulary = Path(hibari.__file__).parent / "assets" / "vocab.json"
            self._ids: dict[str, int] = json.loads(vocabulary.read_text("utf-8"))
            self._style = np.frombuffer(style.read_bytes(), "<f4").reshape(-1, 1, STYLE_DIM)
            self._g2p = g2p.G2P(british=settings.voice.startswith("b"))
        self._sentences = hibari.Hibari.split_sentences
        self._settings = settings
        self.rate_hz = RATE_HZ
        self.info = EngineInfo(
            engine="kokoro",
            model=settings.voice,
            sha256=weights.weight(MODEL_WEIGHT).files[0].sha256,
            settings={
                **settings.model_dump(exclude={"engine", "voice", "threads"}),
                "style_sha256": _listed(settings.voice),
                "g2p": f"hibari-tts {version('hibari-tts')}",
            },
        )

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`. There is no noise in it, so `seed` changes nothing."""
        if not any(character.isalnum() for character in text):
            return np.zeros(0, np.int16)
        with engine_errors(f"Kokoro failed on {text[:60]!r}", "tts"):
            pieces = [self._say(piece) for sentence in self._sentences(text) for piece in self._pieces(sentence)]
        pause = np.zeros(self.rate_hz * self._settings.sentence_pause_ms // 1000, np.float32)
        spoken = [part for piece in pieces if piece.size for part in (pause, piece)][1:]
        return at_peak(np.concatenate(spoken), self._settings.peak_dbov) if spoken else np.zeros(0, np.int16)

    def _pieces(self, sentence: str) -> list[list[int]]:
        """Token ids of one sentence, cut at clauses where it is too long; empty if nothing in it can be said."""
        pieces: list[list[int]] = [[]]
        for clause in _CLAUSE.split(self._g2p(sentence)):
            ids = [self._ids[phoneme] for phoneme in f"{clause} " if phoneme in self._ids]
            if pieces[-1] and len(pieces[-1]) + len(ids) > MAX_TOKENS:
                pieces.append([])
            pieces[-1] += ids
        return [piece[:MAX_TOKENS] for piece in (_without_end(p, self._ids.get(" ")) for p in pieces) if piece]

    def _say(self, ids: list[int]) -> NDArray[np.float32]:
        """Samples of one piece. The style depends on how long it is."""
        audio = self._session.run(
            None,
            {
                "tokens": np.array([[PAD, *ids, PAD]], np.int64),
                "style": self._style[len(ids)],
                "speed": np.array([self._settings.speed], np.float32),
            },
        )[0]
        return trimmed(np.asarray(audio, np.float32).reshape(-1), self.rate_hz)


@lru_cache(maxsize=2)
def _session(runtime: Any, model: Path, threads: int) -> Any:
    """The model; all styles of a process share it."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # it may run beside a call
    options.log_severity_level = 3
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _without_end(ids: list[int], space: int | None) -> list[int]:
    while ids and ids[-1] == space:
        ids.pop()
    return ids


def _listed(voice: str) -> str:
    return next((f.sha256 for f in weights.weight(STYLES_WEIGHT).files if f.name == f"{voice}.bin"), "")
