"""A pipeline file: engines, models, rates, endpointing. `pipelines/cpu.yaml` is the default."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from callm_voice.core import paths
from callm_voice.core.yamlfile import load_model
from callm_voice.llm.spec import ModelSpec
from callm_voice.speech.settings import (
    AgentSttSettings,
    AgentTtsSettings,
    EndpointingSettings,
    ForeignSttSettings,
    ForeignTtsSettings,
    VadSettings,
)
from callm_voice.speech.voices import CallerTtsSettings


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BargeInSettings(_Strict):
    """Whether the caller can interrupt the agent."""

    enabled: bool = True


class SentenceSettings(_Strict):
    """How the agent's text is cut for synthesis."""

    early_clause_words: int = Field(default=0, ge=0, le=40)
    """The first sentence of an answer may go out at a clause boundary after so many words; 0: only whole sentences."""
    lead_silence_ms: int | None = Field(default=None, ge=0, le=500)
    """The silence that the synthesis of an answer begins with is cut down to this; null: as the voice made it."""


class CallerSettings(_Strict):
    """The simulated caller's side of the line."""

    tts: CallerTtsSettings
    ears: Literal["played", "stt"] = "played"
    """`played`: it is given the agent's words as they were played. `stt`: what a recogniser makes of them."""
    reply_after_ms: int = Field(default=700, ge=100, le=5000)
    """How long the agent must have been silent before the caller takes the floor."""
    prod_after_ms: int = Field(default=8000, ge=1000, le=60000)
    give_up_after_ms: int = Field(default=45000, ge=5000, le=600000)


class DtmfSettings(_Strict):
    """Keys that the caller presses."""

    enabled: bool = True
    """Tones are recognised on the line; the model is given `[keypad: 1 2 #]`. False: they are sound like any other."""
    interdigit_ms: int = Field(default=1000, ge=200, le=10000)
    """So long after the last key the input is complete."""


class LimitSettings(_Strict):
    """What ends a call that does not end by itself."""

    max_duration_s: float = Field(default=600.0, gt=0, le=7200)
    max_turns: int = Field(default=60, ge=1, le=500)
    inferences_per_turn: int = Field(default=12, ge=1, le=50)
    max_cost_usd: float | None = Field(default=None, gt=0)
    """The call ends when the model has cost so much; never where its price is unknown."""


class PipelineSpec(_Strict):
    """One file under `pipelines/`."""

    id: str
    title: str = ""
    stt: AgentSttSettings
    vad: VadSettings
    endpointing: EndpointingSettings = EndpointingSettings()
    tts: AgentTtsSettings
    sentences: SentenceSettings = SentenceSettings()
    barge_in: BargeInSettings = BargeInSettings()
    dtmf: DtmfSettings = DtmfSettings()
    caller: CallerSettings
    limits: LimitSettings = LimitSettings()
    keep_awake: bool = True
    """At the real pace, on up to 16 cores: processes of idle priority keep the processors from sleeping between turns,
    as a desk with many calls would."""
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    """NAME → model spec; goes before the user's `models.yaml` and the built-in ones."""


def load_pipeline(name_or_path: str) -> PipelineSpec:
    """A pipeline by name or path.

    Raises:
        NotFoundError, ConfigError: with the known names, or the file, line, key and what was expected.
        SetupError: it names a service class whose package cannot be imported.
    """
    path: Path = paths.find("pipelines", name_or_path)
    spec = load_model(path, PipelineSpec)
    if isinstance(spec.stt, ForeignSttSettings) or isinstance(spec.tts, ForeignTtsSettings):
        from callm_voice.pipeline.foreign_info import check_engines  # Pipecat, which only such a pipeline needs here

        check_engines(path, spec.stt, spec.tts)
    return spec
