"""Whisper through CTranslate2 (faster-whisper), with every decode option explicit and guards on what it says.

One segment fills one window: features, one encoding, one greedy decoding. Most of the time goes into encoding the
window's padding, so a short window is tried first and a whole one only where the model was unsure. Only a text that
loops is decoded a second time without repeated n-grams (from the same encoding, so it costs little).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import level_dbov, to_float
from callm_voice.audio.resample import resample_whole
from callm_voice.core import weights
from callm_voice.core.clock import stopwatch
from callm_voice.core.errors import EngineError, MissingWeightError
from callm_voice.core.record import EngineInfo
from callm_voice.speech import stt_guards as guards
from callm_voice.speech.boundary import engine_errors, load
from callm_voice.speech.engines import Pcm, Transcript
from callm_voice.speech.settings import WhisperSettings

MODEL_RATE_HZ = 16_000
WINDOW_S = 30.0
"""What the model was trained on."""
FRAME_S = 0.01
"""One column of the mel spectrogram."""
TOKENS_PER_S = 12
"""Bound on the decoding: speech has 3 to 5 tokens a second, dictated digits up to 10."""
MAX_TOKENS = 224
NUMBER_NGRAM = 8
"""A loop of numbers is decoded again with this limit at least, so that a real run of seven equal digits stays whole."""


@dataclass(frozen=True)
class _Decoded:
    text: str
    avg_logprob: float
    no_speech_prob: float
    tokens: int


@dataclass(frozen=True)
class _Window:
    text: str
    """After the guards."""
    why: str | None
    """The guard that rejected it."""
    sure: bool
    details: dict[str, Any]


class WhisperStt:
    """Whisper, warm once constructed. Not for two threads at once.

    Args:
        settings: see `WhisperSettings`.

    Raises:
        MissingDependencyError: faster-whisper is not installed.
        MissingWeightError: the model is not here.
        EngineError: it cannot be loaded on this device.
    """

    def __init__(self, settings: WhisperSettings) -> None:
        library = load("faster_whisper", package="faster-whisper", extra="cpu")
        tokenizer = load("faster_whisper.tokenizer", package="faster-whisper", extra="cpu")
        suppressed = load("faster_whisper.transcribe", package="faster-whisper", extra="cpu").get_suppressed_tokens
        folder, sha256 = _model(settings.model)
        with engine_errors(f"Whisper cannot load {folder} on {settings.device}", "stt"):
            self._model = library.WhisperModel(
                str(folder),
                device=settings.device,
                device_index=settings.device_index,
                compute_type=settings.compute_type,
                cpu_threads=settings.cpu_threads,
                local_files_only=True,
            )
            multilingual = bool(self._model.model.is_multilingual)
            self._tokens = tokenizer.Tokenizer(
                self._model.hf_tokenizer, multilingual, task="transcribe", language=settings.language
            )
        self._suppressed = list(suppressed(self._tokens, [-1]))
        self._settings = settings
        self._prompt = self._make_prompt()
        self.info = EngineInfo(
            engine="whisper",
            model=settings.model,
            sha256=sha256,
            settings={**settings.model_dump(exclude={"engine", "model"}), "biased": self._biased},
        )
        self._warm_up()

    def _warm_up(self) -> None:
        noise = np.random.default_rng(0).normal(0, 300, MODEL_RATE_HZ).astype(np.int16)
        with engine_errors("Whisper failed on its first decoding", "stt"):
            self._decode_all(noise, MODEL_RATE_HZ)

    @property
    def _biased(self) -> bool:
        return bool(self._settings.hotwords or self._settings.initial_prompt)

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        """See `SttEngine`. The times are not used."""
        elapsed_s = stopwatch()
        if _loudest_dbov(pcm, rate_hz) < self._settings.min_level_dbov:
            return Transcript("", rejected="no_speech", decode_ms=elapsed_s() * 1000, details={"why": "level"})
        with engine_errors(f"Whisper failed on {pcm.size / rate_hz:.1f} s of audio", "stt"):
            windows = self._decode_all(pcm, rate_hz)
        texts = [window.text for window in windows if window.text]
        rejections = [window.why for window in windows if window.why]
        return Transcript(
            text=" ".join(texts),
            raw=" ".join(window.details["raw"] for window in windows).strip(),
            rejected=rejections[0] if rejections and not texts else None,
            decode_ms=elapsed_s() * 1000,
            details={"windows": [window.details for window in windows]},
        )

    def _decode_all(self, pcm: Pcm, rate_hz: int) -> list[_Window]:
        """The windows of a segment: one short one if it fits and the model is sure of it, else whole ones."""
        samples = self._resampled(pcm, rate_hz)
        short_s = self._settings.window_s
        if short_s < WINDOW_S and samples.size <= (short_s - 1.0) * MODEL_RATE_HZ:
            only = self._window(samples, short_s)
            if only.sure:
                return [only]
        size = int(WINDOW_S * MODEL_RATE_HZ)
        return [self._window(samples[at : at + size], WINDOW_S) for at in range(0, samples.size, size)]

    def _resampled(self, pcm: Pcm, rate_hz: int) -> NDArray[np.float32]:
        """The whole segment as float32 at 16 kHz with the silence that the settings ask for around it."""
        samples = to_float(resample_whole(pcm, rate_hz, MODEL_RATE_HZ))
        lead, trail = (
            MODEL_RATE_HZ * ms // 1000 for ms in (self._settings.lead_silence_ms, self._settings.trail_silence_ms)
        )
        return np.pad(samples, (lead, trail)) if lead or trail else samples

    def _window(self, samples: NDArray[np.float32], window_s: float) -> _Window:
        duration_s = samples.size / MODEL_RATE_HZ
        encoded = self._encode(samples, window_s)
        limit = min(MAX_TOKENS, 16 + int(TOKENS_PER_S * duration_s))
        first = self._generate(encoded, limit, no_repeat_ngram=0)
        text, loop = self._unloop(first.text, encoded, limit, duration_s)
        details = {
            "raw": first.text,
            "avg_logprob": round(first.avg_logprob, 3),
            "no_speech_prob": round(first.no_speech_prob, 3),
            "tokens": first.tokens,
            "window_s": window_s,
            **({"loop": loop} if loop else {}),
        }
        why = self._why_rejected(first, text, loop)
        sure = not why and not loop and first.avg_logprob >= self._settings.retry_logprob
        return _Window("" if why else guards.spoken_text(text), why, sure, details)

    def _encode(self, samples: NDArray[np.float32], window_s: float) -> Any:
        features = self._model.feature_extractor(samples, padding=0)
        frames = round(window_s / FRAME_S)
        features = features[:, :frames]
        features = np.pad(features, ((0, 0), (0, frames - features.shape[-1])))
        return self._model.encode(np.ascontiguousarray(features, np.float32))

    def _generate(self, encoded: Any, limit: int, *, no_repeat_ngram: int) -> _Decoded:
        result = self._model.model.generate(
            encoded,
            [self._prompt],
            beam_size=self._settings.beam_size,
            patience=1,
            length_penalty=1,
            repetition_penalty=1,
            no_repeat_ngram_size=no_repeat_ngram,
            max_length=min(448, len(self._prompt) + limit),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=self._suppressed,
            sampling_topk=1,
            sampling_temperature=0.0,
        )[0]
        tokens = result.sequences_ids[0]
        mean = float(result.scores[0]) * len(tokens) / (len(tokens) + 1)  # scores are per token, the end not counted
        return _Decoded(self._tokens.decode(tokens).strip(), mean, float(result.no_speech_prob), len(tokens))

    def _unloop(self, text: str, encoded: Any, limit: int, duration_s: float) -> tuple[str, str]:
        """The text without a loop, and what was done: nothing, `redecoded`, `trimmed` or `rejected`."""
        if not self._loops(text, duration_s):
            return text, ""
        loop = guards.find_loop(text, duration_s)
        if self._settings.loop_ngram:
            of_numbers = loop is not None and guards.is_of_numbers(text, loop)
            ngram = max(self._settings.loop_ngram, NUMBER_NGRAM) if of_numbers else self._settings.loop_ngram
            again = self._generate(encoded, limit, no_repeat_ngram=ngram).text
            if not self._loops(again, duration_s):
                return again, "redecoded"
        trimmed = guards.trim_loop(text, loop) if loop else ""
        return trimmed, "trimmed" if trimmed else "rejected"

    def _loops(self, text: str, duration_s: float) -> bool:
        return (
            guards.find_loop(text, duration_s) is not None or guards.compression(text) > self._settings.max_compression
        )

    def _why_rejected(self, decoded: _Decoded, text: str, loop: str) -> str | None:
        settings = self._settings
        if loop == "rejected":
            return "loop"
        if decoded.no_speech_prob >= settings.no_speech and decoded.avg_logprob < settings.unsure_logprob:
            return "no_speech"
        if decoded.avg_logprob < settings.min_logprob:
            return "low_confidence"
        return None if guards.spoken_text(text) else "non_speech"

    def _make_prompt(self) -> list[int]:
        prompt: list[int] = []
        if self._biased:
            bias = " ".join(filter(None, (self._settings.initial_prompt, self._settings.hotwords)))
            prompt = [self._tokens.sot_prev, *self._tokens.encode(" " + bias.strip())[-200:]]
        return [*prompt, *self._tokens.sot_sequence, self._tokens.no_timestamps]


def _loudest_dbov(pcm: Pcm, rate_hz: int) -> float:
    """Level of the loudest 20 ms."""
    size = rate_hz // 50
    whole: Iterable[int] = range(0, pcm.size, size)
    return max((level_dbov(pcm[at : at + size]) for at in whole), default=-120.0)


def _model(name: str) -> tuple[Path, str]:
    """Folder and listed SHA-256 of model.bin (empty for a folder of the user's or one of the hub's)."""
    if name.startswith("hub:"):
        return _hub_model(name.removeprefix("hub:")), ""
    path = Path(name).expanduser()
    if os.sep in name or path.is_dir():
        if not (path / "model.bin").is_file():
            raise MissingWeightError(f"there is no model.bin in {path}", hint="give a CTranslate2 Whisper folder")
        return path, ""
    weight = f"whisper-{name}"
    return weights.path(weight), weights.weight(weight).files[0].sha256


def _hub_model(name: str) -> Path:
    """A model by its public name (`large-v3`, `OWNER/NAME`), from the hub's own cache or the hub."""
    utils = load("faster_whisper.utils", package="faster-whisper", extra="cpu")
    try:
        with engine_errors(f"the model hub does not give {name!r}", "stt"):
            return Path(utils.download_model(name))
    except EngineError as error:
        hint = "check the network, or give the path of a CTranslate2 folder"
        raise MissingWeightError(error.message, hint=hint) from error
