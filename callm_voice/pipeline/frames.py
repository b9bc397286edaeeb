"""Our own Pipecat frames. They carry ids, so that no processor has to guess what belongs together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pipecat.frames.frames import DataFrame, LLMFullResponseEndFrame, LLMTextFrame

from callm_voice.speech.engines import Pcm


@dataclass
class _KeptFrame(DataFrame):
    """A frame that an interruption does not drop."""

    interruptible: bool = field(default=False, init=False)


@dataclass
class CallerAudioFrame(_KeptFrame):
    """One whole turn of the caller's, cut out by endpointing.

    Uninterruptible: a caller who goes on speaking must not lose what was said before.
    """

    turn_id: int = 0
    pcm: Pcm = field(default_factory=lambda: np.zeros(0, np.int16))
    rate_hz: int = 8000
    start_ms: float = 0.0
    end_ms: float = 0.0
    keys: str = ""


@dataclass
class CallerPauseFrame(_KeptFrame):
    """The caller's turn as far as it goes, in a pause: it may be over."""

    turn_id: int = 0
    pcm: Pcm = field(default_factory=lambda: np.zeros(0, np.int16))
    rate_hz: int = 8000
    start_ms: float = 0.0
    end_ms: float = 0.0


@dataclass
class CallerResumedFrame(_KeptFrame):
    """It was not over."""


@dataclass
class CallerTextFrame(_KeptFrame):
    """What the recogniser heard of one turn; empty if nothing."""

    turn_id: int = 0
    heard: str = ""


@dataclass
class GreetFrame(_KeptFrame):
    """The line is open: the desk greets."""


@dataclass
class AgentTextFrame(LLMTextFrame):
    """A piece of the model's answer, as it streams."""

    turn_id: int = 0
    inference_id: int = 0
    epoch: int = 0


@dataclass
class AgentTextEndFrame(LLMFullResponseEndFrame):
    """The text of one inference is complete; what is held back for a sentence goes out."""

    turn_id: int = 0
    inference_id: int = 0
    epoch: int = 0


@dataclass
class SentenceFrame(DataFrame):
    """One sentence on its way to synthesis."""

    sentence_id: int = 0
    turn_id: int = 0
    inference_id: int = 0
    epoch: int = 0
    text: str = ""
    spoken: str = ""


@dataclass
class SentenceAudioFrame(DataFrame):
    """The whole audio of one sentence at the line's rate."""

    sentence: SentenceFrame = field(default_factory=SentenceFrame)
    pcm: Pcm = field(default_factory=lambda: np.zeros(0, np.int16))
