"""Settings of the speech engines, as a pipeline's YAML gives them. An unknown key is an error, never ignored.

Each of `TtsSettings`, `SttSettings` and `VadSettings` is a union told apart by `engine`; use them as field types.
`AgentTtsSettings` and `AgentSttSettings` are the same and, in addition, a Pipecat service class by its dotted path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
KokoroVoice = Literal[
    "af_bella", "af_kore", "af_sarah", "am_fenrir", "am_michael", "am_puck", "bf_emma", "bf_isabella", "bm_daniel",
    "bm_fable", "bm_george", "bm_lewis",
]  # fmt: skip
"""The styles that `kokoro-styles` of the weights table holds."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PiperSettings(_Settings):
    """Piper (GPL-3.0, in-process), a VITS voice."""

    engine: Literal["piper"] = "piper"
    voice: str = "en_US-joe-medium"
    """A voice of the weights table (`piper-VOICE`), or the path of an .onnx file with its .onnx.json beside it."""
    speed: Positive = 1.0
    noise: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Generator noise. 0: the same text always gives the same samples; the voice's own default is 0.667."""
    noise_w: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Noise of the phoneme lengths; the voice's own default is 0.8."""
    peak_dbov: Annotated[float, Field(le=0)] = -3.0
    """Each utterance is scaled so that its highest sample is here."""


class HibariSettings(_Settings):
    """Hibari, a small seeded voice: the caller's."""

    engine: Literal["hibari"] = "hibari"
    voice: Literal["af_heart"] = "af_heart"
    speed: Positive = 1.0
    sentence_pause_ms: Annotated[int, Field(ge=0, le=2000)] = 200
    """Silence between sentences. The voice's own is over 500 ms, which endpointing takes for the end of the turn."""
    peak_dbov: Annotated[float, Field(le=0)] = -3.0


class KokoroSettings(_Settings):
    """Kokoro-82M, int8: one style of many. Too slow for an agent on a CPU; a caller's lines are made ahead and kept."""

    engine: Literal["kokoro"] = "kokoro"
    voice: KokoroVoice = "af_bella"
    """`a`merican or `b`ritish, `f`emale or `m`ale, and a name."""
    speed: Annotated[float, Field(ge=0.5, le=2)] = 1.0
    sentence_pause_ms: Annotated[int, Field(ge=0, le=2000)] = 200
    """Silence between sentences; the voice's own is long enough to be taken for the end of the turn."""
    peak_dbov: Annotated[float, Field(le=0)] = -3.0
    threads: Annotated[int, Field(ge=1)] = 1
    """Of the synthesis; it does not change the sound."""


class ScriptedTtsSettings(_Settings):
    """Speech-shaped sound of the right length, without any model."""

    engine: Literal["scripted"] = "scripted"
    words_per_min: Positive = 150.0
    rate_hz: Literal[8000, 16000, 24000] = 16000


class WhisperSettings(_Settings):
    """faster-whisper with explicit decode options."""

    engine: Literal["whisper"] = "whisper"
    model: str = "base"
    """A model of the weights table (`whisper-MODEL`), the path of a CTranslate2 folder, or `hub:NAME`."""
    device: Literal["cpu", "cuda"] = "cpu"
    device_index: Annotated[int, Field(ge=0)] = 0
    compute_type: str = "int8"
    cpu_threads: Annotated[int, Field(ge=1)] = 2
    language: str = "en"
    beam_size: Annotated[int, Field(ge=1, le=10)] = 1
    window_s: Annotated[float, Field(ge=5, le=30)] = 15.0
    """What a segment is padded to. Whisper was trained on 30; 15 takes less than half the time. A segment that does not
    fit, and one whose text came out unsure (`retry_logprob`), rejected or looped, is decoded in a window of 30."""
    loop_ngram: Annotated[int, Field(ge=0)] = 5
    """`no_repeat_ngram_size` of the second decoding, which runs only when the first one looped. 0: never."""
    no_speech: Share = 0.6
    """A segment is rejected where P(no speech) is at least this and the mean log probability below `unsure_logprob`."""
    unsure_logprob: Annotated[float, Field(le=0)] = -0.7
    retry_logprob: Annotated[float, Field(le=0)] = -0.4
    """A text from a short window with a mean log probability below this is decoded again in one of 30 s."""
    min_logprob: Annotated[float, Field(le=0)] = -1.2
    """A segment is rejected below this mean log probability of its tokens, whatever P(no speech) is."""
    max_compression: Positive = 2.4
    """Text that zlib shrinks more than this, digits left out, is taken for a loop."""
    min_level_dbov: Annotated[float, Field(le=0)] = -65.0
    """A segment whose loudest 20 ms lie below this is not decoded at all."""
    lead_silence_ms: Annotated[int, Field(ge=0, le=2000)] = 0
    trail_silence_ms: Annotated[int, Field(ge=0, le=2000)] = 0
    """Silence added around the segment before decoding."""
    hotwords: str | None = None
    initial_prompt: str | None = None
    """Both bias the recogniser; the record says with what."""


class ScriptedSttSettings(_Settings):
    """Returns what was said, with set errors and delays."""

    engine: Literal["scripted"] = "scripted"
    word_error_rate: Share = 0.0
    """Share of words that are replaced or dropped, drawn by `seed` and the text."""
    replace: dict[str, str] = Field(default_factory=dict)
    """Exact phrases that are always misheard, case kept as given."""
    delay_ms: Annotated[float, Field(ge=0)] = 0.0
    """Reported as the decode time; whoever runs the engine lets this much time pass."""
    seed: int = 0


