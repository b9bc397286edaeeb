"""The oracle's script: a task's gold dialogue as steps, checked. `oracle_replay` plays it.

Steps: `{say: TEXT}`, `{hear: {any_of: [...]}, else: TEXT}` and `{call: TOOL, args: {...}, together: false}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from callm_voice.core.errors import ConfigError, UsageError
from callm_voice.core.yamlfile import line_of

MODEL_ID = "oracle"
"""As its server names it."""
NonEmpty = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HearWhat(_Strict):
    """A condition on the caller's words: regular expressions, case-insensitive, searched anywhere. Empty: anything."""

    any_of: tuple[NonEmpty, ...] = ()
    all_of: tuple[NonEmpty, ...] = ()
    none_of: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _patterns_compile(self) -> HearWhat:
        for pattern in (*self.any_of, *self.all_of, *self.none_of):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return self

    def holds(self, words: str) -> bool:
        """Whether the words match."""

        def found(pattern: str) -> bool:
            return re.search(pattern, words, re.IGNORECASE) is not None

        some = not self.any_of or any(map(found, self.any_of))
        return some and all(map(found, self.all_of)) and not any(map(found, self.none_of))


class SayStep(_Strict):
    """Say this."""

    say: NonEmpty


class HearStep(_Strict):
    """Stop here until the caller's words match."""

    hear: HearWhat
    otherwise: NonEmpty | None = Field(default=None, alias="else")
    """What to say to words that do not match. None: the words before once more."""


class CallStep(_Strict):
    """Call a tool."""

    call: NonEmpty
    args: dict[str, Any] = Field(default_factory=dict)
    together: bool = False
    """In the same answer as the call before."""
    may_fail: bool = False
    """The tool's answer may be `ok: false`. Otherwise that is a fault of the pack."""


Step = SayStep | HearStep | CallStep
_BY_KEY: dict[str, type[SayStep] | type[HearStep] | type[CallStep]] = {
    "say": SayStep,
    "hear": HearStep,
    "call": CallStep,
}


def parse_script(steps: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Steps from plain data.

    Raises:
        UsageError: names the step and what is wrong with it.
    """
    if not isinstance(steps, list | tuple):
        raise UsageError("the dialogue is not a list of steps")
    parsed: list[Step] = []
    for number, data in enumerate(steps, start=1):
        kinds = [key for key in _BY_KEY if key in data] if isinstance(data, Mapping) else []
        if len(kinds) != 1:
            raise UsageError(f"dialogue step {number}: expected exactly one of say, hear, call")
        try:
            parsed.append(TypeAdapter(_BY_KEY[kinds[0]]).validate_python(dict(data)))
        except ValidationError as error:
            finding = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in finding["loc"])
            what = "unknown key" if finding["type"] == "extra_forbidden" else finding["msg"]
            raise UsageError(f"dialogue step {number}: {key or kinds[0]}: {what}") from None
        step = parsed[-1]
        if isinstance(step, CallStep) and step.together and not (len(parsed) > 1 and isinstance(parsed[-2], CallStep)):
            raise UsageError(f"dialogue step {number}: together: there is no call directly before")
    return tuple(parsed)


def check_script(steps: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Check the dialogue of a task file.

    Raises:
        ConfigError: with the line of the first wrong step.
    """
    try:
        parse_script(steps)
    except UsageError as error:
        match = re.match(r"dialogue step (\d+): (.*)", error.message)
        number, what = (int(match[1]), match[2]) if match else (1, error.message)
        keys = ["gold", "dialogue", str(number - 1)]
        raise ConfigError(path, f"gold.dialogue.{number - 1}", what, line=line_of(path, keys)) from None
