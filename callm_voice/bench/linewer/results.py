"""results.json of `callm-voice line wer`: what docs/wer-by-profile.md is made from. All shares are from 0 to 1."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from callm_voice.bench.linewer.utterances import EntityKind
from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import first_problem

FORM: Literal["callm-voice-wer/1"] = "callm-voice-wer/1"
RESULTS_FILE = "results.json"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rate(_Model):
    """A share with its interval; without one where too few utterances were heard for it."""

    value: float
    low: float | None
    high: float | None


class Count(_Model):
    """How many of how many."""

    of: int
    count: int


class NonSpeech(_Model):
    """What came back for sounds without speech."""

    planned: int
    heard: int
    with_text: int
    """For how many of them text came back, after the recogniser's guards."""
    with_raw_text: int
    """Before them."""
    rate: Rate | None
    """Of `with_text`; Wilson's interval. None: none was heard."""
    words: int
    """In all texts together."""
    texts: dict[str, str]
    """Sound → text, of those that have one."""


class Cell(_Model):
    """One profile and one model."""

    profile: str
    title: str
    rate_hz: int
    model: str
    planned: int
    """Utterances times voices."""
    heard: int
    utterances: int
    voices: int
    words: int
    """Of the references, normalised."""
    substitutions: int
    deletions: int
    insertions: int
    wer: Rate | None
    """None: nothing was heard."""
    over_reference: Rate | None
    """Its word error rate less that of the reference profile, over the same utterances in the same voices."""
    entities: dict[EntityKind, Count]
    entity_accuracy: Rate | None
    empty: int
    """Utterances for which no text came back."""
    non_speech: NonSpeech
    cpu_per_audio: float | None
    """Processor time of the decoding over the length of the sound; median."""
    wall_per_audio: float | None
    """The same of wall time: says little where the machine was busy."""


class VoiceCell(_Model):
    """One voice and one model, over all profiles that were heard."""

    voice: str
    sex: str
    accent: str
    model: str
    heard: int
    utterances: int
    wer: Rate | None
    entity_accuracy: Rate | None


class WerResults(_Model):
    """All of a plan."""

    form: Literal["callm-voice-wer/1"] = FORM
    product_version: str
    made_at: str
    utterance_set: str
    utterances: int
    entities: dict[EntityKind, int]
    voices: tuple[str, ...]
    profiles: tuple[str, ...]
    models: tuple[str, ...]
    reference: str | None
    """Profile that the others are compared with; None: it is not among them."""
    seed: int
    level: float
    resamples: int
    planned: int
    heard: int
    host: dict[str, object]
    cells: tuple[Cell, ...]
    by_voice: tuple[VoiceCell, ...]


def load_results(path: Path) -> WerResults:
    """A results.json.

    Raises:
        ConfigError: it cannot be read or has another form.
    """
    try:
        return WerResults.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise first_problem(path, error) from error
