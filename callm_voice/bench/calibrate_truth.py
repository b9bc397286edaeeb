"""What a finished call's recording says by itself: when each turn ended and was answered, when an agent fell silent.

The words come from the events, their sound from the pipeline's own engines, their places from the recording. Of the
events only the order and a rough place are used; no figure of the probes is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from callm_voice.audio.files import read_sound
from callm_voice.audio.pcm import Pcm
from callm_voice.audio.resample import resample_whole
from callm_voice.bench.calibrate_sounds import Found, TooShort, find, through_line
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.events import (
    BargeIn,
    Event,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TurnEnded,
    UtteranceStarted,
)
from callm_voice.core.ids import derive_seed
from callm_voice.core.paths import cache_dir
from callm_voice.core.runfolder import AUDIO_FILE
from callm_voice.line.profile import LineProfile
from callm_voice.pipeline.spec import PipelineSpec
from callm_voice.speech.factory import make_tts
from callm_voice.speech.tts_cache import CachedTts
from callm_voice.speech.voices import ChosenVoice


@dataclass(frozen=True)
class TurnTruth:
    """One caller turn that was answered."""

    turn_id: int
    v2v_ms: float | None
    """None: so little of the answer was played that it cannot be found."""


@dataclass(frozen=True)
class BargeInTruth:
    """One barge-in: from the caller's first audible sample to the agent's last one."""

    turn_id: int
    """The agent turn that was interrupted."""
    reaction_ms: float | None
    """None: nothing of the agent was played, or so little that it cannot be found."""


@dataclass(frozen=True)
class Located:
    """An utterance or a sentence in the recording."""

    turn_id: int
    """0 for an utterance of the caller's."""
    began_ms: float
    """By its event."""
    found: Found | TooShort | None
    """None: it is not in the recording."""


class Voices:
    """Both parties' voices as a call had them: the same words give the same samples.

    Raises:
        SetupError, EngineError: an engine cannot be opened.
    """

    def __init__(self, pipeline: PipelineSpec, profile: LineProfile, caller: ChosenVoice) -> None:
        self._profile = profile
        self._agent = make_tts(pipeline.tts)
        self._caller = CachedTts(make_tts(caller.settings), cache_dir() / "caller-audio")
        self._made: dict[tuple[str, str, int], Pcm] = {}

    def agent(self, spoken: str) -> Pcm:
        """The agent's sentence as the caller hears it."""
        return self._kept(("agent", spoken, 0), lambda: self._agent.synthesise(spoken), self._agent.rate_hz)

    def caller(self, spoken: str, call_seed: int) -> Pcm:
        """The caller's utterance as the agent hears it."""
        rate_hz, seed = self._caller.rate_hz, derive_seed(call_seed, "caller")
        return self._kept(
            ("caller", spoken, seed),
            lambda: shorten_pauses(self._caller.synthesise(spoken, seed=seed), rate_hz),
            rate_hz,
        )

    def _kept(self, key: tuple[str, str, int], make: Callable[[], Pcm], rate_hz: int) -> Pcm:
        if key not in self._made:
            self._made[key] = through_line(resample_whole(make(), rate_hz, self._profile.rate_hz), self._profile)
        return self._made[key]


def locate(folder: Path, events: Sequence[Event], voices: Voices, seed: int) -> tuple[list[Located], list[Located]]:
    """The caller's utterances and the agent's sentences in the recording of a call, each in the order of their start.

    Raises:
        ConfigError: the recording cannot be read.
    """
    sound = read_sound(folder / AUDIO_FILE)
    left, right = sound.pcm[:, 0], sound.pcm[:, 1]
    spoken = {e.sentence_id: e.spoken for e in events if isinstance(e, SentenceReady)}
    cut_ms = {e.sentence_id: e.t_ms for e in events if isinstance(e, PlayoutEnded) and e.cut}
    utterances = [
        Located(0, e.t_ms, find(left, voices.caller(e.spoken, seed), sound.rate_hz, e.t_ms))
        for e in events
        if isinstance(e, UtteranceStarted)
    ]
    sentences = []
    for e in events:
        if isinstance(e, PlayoutStarted) and e.sentence_id in spoken:
            played_ms = cut_ms.get(e.sentence_id, math.inf) - e.t_ms
            known = voices.agent(spoken[e.sentence_id])
            sentences.append(Located(e.turn_id, e.t_ms, find(right, known, sound.rate_hz, e.t_ms, played_ms)))
    return utterances, sentences


def turn_truths(
    events: Sequence[Event], utterances: Sequence[Located], sentences: Sequence[Located]
) -> list[TurnTruth]:
    """Voice to voice of each turn: from the end of the last utterance that began before endpointing ended the turn to
    the onset of the turn's first sentence. A turn of which either was not found has none."""
    truths = []
    for turn in (e for e in events if isinstance(e, TurnEnded)):
        said = [u.found for u in utterances if u.began_ms < turn.t_ms][-1:]
        answer = [s.found for s in sentences if s.turn_id == turn.turn_id][:1]
        for end, onset in zip(said, answer, strict=False):
            if isinstance(end, Found) and isinstance(onset, Found):
                truths.append(TurnTruth(turn.turn_id, round(onset.onset_ms - end.end_ms, 3)))
            elif end is not None and onset is not None:
                truths.append(TurnTruth(turn.turn_id, None))
    return truths


def barge_in_truths(
    events: Sequence[Event], utterances: Sequence[Located], sentences: Sequence[Located]
) -> list[BargeInTruth]:
    """The reaction to each barge-in of which both sounds were found; 0 if the agent was in a pause."""
    truths = []
    for event in (e for e in events if isinstance(e, BargeIn)):
        said = [u.found for u in utterances if u.began_ms <= event.t_ms][-1:]
        heard = [s.found for s in sentences if s.turn_id == event.turn_id and s.began_ms <= event.t_ms]
        if None in heard or not said or not isinstance(said[0], Found):
            continue
        ends_ms = [found.end_ms for found in heard if isinstance(found, Found)]
        reaction_ms = round(max(0.0, max(ends_ms) - said[0].onset_ms), 3) if len(ends_ms) == len(heard) > 0 else None
        truths.append(BargeInTruth(event.turn_id, reaction_ms))
    return truths