class _ForeignSettings(_Settings):
    """A Pipecat service class, run for one utterance or sentence at a time."""

    engine: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]
    """Dotted path of the class. Its package is imported: a pipeline that names one is a program."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """What the service is made with, by the service's own names. `env:NAME` stands for an environment variable, and a
    key or token must be given so; it is never written down."""
    counted: bool = False
    """True: it works only while it is asked, so the fast pace may skip the time between. False: the call runs at the
    real pace, and the record says why."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """For one utterance or sentence. A service that takes longer, or fails, ends the call as invalid."""
    start_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """To be made, connected and warmed up, before the line opens."""


class ForeignSttSettings(_ForeignSettings):
    """Any `STTService` of Pipecat's."""

    rate_hz: Annotated[int, Field(ge=8000, le=48_000)] = 16_000
    """What it is given; an utterance is resampled as a whole."""
    settle_ms: Annotated[int, Field(ge=0, le=10_000)] = 1000
    """Streaming services only: without a final mark, a transcript is complete when nothing has come for so long after
    the last audio. It is part of the time that the service took."""


class ForeignTtsSettings(_ForeignSettings):
    """Any `TTSService` of Pipecat's."""

    rate_hz: Annotated[int, Field(ge=8000, le=48_000)] = 24_000
    """What it is asked for: the voice's own, as a service that resamples may lose the end of a sentence."""


class WebrtcVadSettings(_Settings):
    """The classic telephone detector; for quiet lines."""

    engine: Literal["webrtc"] = "webrtc"
    mode: Literal[0, 1, 2, 3] = 2
    frame_ms: Literal[10, 20, 30] = 20


class SileroVadSettings(_Settings):
    """The small recurrent network; for noisy lines."""

    engine: Literal["silero"] = "silero"


class EnergyVadSettings(_Settings):
    """A level gate; for scripted sound only."""

    engine: Literal["energy"] = "energy"
    threshold_dbov: Annotated[float, Field(le=0)] = -45.0


class EndpointingSettings(_Settings):
    """When a turn starts and ends. All times are on the line's clock."""

    start_ms: Annotated[int, Field(ge=0)] = 100
    """Speech this long starts a turn."""
    stop_ms: Annotated[int, Field(ge=0)] = 200
    """Non-speech this long is a pause (`SpeechStopped`)."""
    kind: Literal["silence", "smart_turn"] = "silence"
    """`silence`: a fixed wait. `smart_turn`: at `stop_ms` a model is asked whether the turn is complete."""
    speculate_ms: Annotated[int, Field(ge=0)] | None = None
    """Non-speech this long: the audio so far is transcribed ahead of the endpoint, and the transcript is thrown away if
    speech resumes. From `post_roll_ms` on it is the very audio of the endpoint; below, that lacks the end of the
    silence. With `smart_turn`, not before the model has answered. None: at the endpoint."""
    silence_ms: Annotated[int, Field(ge=0)] = 500
    """The turn ends this long after the last speech frame. `smart_turn` does not use it."""
    smart_max_silence_ms: Annotated[int, Field(ge=0)] = 2000
    """`smart_turn`: the turn ends after so much silence even if the model calls it incomplete."""
    smart_beside_stt: bool = False
    """`smart_turn`: `speculate_ms` holds while the model is asked, too; the two compete for the processor then."""
    min_speech_ms: Annotated[int, Field(ge=0)] = 100
    """A stretch with less speech than this in sum is noise: no turn starts."""
    max_turn_ms: Annotated[int, Field(ge=1000)] = 28_000
    """A turn is ended here even if speech goes on: competing speech and noise can hold any detector up."""
    pre_roll_ms: Annotated[int, Field(ge=0)] = 300
    """Audio from before the first speech frame that belongs to the segment, so that a short "yes" is whole."""
    post_roll_ms: Annotated[int, Field(ge=0)] = 200
    """Audio after the last speech frame that stays in the segment."""
    smooth_frames: Annotated[int, Field(ge=1, le=50)] = 5
    """The detector's confidence is averaged over this many of its frames."""
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    """A smoothed confidence of at least this is speech."""
    min_level_dbov: float | None = None
    """Frames quieter than this are never speech; None: no gate."""


TtsSettings = Annotated[
    PiperSettings | HibariSettings | KokoroSettings | ScriptedTtsSettings, Field(discriminator="engine")
]
SttSettings = Annotated[WhisperSettings | ScriptedSttSettings, Field(discriminator="engine")]
VadSettings = Annotated[WebrtcVadSettings | SileroVadSettings | EnergyVadSettings, Field(discriminator="engine")]


def _made(ours: Any, foreign: type[_ForeignSettings]) -> BeforeValidator:
    """A dotted path is a service class, everything else is told apart by `engine` as before."""
    engines: TypeAdapter[Any] = TypeAdapter(ours)

    def make(value: object) -> object:
        engine = value.get("engine") if isinstance(value, Mapping) else None
        if isinstance(engine, str) and "." in engine:
            return foreign.model_validate(value)
        return engines.validate_python(value)

    return BeforeValidator(make)


AgentTtsSettings = Annotated[TtsSettings | ForeignTtsSettings, _made(TtsSettings, ForeignTtsSettings)]
AgentSttSettings = Annotated[SttSettings | ForeignSttSettings, _made(SttSettings, ForeignSttSettings)]
