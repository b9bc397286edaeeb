"""Typed events: times on the line's clock, early events, order, and the text of `events.jsonl`."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from callm_voice.core.events import (
    EVENT,
    AnyEvent,
    BargeIn,
    CallEnded,
    CallStarted,
    Event,
    EventLog,
    InferenceEnded,
    LineLag,
    ToolStarted,
    VadStarted,
    from_jsonl,
    to_jsonl,
)

pytestmark = pytest.mark.unit

SAMPLE_VALUES = {"str": "a “b”\u2028\u0085c\nd", "int": 7, "float": 1.25, "bool": True, "Cause": "handoff"}


class HandClock:
    """A clock whose time is set by hand."""

    pace: Any = "real"

    def __init__(self) -> None:
        self.t_s = 100.0

    def now_s(self) -> float:
        return self.t_s

    def unix_s(self) -> float:
        return self.t_s

    async def sleep_until(self, t_s: float) -> None:
        self.t_s = max(self.t_s, t_s)

    def busy(self, what: str) -> AbstractContextManager[None]:
        return nullcontext()

    async def in_thread(self, what: str, fn: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)


def log_at(zero_s: float | None = None) -> tuple[EventLog, HandClock]:
    clock = HandClock()
    log = EventLog(clock)
    if zero_s is not None:
        log.start_line(zero_s)
    return log, clock


def kinds() -> list[type[Event]]:
    return list(get_args(get_args(AnyEvent)[0]))


def example(kind: type[Event]) -> Event:
    """An event of a kind with every field filled."""
    fields: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        if name == "type":
            continue
        options = [a for a in get_args(field.annotation) if isinstance(a, str)]
        hint = str(field.annotation)
        named = next((v for k, v in SAMPLE_VALUES.items() if k in hint), None)
        if "tuple" in hint:
            named = (named,)
        fields[name] = options[-1] if options else {"k": [1, None, "ü"]} if "dict" in hint else named
    return kind(**fields)


@pytest.mark.parametrize("kind", kinds(), ids=lambda k: k.__name__)
def test_every_kind_of_event_survives_the_file(kind: type[Event]) -> None:
    event = example(kind)
    assert from_jsonl(to_jsonl([event])) == [event]


def test_every_event_class_is_one_that_the_file_can_hold() -> None:
    assert set(Event.__subclasses__()) == set(kinds())


def test_times_are_milliseconds_since_tick_0_to_the_microsecond() -> None:
    log, clock = log_at(zero_s=100.0)
    clock.t_s = 100.0123456
    log.emit(VadStarted, turn_id=1)
    assert log.events[0].t_ms == 12.346
    assert log.now_ms() == 12.346


def test_an_event_may_be_given_the_time_at_which_it_happened() -> None:
    log, _ = log_at(zero_s=100.0)
    log.emit(VadStarted, at_s=99.5, turn_id=1)
    assert log.events[0].t_ms == -500.0


def test_events_before_the_line_get_negative_times_once_the_line_starts() -> None:
    log, clock = log_at()
    log.emit(VadStarted, turn_id=1)
    clock.t_s = 101.0
    log.emit(BargeIn, turn_id=1)
    assert log.events == []
    log.start_line(102.0)
    log.emit(CallEnded, reason="caller_hangup", at_s=102.0)
    assert [(type(e), e.t_ms) for e in log.events] == [(VadStarted, -2000.0), (BargeIn, -1000.0), (CallEnded, 0.0)]


def test_listeners_hear_every_event_once_in_the_order_of_emission() -> None:
    log, _ = log_at()
    heard: list[Event] = []
    log.listen(heard.append)
    log.emit(VadStarted, turn_id=1)
    log.start_line(100.0)
    log.emit(VadStarted, turn_id=2)
    assert heard == log.events
    assert [e.turn_id for e in log.of(VadStarted)] == [1, 2]


def test_the_file_is_ordered_by_time_and_ties_keep_the_order_of_emission() -> None:
    events = [
        LineLag(t_ms=5, tick=1, late_ms=0),
        LineLag(t_ms=-1, tick=2, late_ms=0),
        LineLag(t_ms=5, tick=3, late_ms=0),
    ]
    assert [json.loads(line)["tick"] for line in to_jsonl(events).splitlines()] == [2, 1, 3]


def test_what_no_file_could_hold_is_made_writable() -> None:
    """A model may send half of a surrogate pair, a number that is none, or nested brackets without end."""
    deep: Any = 0
    for _ in range(500):
        deep = [deep]
    events: list[Event] = [
        InferenceEnded(t_ms=0, inference_id=1, text="a\ud800b"),
        ToolStarted(
            t_ms=1, call_id="c", turn_id=1, inference_id=1, role="r", name="n",
            args={"s": "\udfff", "x": float("nan"), "d": deep},
        ),
    ]  # fmt: skip
    text = to_jsonl(events)
    text.encode("utf-8")
    ended, started = from_jsonl(text)
    assert isinstance(ended, InferenceEnded)
    assert ended.text == "a\ufffdb"
    assert started == events[1]


def test_a_line_that_is_no_event_is_refused() -> None:
    with pytest.raises(ValidationError):
        from_jsonl('{"type": "unheard_of", "t_ms": 0}\n')
    with pytest.raises(ValidationError):
        EVENT.validate_python({"type": "vad_started", "t_ms": 0, "turn_id": 1, "extra": 1})


def test_events_cannot_be_changed() -> None:
    event = CallStarted(t_ms=0, task="p/T", model="m", line="l", pipeline="p", pace="real", seed=1)
    with pytest.raises(ValidationError):
        event.seed = 2  # type: ignore[misc]
