"""Caller audio on disk: its lines recur in every trial, and a cached line costs the measured machine nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

import numpy as np

from callm_voice.core.errors import DiskError
from callm_voice.speech.engines import Pcm, TtsEngine

MAGIC = b"CVT1"


class CachedTts:
    """An engine with a folder of what it has said. The key holds all that shapes the sound, so a hit is the same audio.

    Args:
        engine: asked on a miss.
        folder: made on the first write.
    """

    def __init__(self, engine: TtsEngine, folder: Path) -> None:
        self._engine, self._folder = engine, folder
        self.info, self.rate_hz = engine.info, engine.rate_hz
        self.hits = self.misses = 0

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`.

        Raises:
            DiskError: the folder cannot be written.
        """
        path = self._folder / f"{self.key(text, seed)}.pcm"
        cached = _read(path)
        if cached is not None:
            self.hits += 1
            return cached
        self.misses += 1
        pcm = self._engine.synthesise(text, seed=seed)
        _write(path, pcm)
        return pcm

    def key(self, text: str, seed: int) -> str:
        """Hash of engine, voice, weight, settings, text and seed."""
        info = self.info.model_dump(mode="json")
        form = json.dumps([info, self.rate_hz, text, seed], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(form.encode()).hexdigest()[:32]


def _read(path: Path) -> Pcm | None:
    """The samples, or None where the file is absent or not whole (it is written again then)."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head, body = data[:20], data[20:]
    if head[:4] != MAGIC or head[4:] != hashlib.sha256(body).digest()[:16] or len(body) % 2:
        return None
    return np.frombuffer(body, "<i2").astype(np.int16)


def _write(path: Path, pcm: Pcm) -> None:
    body = pcm.astype("<i2").tobytes()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    hint = "free some space, or set CALLM_VOICE_CACHE to another folder"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(MAGIC + hashlib.sha256(body).digest()[:16] + body)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise DiskError(f"{path.parent}: {error.strerror or error}", hint=hint, stage="tts") from error
