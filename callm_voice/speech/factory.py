"""Engines from settings. An engine's package is imported only when the engine is made."""

from __future__ import annotations

from callm_voice.core.errors import HarnessError, UsageError
from callm_voice.speech.endpointing import Endpointer
from callm_voice.speech.engines import SttEngine, TtsEngine, Vad
from callm_voice.speech.settings import (
    EndpointingSettings,
    EnergyVadSettings,
    ForeignSttSettings,
    ForeignTtsSettings,
    HibariSettings,
    KokoroSettings,
    PiperSettings,
    ScriptedSttSettings,
    ScriptedTtsSettings,
    SileroVadSettings,
    WebrtcVadSettings,
    WhisperSettings,
)
from callm_voice.speech.stt_scripted import Lookup, ScriptedStt
from callm_voice.speech.stt_whisper import WhisperStt
from callm_voice.speech.tts_hibari import HibariTts
from callm_voice.speech.tts_kokoro import KokoroTts
from callm_voice.speech.tts_piper import PiperTts
from callm_voice.speech.tts_scripted import ScriptedTts
from callm_voice.speech.vad_energy import EnergyVad
from callm_voice.speech.vad_silero import SileroVad
from callm_voice.speech.vad_webrtc import WebrtcVad


def make_tts(
    settings: PiperSettings | HibariSettings | KokoroSettings | ScriptedTtsSettings | ForeignTtsSettings,
) -> TtsEngine:
    """A warm voice of ours.

    Raises:
        UsageError: it is a Pipecat service class, which only a call can run (pipeline/foreign_open.py).
        SetupError: the package or the weight is missing.
        EngineError: it cannot be loaded.
    """
    match settings:
        case PiperSettings():
            return PiperTts(settings)
        case HibariSettings():
            return HibariTts(settings)
        case KokoroSettings():
            return KokoroTts(settings)
        case ScriptedTtsSettings():
            return ScriptedTts(settings)
        case ForeignTtsSettings():
            raise _only_in_a_call(settings.engine)


def make_stt(
    settings: WhisperSettings | ScriptedSttSettings | ForeignSttSettings, lookup: Lookup | None = None
) -> SttEngine:
    """A warm recogniser of ours; the scripted one needs `lookup`.

    Raises:
        UsageError: it is a Pipecat service class, which only a call can run (pipeline/foreign_open.py).
        SetupError: the package or the weight is missing.
        EngineError: it cannot be loaded.
    """
    match settings:
        case WhisperSettings():
            return WhisperStt(settings)
        case ScriptedSttSettings():
            if lookup is None:
                raise HarnessError("the scripted recogniser was not told what is said", stage="stt")
            return ScriptedStt(settings, lookup)
        case ForeignSttSettings():
            raise _only_in_a_call(settings.engine)


def make_vad(settings: WebrtcVadSettings | SileroVadSettings | EnergyVadSettings) -> Vad:
    """A voice activity detector.

    Raises:
        MissingDependencyError: its package is not installed.
    """
    match settings:
        case WebrtcVadSettings():
            return WebrtcVad(settings)
        case SileroVadSettings():
            return SileroVad(settings)
        case EnergyVadSettings():
            return EnergyVad(settings)


def make_endpointer(settings: EndpointingSettings, vad: Vad, *, rate_hz: int) -> Endpointer:
    """What cuts the heard audio into turns."""
    return Endpointer(vad, settings, rate_hz=rate_hz)


def _only_in_a_call(engine: str) -> UsageError:
    return UsageError(f"{engine} runs in calls only", hint="name a pipeline whose engines are ours")
