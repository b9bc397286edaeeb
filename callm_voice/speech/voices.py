"""The caller's voices by name, and which one a call has: drawn by its seed and task, the same on every machine.

A draw never looks at what is installed. A voice whose weights are missing is a `SetupError` when it is loaded, not
another voice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from callm_voice.core.brief import Accent, Sex, VoiceWish
from callm_voice.core.errors import UsageError
from callm_voice.speech.settings import (
    HibariSettings,
    KokoroSettings,
    PiperSettings,
    ScriptedTtsSettings,
    _Settings,
)

Engine = PiperSettings | HibariSettings | KokoroSettings | ScriptedTtsSettings


@dataclass(frozen=True)
class CallerVoice:
    """One voice that a caller can have."""

    id: str
    sex: Sex
    accent: Accent
    settings: PiperSettings | HibariSettings | KokoroSettings

    @property
    def speed(self) -> float:
        """Its pace; 1 is the engine's own."""
        return self.settings.speed

    @property
    def weights(self) -> tuple[str, ...]:
        """What it needs of the weights table."""
        match self.settings:
            case PiperSettings():
                return (f"piper-{self.settings.voice}",)
            case HibariSettings():
                return (f"hibari-{self.settings.voice}",)
            case KokoroSettings():
                return ("kokoro-82m", "kokoro-styles")


def _kokoro(voice: Any, speed: float) -> CallerVoice:
    """A Kokoro style; its name says accent and sex."""
    accent: Accent = "british" if voice[0] == "b" else "american"
    return CallerVoice(voice, "male" if voice[1] == "m" else "female", accent, KokoroSettings(voice=voice, speed=speed))


VOICES: tuple[CallerVoice, ...] = (
    CallerVoice("heart", "female", "american", HibariSettings()),
    CallerVoice("joe", "male", "american", PiperSettings()),
    _kokoro("af_bella", 1.05),
    _kokoro("af_sarah", 0.95),
    _kokoro("am_michael", 1.0),
    _kokoro("am_fenrir", 1.1),
    _kokoro("bf_emma", 0.95),
    _kokoro("bf_isabella", 1.0),
    _kokoro("bm_george", 0.9),
    _kokoro("bm_fable", 1.05),
)
"""What `voices: auto` draws from. A voice that is added or taken out changes only the calls that it gets or had."""


class VoicesSettings(_Settings):
    """Several voices for the caller; each call draws one."""

    voices: Literal["auto"] | Annotated[list[str], Field(min_length=1)]
    """`auto`: all that `callm-voice voices` lists. A list: these of them. The call's seed and task draw one; a task
    that wants a sex or an accent (`brief.voice`) gets it."""

    @field_validator("voices")
    @classmethod
    def _known(cls, names: str | list[str]) -> str | list[str]:
        known = [voice.id for voice in VOICES]
        for name in names if isinstance(names, list) else ():
            if name not in known:
                raise ValueError(f"unknown voice {name!r}; known: {', '.join(known)}")
        return names

    def all(self) -> list[CallerVoice]:
        """The voices that a call may get."""
        return [voice for voice in VOICES if self.voices == "auto" or voice.id in self.voices]


def _which(value: Any) -> str | None:
    """The tag of `caller.tts`: an engine's, or that of a set of voices."""
    if isinstance(value, dict):
        return "voices" if "voices" in value else value.get("engine")
    return "voices" if isinstance(value, VoicesSettings) else getattr(value, "engine", None)


CallerTtsSettings = Annotated[
    Annotated[PiperSettings, Tag("piper")]
    | Annotated[HibariSettings, Tag("hibari")]
    | Annotated[KokoroSettings, Tag("kokoro")]
    | Annotated[ScriptedTtsSettings, Tag("scripted")]
    | Annotated[VoicesSettings, Tag("voices")],
    Discriminator(
        _which,
        custom_error_type="caller_tts",
        custom_error_message="expected `engine: piper | hibari | kokoro | scripted`, or `voices: auto` or a list",
    ),
]
"""`caller.tts` of a pipeline: one engine, or a set of voices."""


@dataclass(frozen=True)
class ChosenVoice:
    """What a call's caller speaks with."""

    settings: Engine
    voice: CallerVoice | None = None
    """None: the pipeline names one engine, and that is it."""

    def record(self) -> dict[str, str]:
        """What the record says beside the engine's own settings."""
        if self.voice is None:
            return {}
        return {"caller_voice": self.voice.id, "sex": self.voice.sex, "accent": self.voice.accent}


def choose(settings: Engine | VoicesSettings, *, seed: int, task: str, wish: VoiceWish | None = None) -> ChosenVoice:
    """The voice of one call.

    Args:
        settings: `caller.tts`. One engine is taken as it is, whatever the task wants.
        seed: of the call.
        task: `PACK/TASK`.
        wish: `brief.voice` of the task.

    Raises:
        UsageError: none of the voices is what the task wants.
    """
    if not isinstance(settings, VoicesSettings):
        return ChosenVoice(settings)
    fitting = [voice for voice in settings.all() if _fits(voice, wish)]
    if wish is not None and not fitting:
        wanted = " ".join(filter(None, (wish.sex, wish.accent)))
        raise UsageError(
            f"{task} wants a {wanted} voice, and caller.tts.voices has none",
            hint=f"add one of: {', '.join(voice.id for voice in VOICES if _fits(voice, wish))}",
        )
    drawn = draw(fitting, seed=seed, task=task)
    return ChosenVoice(drawn.settings, drawn)


def draw(voices: Sequence[CallerVoice], *, seed: int, task: str) -> CallerVoice:
    """The one whose SHA-256 with seed and task is highest: the order of the list and the other voices do not matter."""
    return max(voices, key=lambda voice: hashlib.sha256(f"{seed}\x1f{task}\x1f{voice.id}".encode()).digest())


def _fits(voice: CallerVoice, wish: VoiceWish | None) -> bool:
    return wish is None or (wish.sex in (None, voice.sex) and wish.accent in (None, voice.accent))
