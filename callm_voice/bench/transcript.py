"""From events to the transcript: what each party said, what was heard of it and what was played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callm_voice.bench.outside_transcript import heard_only, outside_turns
from callm_voice.core.events import (
    AgentHeard,
    DtmfHeard,
    Event,
    InferenceStarted,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TurnEnded,
    UtteranceEnded,
    UtteranceStarted,
    VadStarted,
)
from callm_voice.core.keypad import keys_in, marker
from callm_voice.core.record import TranscriptTurn


@dataclass
class _Heard:
    turn_id: int
    start_ms: float
    end_ms: float
    text: str


def build_transcript(events: Sequence[Event], *, end_ms: float, person: bool = False) -> tuple[TranscriptTurn, ...]:
    """All turns of both parties by their start.

    Args:
        end_ms: the end of the line, for what was still open then.
        person: called, and nobody knows the words but from what was heard.
    """
    callers = (_person_turns if person else _caller_turns)(events, end_ms)
    if heard_only(events):
        callers = _numbered(callers)
    agents = outside_turns(events, end_ms) if heard_only(events) else _with_heard(_agent_turns(events), events)
    turns = callers + agents
    return tuple(sorted(turns, key=lambda t: (t.start_ms, t.party)))


def _caller_turns(events: Sequence[Event], end_ms: float) -> list[TranscriptTurn]:
    """One per utterance. A transcript belongs to the utterance that it overlaps most."""
    ends = {e.utterance_id: e for e in events if isinstance(e, UtteranceEnded)}
    utterances = [e for e in events if isinstance(e, UtteranceStarted)]
    spans = [(u.t_ms, ends[u.utterance_id].t_ms if u.utterance_id in ends else end_ms) for u in utterances]
    texts: list[list[str]] = [[] for _ in utterances]
    ids = [0] * len(utterances)
    for heard in _heard(events):
        overlaps = [min(b, heard.end_ms) - max(a, heard.start_ms) for a, b in spans]
        if not overlaps or max(overlaps) <= 0:
            continue
        best = overlaps.index(max(overlaps))
        texts[best].append(heard.text)
        ids[best] = heard.turn_id
    return [
        TranscriptTurn(
            party="caller",
            turn_id=ids[i],
            start_ms=spans[i][0],
            end_ms=spans[i][1],
            said=u.said,
            heard=" ".join(t for t in texts[i] if t) if texts[i] else None,
            cut=u.utterance_id in ends and ends[u.utterance_id].cut,
        )
        for i, u in enumerate(utterances)
    ]


def _numbered(turns: Sequence[TranscriptTurn]) -> list[TranscriptTurn]:
    """The caller's turns by their order, where no recogniser of the agent's has given them numbers."""
    return [turn.model_copy(update={"turn_id": n}) for n, turn in enumerate(turns, 1)]


def _person_turns(events: Sequence[Event], end_ms: float) -> list[TranscriptTurn]:
    """One per turn that the agent heard, and one per stretch of speech that is in none of them. Only pressed keys are
    known as said."""
    ends = {e.utterance_id: e.t_ms for e in events if isinstance(e, UtteranceEnded)}
    left = [(u.t_ms, ends.get(u.utterance_id, end_ms), u.said) for u in events if isinstance(u, UtteranceStarted)]
    turns = []
    for heard in _heard(events):
        own = [u for u in left if u[0] < heard.end_ms and heard.start_ms < u[1]]
        left = [u for u in left if u not in own]
        turns.append(
            TranscriptTurn(
                party="caller",
                turn_id=heard.turn_id,
                start_ms=min([heard.start_ms, *(begin for begin, _, _ in own)]),
                end_ms=heard.end_ms,
                said=_pressed(own),
                heard=heard.text,
            )
        )
    turns += [
        TranscriptTurn(party="caller", turn_id=0, start_ms=begin, end_ms=end, said=said) for begin, end, said in left
    ]
    return turns


def _pressed(stretches: Sequence[tuple[float, float, str]]) -> str:
    """The keys of a turn in one."""
    keys = "".join(keys_in(said) for _, _, said in stretches)
    return marker(keys) if keys else ""


def _heard(events: Sequence[Event]) -> list[_Heard]:
    started: dict[int, float] = {}
    for e in events:
        if isinstance(e, VadStarted | DtmfHeard):
            started[e.turn_id] = min(e.t_ms, started.get(e.turn_id, e.t_ms))
    ended = {e.turn_id: e.t_ms for e in events if isinstance(e, TurnEnded)}
    return [
        _Heard(e.turn_id, started.get(e.turn_id, e.t_ms), ended.get(e.turn_id, e.t_ms), e.heard)
        for e in events
        if isinstance(e, TranscriptReady)
    ]


def _with_heard(turns: list[TranscriptTurn], events: Sequence[Event]) -> list[TranscriptTurn]:
    """The agent's turns with what the caller's recogniser made of them, if it has one: each stretch belongs to the turn
    that it overlaps most."""
    texts: dict[int, list[str]] = {}
    for heard in (e for e in events if isinstance(e, AgentHeard)):
        overlaps = [min(t.end_ms, heard.end_ms) - max(t.start_ms, heard.start_ms) for t in turns]
        if overlaps and max(overlaps) > 0:
            texts.setdefault(overlaps.index(max(overlaps)), []).append(heard.heard)
    return [
        turn.model_copy(update={"heard": " ".join(filter(None, texts[n]))}) if n in texts else turn
        for n, turn in enumerate(turns)
    ]


def _agent_turns(events: Sequence[Event]) -> list[TranscriptTurn]:
    """One per inference that spoke."""
    roles = {e.inference_id: e.role for e in events if isinstance(e, InferenceStarted)}
    starts = {e.sentence_id: e.t_ms for e in events if isinstance(e, PlayoutStarted)}
    ends = {e.sentence_id: e for e in events if isinstance(e, PlayoutEnded)}
    by_inference: dict[int, list[SentenceReady]] = {}
    for event in events:
        if isinstance(event, SentenceReady):
            by_inference.setdefault(event.inference_id, []).append(event)
    turns = []
    for inference_id, sentences in by_inference.items():
        played = [ends[s.sentence_id] for s in sentences if s.sentence_id in ends]
        begun = [starts[s.sentence_id] for s in sentences if s.sentence_id in starts]
        start_ms = min(begun, default=sentences[0].t_ms)
        turns.append(
            TranscriptTurn(
                party="agent",
                turn_id=sentences[0].turn_id,
                role=roles.get(inference_id),
                start_ms=start_ms,
                end_ms=max([e.t_ms for e in played], default=start_ms),
                said=" ".join(s.text for s in sentences),
                played=" ".join(e.played for e in played if e.played),
                cut=len(played) < len(sentences) or any(e.cut for e in played),
            )
        )
    return turns
