"""What callers say, with the entities that a desk needs of it marked by kind."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from callm_voice.core.yamlfile import load_model

EntityKind = Literal["name", "date_of_birth", "phone", "card_like", "money", "address", "medical", "legal"]
KINDS: tuple[EntityKind, ...] = get_args(EntityKind)
SHIPPED = Path(__file__).with_name("utterances.yaml")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Entity(_Model):
    """Something that must arrive."""

    kind: EntityKind
    text: str = Field(min_length=1)
    """As it stands in the utterance."""
    also: tuple[str, ...] = ()
    """Other spellings that are as right."""


class Utterance(_Model):
    """One turn of a caller."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    text: str = Field(min_length=1)
    """As it is written: the reference of the word error rate."""
    entities: tuple[Entity, ...] = ()

    @model_validator(mode="after")
    def _entities_are_in_it(self) -> Utterance:
        for entity in self.entities:
            if entity.text not in self.text:
                raise ValueError(f"the entity {entity.text!r} does not stand in the utterance")
        return self


class UtteranceSet(_Model):
    """A file of utterances."""

    id: str = Field(min_length=1)
    utterances: tuple[Utterance, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> UtteranceSet:
        ids = [utterance.id for utterance in self.utterances]
        if len(set(ids)) < len(ids):
            raise ValueError("two utterances have the same id")
        return self


def load_utterances(path: Path = SHIPPED) -> UtteranceSet:
    """The shipped set, or another file of the same form.

    Raises:
        ConfigError: a key is unknown, missing or wrong: names file, line and key.
    """
    return load_model(path, UtteranceSet)
