"""The `gold:` part of a task file, for the verifier and the oracle; nothing below this room reads it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import line_of, load_model
from verifier.gold import ArgType, Gold, GoldError, GoldFile
from verifier.trace import State
from verifier.verify import expected_state


class GoldPart(Gold):
    """The `gold:` key of a task file: what the verifier expects, and how the oracle gets there."""

    dialogue: tuple[dict[str, Any], ...] = ()
    """Steps of the oracle's dialogue, as plain data."""


class _TaskGoldOnly(BaseModel):
    """A task file of which only gold is looked at; the rest is `TaskFile`'s."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    gold: GoldPart


@dataclass(frozen=True)
class TaskGold:
    """Gold of one task."""

    gold: Gold
    dialogue: list[dict[str, Any]]
    """As the file has it; `llm` validates the steps."""
    source: Path


def load_gold(task_path: Path) -> TaskGold:
    """Gold of a task file.

    Raises:
        ConfigError: the file cannot be read, has no `gold:`, or a key of it is wrong; with file, line and key.
    """
    part = load_model(task_path, _TaskGoldOnly).gold
    gold = Gold(path=part.path, calls=part.calls, state=part.state)
    return TaskGold(gold=gold, dialogue=list(part.dialogue), source=task_path)


def gold_file(
    task_id: str,
    task_gold: TaskGold | Gold,
    seed: State,
    ignored_columns: Mapping[str, str],
    arg_types: Mapping[str, Mapping[str, ArgType]],
    now: dt.datetime | None = None,
) -> GoldFile:
    """What goes into `gold.json`: all that the verifier needs beside the record and the state.

    Args:
        task_id: `PACK/TASK`.
        task_gold: with a `TaskGold`, errors name its file and line.
        now: the pack's frozen date and time.

    Raises:
        ConfigError: the gold state does not fit the seed: an unknown table or column, or a row that is not picked.
    """
    gold = task_gold.gold if isinstance(task_gold, TaskGold) else task_gold
    try:
        expected_state(seed, gold.state)
    except GoldError as error:
        key = f"gold.{error.key}"
        if isinstance(task_gold, TaskGold):
            line = line_of(task_gold.source, key.split("."))
            raise ConfigError(task_gold.source, key, error.problem, line=line) from error
        raise ConfigError(task_id, key, error.problem) from error
    return GoldFile(
        task=task_id,
        gold=gold,
        seed=seed,
        ignored_columns=dict(ignored_columns),
        arg_types={tool: dict(types) for tool, types in arg_types.items()},
        now=now,
    )
