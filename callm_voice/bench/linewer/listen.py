"""One listening: a voice says it, the line carries it, the recogniser writes it down."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from callm_voice.audio.resample import resample_whole
from callm_voice.bench.linewer import nonspeech
from callm_voice.bench.linewer.plan import Listening
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.errors import EngineError
from callm_voice.core.paths import cache_dir
from callm_voice.line.apply import apply_profile
from callm_voice.speech.engines import Pcm, SttEngine
from callm_voice.speech.factory import make_stt, make_tts
from callm_voice.speech.settings import WhisperSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts
from callm_voice.speech.voices import CallerVoice

LEAD_MS, TRAIL_MS = 300, 500
"""Around the words, before they go into the line: about what an endpointer has of them, so that the recogniser gets
what one would cut out."""


class Heard(BaseModel):
    """One line of results.jsonl."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    sound: str
    voice: str | None
    """None: a sound without speech."""
    profile: str
    model: str
    text: str
    """After the recogniser's guards: what a desk would get."""
    raw: str
    """Before them."""
    rejected: str | None
    audio_ms: float
    """Of what the recogniser was given."""
    decode_ms: float
    """Wall time; on a busy machine this says little."""
    cpu_ms: float
    """Processor time of the decoding."""


@dataclass(frozen=True)
class Sound:
    """What goes into the line, at a rate of its own."""

    pcm: Pcm
    rate_hz: int


class Speaker:
    """The voices; each line is synthesised once and kept in the caller-audio cache, as in a call."""

    def __init__(self) -> None:
        self._voices: dict[str, CachedTts] = {}

    def say(self, text: str, voice: CallerVoice) -> Sound:
        """What a caller's `text` sounds like in this voice, with silence around it.

        Raises:
            SetupError: a package or weight of the voice is missing.
            EngineError: it made no sound.
        """
        tts = self._voices.get(voice.id)
        if tts is None:
            tts = self._voices[voice.id] = CachedTts(make_tts(voice.settings), cache_dir() / "caller-audio")
        pcm = tts.synthesise(to_spoken(text), seed=1)
        if not pcm.size:
            raise EngineError(f"the voice {voice.id} made no sound of {text[:60]!r}")
        words = shorten_pauses(pcm, tts.rate_hz)
        return Sound(np.pad(words, (tts.rate_hz * LEAD_MS // 1000, tts.rate_hz * TRAIL_MS // 1000)), tts.rate_hz)


_recognisers: dict[WhisperSettings, SttEngine] = {}
"""Of this process."""


def listen(what: Listening, sound: Sound) -> Heard:
    """Send it over the line and have it recognised.

    Raises:
        SetupError: a package or weight of the recogniser is missing.
        EngineError: it failed.
    """
    stt = _recognisers.get(what.stt)
    if stt is None:
        stt = _recognisers[what.stt] = make_stt(what.stt)
    if what.utterance is None:
        pcm = nonspeech.over_the_line(
            resample_whole(sound.pcm, sound.rate_hz, nonspeech.RATE_HZ), what.profile, what.seed
        )
    else:
        pcm = apply_profile(sound.pcm, sound.rate_hz, what.profile, what.seed).pcm
    before_s = _cpu_s()
    transcript = stt.transcribe(pcm, what.profile.rate_hz)
    return Heard(
        key=what.key,
        sound=what.sound,
        voice=what.voice.id if what.voice else None,
        profile=what.profile.id,
        model=what.stt.model,
        text=transcript.text,
        raw=transcript.raw,
        rejected=transcript.rejected,
        audio_ms=round(pcm.size * 1000 / what.profile.rate_hz, 1),
        decode_ms=round(transcript.decode_ms, 1),
        cpu_ms=round((_cpu_s() - before_s) * 1000, 1),
    )


def _cpu_s() -> float:
    """Processor seconds of this process so far, all threads."""
    spent = os.times()
    return spent.user + spent.system
