"""What the simulated caller is given: traits, script, beats and what it must not say. Shared by `desk` and `caller`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]


Sex = Literal["female", "male"]
Accent = Literal["american", "british"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expect(_Strict):
    """A condition on what the agent was heard to say. All given parts must hold; patterns are regular expressions,
    case-insensitive, searched anywhere."""

    any_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()


class Beat(_Strict):
    """One thing that the scripted caller can say.

    Beats are tried in the order of the file; the first whose conditions hold and that is not used up is played.
    `{trait}` stands for a trait in its written form; `{trait:spell}` for it spelled, `{trait:digits}` for its digits in
    groups, `{trait:first}` and `{trait:last}` for its first and last word, `{trait:date}` for a date in words.
    The id `opening` is taken: it names the brief's opening in `after`, `before` and `until`.
    """

    id: Name
    say: str
    """Empty: say nothing (with `hang_up`, `press`, or to wait)."""
    press: str = ""
    """Keys of the telephone to press after it, each time: `0`-`9`, `*`, `#`, `A`-`D`, or a trait: `"{pin}#"`."""
    when: Expect = Expect()
    """Without `any_of` and `all_of` it holds on most floors; such a beat gives way where the caller can answer from its
    traits by itself. No beat is played on a floor that puts the caller on hold; the words count with the next floor."""
    after: tuple[Name, ...] = ()
    """Beats that must have been played before."""
    before: tuple[Name, ...] = ()
    """Beats that must not have been played yet."""
    repeat: int = 1
    """How often it may be played."""
    repeat_say: str = ""
    """What to say from the second time on; empty: the same."""
    ask: bool = False
    """This is the caller's request: it is repeated when nothing else matched."""
    hang_up: bool = False
    """Hang up after saying it."""
    barge_in_ms: int | None = None
    """Say it this long after the agent began to speak, over the agent, if the floor before matched `when`."""


class Never(_Strict):
    """What the caller must not say: a pattern, until a beat has been played (or ever). That beat itself may say it."""

    pattern: str
    until: Name | None = None
    reason: str = ""


class VoiceWish(_Strict):
    """What a task wants of its caller's voice; a pipeline with one voice has that one all the same."""

    sex: Sex | None = None
    accent: Accent | None = None


class Brief(_Strict):
    """What the caller is given."""

    traits: dict[Name, str]
    """In written form: `date_of_birth: "1972-06-30"`, `mobile: 212-555-0133`."""
    script: str
    """Locked prose, as the LLM caller gets it and the task page shows it."""
    voice: VoiceWish | None = None
    """Left out: any of the pipeline's voices."""
    opening: str
    """The caller's first words, after the greeting."""
    beats: tuple[Beat, ...]
    never: tuple[Never, ...] = ()
    hold: tuple[str, ...] = (
        r"\b(one|a|just a) (moment|second|minute)\b", r"\bplease hold\b", r"\blet me (check|look|pull|see|find|get)\b",
        r"\bbear with me\b", r"\btransfer(ring)? you\b|\bconnect(ing)? you\b",
    )  # fmt: skip
    """If the agent's floor ends with words like these and asks nothing, the caller waits."""
