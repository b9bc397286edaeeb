"""What is to be heard: every (sound, profile, model), in an order that is balanced wherever it stops.

Pass by pass: in each, every utterance is said once, in another voice than in the passes before, over every profile. So
after the first pass every profile has heard all utterances and all voices, the same ones as every other profile, and
after as many passes as there are voices everything has been heard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from callm_voice.bench.linewer import nonspeech
from callm_voice.bench.linewer.utterances import Utterance, UtteranceSet
from callm_voice.core.errors import NotFoundError, UsageError
from callm_voice.core.ids import derive_seed
from callm_voice.line.profile import LineProfile, all_profiles, load_profile
from callm_voice.speech.settings import WhisperSettings
from callm_voice.speech.voices import VOICES, CallerVoice

FORM = 1
"""Of a row's key. Raised when the same plan would sound otherwise."""
RETRY_LOGPROB = -0.7
"""What the table was begun with; the engine's own default is -0.4, which decodes more sounds a second time. Over three
lines the two differ by 0.03 points of WER (`tests/performance/short_window.py`)."""


@dataclass(frozen=True)
class Listening:
    """One sound over one profile to one model."""

    key: str
    """Hash of all that shapes the outcome."""
    sound: str
    """Id of an utterance, or name of a sound without speech."""
    utterance: Utterance | None
    """None: a sound without speech."""
    voice: CallerVoice | None
    profile: LineProfile
    stt: WhisperSettings
    seed: int
    """Of the line: the same for all profiles and models."""


@dataclass(frozen=True)
class WerPlan:
    """All of them."""

    utterances: UtteranceSet
    voices: tuple[CallerVoice, ...]
    profiles: tuple[LineProfile, ...]
    models: tuple[WhisperSettings, ...]
    seed: int = 1
    sounds: tuple[str, ...] = nonspeech.names()
    """Without speech."""

    def listenings(self) -> Iterator[Listening]:
        """In order: the first pass, with the sounds without speech spread over it, then the other passes."""
        utterances = self.utterances.utterances
        for number in range(len(self.voices)):
            for place, utterance in enumerate(utterances):
                yield from self._everywhere(utterance.id, utterance, self.voices[(place + number) % len(self.voices)])
                if number == 0:
                    share = [len(self.sounds) * n // len(utterances) for n in (place, place + 1)]
                    for name in self.sounds[share[0] : share[1]]:
                        yield from self._everywhere(name)

    def _everywhere(
        self, sound: str, utterance: Utterance | None = None, voice: CallerVoice | None = None
    ) -> Iterator[Listening]:
        for profile in self.profiles:
            for stt in self.models:
                yield self._listening(sound, profile, stt, utterance, voice)

    def _listening(
        self,
        sound: str,
        profile: LineProfile,
        stt: WhisperSettings,
        utterance: Utterance | None = None,
        voice: CallerVoice | None = None,
    ) -> Listening:
        seed = derive_seed(self.seed, "linewer", sound, voice.id if voice else "")
        said = nonspeech.VERSION if utterance is None else utterance.text
        speaker = None if voice is None else voice.settings.model_dump(mode="json", exclude={"threads"})
        heard_with = stt.model_dump(mode="json", exclude={"cpu_threads", "device", "device_index"})
        form = [FORM, sound, said, speaker, profile.model_dump(mode="json", exclude={"title"}), heard_with, seed]
        key = hashlib.sha256(json.dumps(form, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]
        return Listening(key, sound, utterance, voice, profile, stt, seed)


def make_plan(
    utterances: UtteranceSet,
    *,
    profiles: list[str] | None = None,
    voices: list[str] | None = None,
    models: list[str] | None = None,
    limit: int | None = None,
    sounds: int | None = None,
    device: str = "cpu",
    seed: int = 1,
) -> WerPlan:
    """The plan for these names; None: all profiles, all voices, Whisper base.

    Args:
        limit: only the first so many utterances.
        sounds: only the first so many sounds without speech.

    Raises:
        NotFoundError: a profile or a voice is not known.
        UsageError: a name stands twice.
    """
    for kind, names in (("profile", profiles), ("voice", voices), ("model", models)):
        if names and len(set(names)) < len(names):
            raise UsageError(f"--{kind}: a name stands twice")
    if limit is not None:
        utterances = UtteranceSet(id=utterances.id, utterances=utterances.utterances[:limit])
    return WerPlan(
        utterances=utterances,
        voices=tuple(voice_named(name) for name in voices) if voices else VOICES,
        profiles=tuple(load_profile(name) for name in profiles) if profiles else tuple(all_profiles()),
        models=tuple(_settings(model, device) for model in models or ["base"]),
        seed=seed,
        sounds=nonspeech.names()[:sounds],
    )


def voice_named(name: str) -> CallerVoice:
    """One of the caller's voices.

    Raises:
        NotFoundError: there is none of this name.
    """
    found = next((voice for voice in VOICES if voice.id == name), None)
    if found is None:
        raise NotFoundError("voice", name, [voice.id for voice in VOICES])
    return found


def _settings(model: str, device: str) -> WhisperSettings:
    """As in the pipelines `cpu` and `gpu` but for `RETRY_LOGPROB`; one thread, for each process has its own."""
    if device == "cuda":
        return WhisperSettings(
            model=model, device="cuda", compute_type="float16", cpu_threads=1, retry_logprob=RETRY_LOGPROB
        )
    return WhisperSettings(model=model, cpu_threads=1, retry_logprob=RETRY_LOGPROB)
