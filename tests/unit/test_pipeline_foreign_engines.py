"""A Pipecat service behind the interfaces of our own engines: one utterance or sentence at a time, bounded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.foreign_services import RELEASE

from callm_voice.core.clock import stopwatch
from callm_voice.core.errors import EngineError, UsageError
from callm_voice.pipeline.foreign_stt import ForeignStt
from callm_voice.pipeline.foreign_tts import ForeignTts
from callm_voice.speech.settings import ForeignSttSettings, ForeignTtsSettings, ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

pytestmark = pytest.mark.unit
SERVICES = "support.foreign_services"
SECOND = np.full(8000, 1000, np.int16)
LIMIT_S = 50.0
"""Anything that is bounded ends well within it, on a busy machine too."""


@pytest.fixture(autouse=True)
def no_service_left() -> Iterator[None]:
    RELEASE.clear()
    yield
    RELEASE.set()
    for thread in [t for t in threading.enumerate() if t.name.startswith(("callm-service", "service-job"))]:
        thread.join(10)
        assert not thread.is_alive(), thread.name


def recogniser(name: str, /, *, timeout_s: float = 30, settle_ms: int = 200, **settings: Any) -> ForeignStt:
    return ForeignStt(
        ForeignSttSettings(
            engine=f"{SERVICES}.{name}", settings=settings, timeout_s=timeout_s, settle_ms=settle_ms, rate_hz=16000
        )
    )


def voice(*, rate_hz: int = 16000, timeout_s: float = 30, **settings: Any) -> ForeignTts:
    return ForeignTts(
        ForeignTtsSettings(engine=f"{SERVICES}.Speaker", settings=settings, rate_hz=rate_hz, timeout_s=timeout_s)
    )


# -- ears --


def test_an_utterance_is_transcribed_whole_at_the_services_rate() -> None:
    ears = recogniser("Scribe", trailing_silence_secs=0.5)
    try:
        for seconds in (1, 2):
            heard = ears.transcribe(np.tile(SECOND, seconds), 8000)
            assert heard.text == f"words of {1000 * seconds + 500} milliseconds"
            assert heard.rejected is None
            assert heard.decode_ms > 0
    finally:
        ears.close()


def test_silence_gives_no_words_and_does_not_wait_for_any() -> None:
    ears = recogniser("Scribe")
    try:
        assert ears.transcribe(np.zeros(8000, np.int16), 8000).rejected == "no_speech"
        assert ears.transcribe(SECOND, 8000).text
    finally:
        ears.close()


@pytest.mark.parametrize("marks_end", [True, False])
def test_a_streaming_service_is_done_with_its_final_mark_or_when_nothing_comes_any_more(marks_end: bool) -> None:
    settle_ms = 10_000 if marks_end else 200
    ears = recogniser("Listener", marks_end=marks_end, settle_ms=settle_ms)
    elapsed_s = stopwatch()
    try:
        assert [ears.transcribe(SECOND, 8000).text for _ in range(2)] == ["first 32000 bytes"] * 2
    finally:
        ears.close()
    assert not marks_end or elapsed_s() < 3 * settle_ms / 1000, "a final mark is not waited past"


def test_the_record_names_the_service_and_never_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIBE_KEY", "s3cret-value")
    ears = recogniser("Scribe", api_key="env:SCRIBE_KEY", name="https://me:pass@house", trouble="report")
    try:
        info = ears.info
        assert (info.engine, info.model, info.counted) == (f"{SERVICES}.Scribe", "scribe-1", False)
        assert info.settings["settings"]["api_key"] == "env:SCRIBE_KEY"
        assert info.settings["settings"]["name"] == "https://***@house"
        with pytest.raises(EngineError, match="out of order") as caught:
            ears.transcribe(SECOND, 8000)
    finally:
        ears.close()
    assert "s3cret" not in f"{info!r} {caught.value}"


def test_a_key_that_is_not_set_is_the_users_mistake() -> None:
    with pytest.raises(UsageError, match="SCRIBE_KEY is not set"):
        recogniser("Scribe", api_key="env:SCRIBE_KEY")


def test_an_http_session_is_given_to_a_service_that_wants_one() -> None:
    ears = recogniser("Scribe")
    session = ears._host.service.session
    assert not session.closed
    ears.close()
    assert session.closed


# -- mouth --


@pytest.mark.parametrize("stereo", [False, True])
def test_a_sentence_comes_out_whole_and_to_the_sample(stereo: bool) -> None:
    text = "Good morning, how can I help you?"
    expected = ScriptedTts(ScriptedTtsSettings(rate_hz=16000, words_per_min=220.0)).synthesise(text)
    mouth = voice(stereo=stereo)
    try:
        for _ in range(2):
            np.testing.assert_array_equal(mouth.synthesise(text), expected)
        assert (mouth.info.model, mouth.rate_hz) == ("ann", 16000)
    finally:
        mouth.close()


def test_another_rate_than_was_asked_for_is_resampled_as_a_whole() -> None:
    text = "Yes."
    at_16k = ScriptedTts(ScriptedTtsSettings(rate_hz=16000, words_per_min=220.0)).synthesise(text)
    mouth = voice(rate_hz=24000)
    try:
        assert len(mouth.synthesise(text)) == round(len(at_16k) * 1.5)
    finally:
        mouth.close()


def test_a_slow_sentence_is_waited_for() -> None:
    mouth = voice(trouble="dawdle", after=1)
    try:
        assert mouth.synthesise("Yes.").size
    finally:
        mouth.close()


def test_a_sentence_without_sound_is_an_error() -> None:
    mouth = voice()
    try:
        with pytest.raises(EngineError, match=r"Speaker .*"):
            mouth.synthesise("...")
    finally:
        mouth.close()


# -- trouble --


@pytest.mark.parametrize(
    ("trouble", "words"),
    [("raise", "broke"), ("report", "out of order"), ("hang", "no answer"), ("block", "no answer")],
)
@pytest.mark.parametrize("part", ["stt", "tts"])
def test_trouble_is_an_engine_error_within_the_limit(part: str, trouble: str, words: str) -> None:
    settings = {"trouble": trouble, "after": 2}
    limit_s = 2.0 if trouble in {"hang", "block"} else 30.0
    engine: Any = recogniser("Scribe", timeout_s=limit_s, **settings) if part == "stt" else None
    engine = engine or voice(timeout_s=limit_s, **settings)

    def use() -> None:
        engine.transcribe(SECOND, 8000) if part == "stt" else engine.synthesise("One sentence.")

    try:
        use()
        elapsed_s = stopwatch()
        with pytest.raises(EngineError, match=words) as caught:
            use()
        assert caught.value.stage == part
        if trouble in {"hang", "block"}:
            with pytest.raises(EngineError, match=words):
                use()
        assert elapsed_s() < LIMIT_S
    finally:
        RELEASE.set()
        engine.close()


@pytest.mark.parametrize(("name", "words"), [("FailsToStart", "nobody there"), ("CannotBeMade", "no such voice")])
def test_a_service_that_does_not_come_up_says_why(name: str, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        recogniser(name)


def test_a_service_that_fails_at_once_fails_before_the_line_opens() -> None:
    with pytest.raises(EngineError, match="out of order"):
        recogniser("Scribe", trouble="report", after=0)


def asked_and_closed(ears: ForeignStt) -> str:
    """What a request that runs is told when the service is closed."""
    failed: list[EngineError] = []

    def use() -> None:
        try:
            ears.transcribe(SECOND, 8000)
        except EngineError as error:
            failed.append(error)

    user = threading.Thread(target=use, name="user")
    user.start()
    while ears._host._current is None:
        assert user.is_alive()
        threading.Event().wait(0.01)
    ears.close()
    user.join(LIMIT_S)
    return failed[0].message


@pytest.mark.parametrize("kind", [ForeignStt, ForeignTts])
def test_ctrl_c_while_a_service_warms_up_leaves_no_thread(
    kind: type[ForeignStt | ForeignTts], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "_transcribe" if kind is ForeignStt else "_synthesise", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recogniser("Scribe") if kind is ForeignStt else voice()
    assert [t.name for t in threading.enumerate() if t.name.startswith("callm-service") and t.is_alive()] == []


def test_closing_ends_a_request_that_runs() -> None:
    ears = recogniser("Scribe", trouble="hang", timeout_s=60)
    assert "closed" in asked_and_closed(ears)
    with pytest.raises(EngineError, match="closed"):
        ears.transcribe(SECOND, 8000)


def test_closing_waits_for_what_computes_in_a_thread() -> None:
    """Native code that still runs when the interpreter ends would take the process down."""
    ears = recogniser("Scribe", trouble="work", timeout_s=60)
    close, waited = ears._host.close, []

    def closing() -> None:
        release = threading.Timer(1.0, RELEASE.set)  # it works on for a second after it is told to end
        release.start()
        close()
        waited.append(RELEASE.is_set())
        release.join()

    ears._host.close = closing  # type: ignore[method-assign]
    assert "closed" in asked_and_closed(ears)
    assert waited == [True]
    assert not [t.name for t in threading.enumerate() if t.name == "service-job"]
