"""Keys that a caller presses: in the brief, in its lines, on its leg, and by a model that plays it."""

from __future__ import annotations

import numpy as np
import pytest
from support.caller_bench import MS_PER_WORD, RATE_HZ, Bench, CountedTts
from support.manual_clock import ManualClock
from support.scripted_model import ScriptedModel, answer, call
from support.small_brief import small_brief

from callm_voice.audio.tones import DtmfDetector
from callm_voice.caller.base import Say
from callm_voice.caller.check import check_brief
from callm_voice.caller.llm import LlmCaller
from callm_voice.caller.script import load_script
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.voice import BEFORE_KEYS_MS, TONE_GAP_MS, TONE_MS, SpokenLine, Voice
from callm_voice.core.brief import Brief
from callm_voice.core.errors import ConfigError
from callm_voice.core.keypad import MAX_KEYS, Keys, keys_from, keys_in, marker, parts, without_keys

pytestmark = pytest.mark.unit

KEY_MS = TONE_MS + TONE_GAP_MS


class OddTts(CountedTts):
    """Its sound is no whole number of packets."""

    def synthesise(self, text: str, *, seed: int = 0) -> np.ndarray:
        return super().synthesise(text, seed=seed)[:-33]


def pin_brief(press: str = "{pin}#", say: str = "", **beat: object) -> Brief:
    beats = [
        {"id": "leave", "say": "Goodbye.", "hang_up": True, "after": ["enter"], "when": {"any_of": ["open"]}},
        {"id": "enter", "say": say, "press": press, "ask": True, "repeat": 2, "when": {"any_of": ["keypad"]}, **beat},
    ]
    return small_brief(beats=beats, never=[], traits={"pin": "47-11", "full_name": "Nora Quill"})


async def line(text: str) -> SpokenLine:
    return await Voice(CountedTts(), ManualClock(), rate_hz=RATE_HZ, to_spoken=str, seed=1).line(text)


def recognised(pcm: np.ndarray) -> str:
    detector, size = DtmfDetector(RATE_HZ), RATE_HZ // 50
    return "".join(key for i in range(0, pcm.size - size + 1, size) for key in detector.push(pcm[i : i + size]))


# -- text --------------------------------------------------------------------------------------------------------------


def test_the_text_form_is_read_back() -> None:
    text = f"One moment. {marker('12*0#')} Done. {marker('A')}"
    assert text == "One moment. [keypad: 1 2 * 0 #] Done. [keypad: A]"
    assert parts(text) == ["One moment.", Keys("12*0#"), "Done.", Keys("A")]
    assert (without_keys(text), keys_in(text)) == ("One moment. Done.", "12*0#A")


@pytest.mark.parametrize(
    "text", ["[keypad: ]", "[keypad:1]", "[keypad: 12]", "[keypad: x]", "[Keypad: 1]", "keypad: 1"]
)
def test_what_is_not_exactly_the_form_is_words(text: str) -> None:
    assert parts(text) == [text]


@pytest.mark.parametrize(
    ("text", "keys"),
    [("47-11 #", "4711#"), ("(212) 555-0133", "2125550133"), ("*", "*"), ("", None), ("12e", None), ("-", None)],
)
def test_keys_are_taken_from_how_people_write_numbers(text: str, keys: str | None) -> None:
    assert keys_from(text) == keys


def test_there_is_an_end_to_what_is_pressed_in_one_go() -> None:
    assert keys_from("1" * MAX_KEYS) == "1" * MAX_KEYS
    assert keys_from("1" * (MAX_KEYS + 1)) is None


# -- the brief ---------------------------------------------------------------------------------------------------------


def test_a_beat_presses_after_its_words_each_time() -> None:
    script = load_script(pin_brief(say="Sure.", repeat_say="Again."))
    assert script.lines[1].say == "Sure. [keypad: 4 7 1 1 #]"
    assert script.lines[1].repeat_say == "Again. [keypad: 4 7 1 1 #]"


def test_a_beat_may_press_without_a_word() -> None:
    brief = pin_brief()
    assert load_script(brief).lines[1].say == "[keypad: 4 7 1 1 #]"
    assert check_brief(brief) == []


@pytest.mark.parametrize("press", ["{full_name}", "12 34 x", "1" * 33])
def test_what_is_no_key_names_the_beat(press: str) -> None:
    with pytest.raises(ConfigError, match=r"expected 1 to 32 keys of 0-9, \*, # and A-D") as caught:
        load_script(pin_brief(press), source="C1-E1.yaml")
    assert caught.value.key == "beats.enter.press"
    assert any("beats.enter.press" in problem for problem in check_brief(pin_brief(press)))


async def test_the_scripted_caller_presses_and_presses_again_when_asked() -> None:
    caller = ScriptedCaller(pin_brief())
    opening = await caller.heard("How can I help you?")
    assert isinstance(opening, Say)
    caller.said(opening.text, beat=opening.beat)
    for floor in ("Please use your keypad.", "Sorry, could you say that again?"):
        action = await caller.heard(floor)
        assert isinstance(action, Say)
        assert action.text == "[keypad: 4 7 1 1 #]"
        caller.said(action.text, beat=action.beat)


# -- sound -------------------------------------------------------------------------------------------------------------


async def test_keys_are_tones_and_are_not_synthesised() -> None:
    tts = CountedTts()
    voice = Voice(tts, ManualClock(), rate_hz=RATE_HZ, to_spoken=str, seed=1)
    spoken = await voice.line("[keypad: 1 9 * #]")
    assert tts.asked == []
    assert voice.has("[keypad: 1 9 * #]")
    assert recognised(spoken.pcm) == "19*#"
    assert spoken.pcm.size == 4 * KEY_MS * RATE_HZ // 1000
    assert [(s.text, s.pressed) for s in spoken.stretches] == [("19*#", True)]


async def test_words_come_first_and_the_stretches_say_where_what_lies() -> None:
    spoken = await line("Here it is [keypad: 5 0]")
    words, keys = spoken.stretches
    assert (words.text, words.pressed, keys.text, keys.pressed) == ("Here it is", False, "50", True)
    assert keys.start - words.end == BEFORE_KEYS_MS * RATE_HZ // 1000
    assert keys.end == spoken.pcm.size
    assert recognised(spoken.pcm[keys.start :]) == "50"
    assert spoken.spoken == "Here it is [keypad: 5 0]"


async def test_the_first_tone_begins_with_a_packet() -> None:
    voice = Voice(OddTts(), ManualClock(), rate_hz=RATE_HZ, to_spoken=str, seed=1)
    words, keys = (await voice.line("Here it is [keypad: 5 0]")).stretches
    assert words.end % (RATE_HZ // 50) != 0
    assert keys.start % (RATE_HZ // 50) == 0
    assert 0 <= keys.start - words.end - BEFORE_KEYS_MS * RATE_HZ // 1000 < RATE_HZ // 50


async def test_only_keys_whose_tone_was_played_to_its_end_count() -> None:
    (keys,) = (await line("[keypad: 1 2 3]")).stretches
    per_ms = RATE_HZ // 1000
    assert keys.keys_played(TONE_MS * per_ms - 1, RATE_HZ) == ""
    assert keys.keys_played(TONE_MS * per_ms, RATE_HZ) == "1"
    assert keys.keys_played((KEY_MS + TONE_MS) * per_ms, RATE_HZ) == "12"
    assert keys.keys_played(keys.end, RATE_HZ) == "123"


async def test_the_leg_writes_down_what_was_pressed_and_when() -> None:
    told: list[tuple[str, float, float]] = []
    caller = ScriptedCaller(pin_brief(say="Here it is."))
    bench = await Bench(caller, on_said=lambda *said: told.append(said)).start()
    await bench.agent("How can I help you?")
    await bench.until_said()
    await bench.agent("Please use your keypad.")
    await bench.until_said()
    start, (sent,) = bench.of("utterance_started")[1], bench.of("dtmf_sent")
    assert bench.said[1] == "Here it is. [keypad: 4 7 1 1 #]"
    assert (sent.utterance_id, sent.digits) == (2, "4711#")  # type: ignore[attr-defined]
    assert sent.t_ms == start.t_ms + 3 * MS_PER_WORD + BEFORE_KEYS_MS
    assert told[1] == ("Here it is.", start.t_ms, start.t_ms + 3 * MS_PER_WORD)  # the words alone
    assert bench.of("utterance_ended")[1].t_ms >= sent.t_ms + 5 * KEY_MS


async def test_a_line_that_is_cut_tells_the_keys_that_were_out() -> None:
    bench = await Bench(ScriptedCaller(pin_brief())).start()
    await bench.agent("How can I help you?")
    await bench.until_said()
    await bench.agent("Please use your keypad.")
    await bench.until(lambda: bench.count("utterance_started") == 2)
    await bench.silence(KEY_MS + TONE_MS)
    await bench.leg.aclose()
    assert [event.digits for event in bench.of("dtmf_sent")] == ["47"]  # type: ignore[attr-defined]


# -- a model that plays the caller -------------------------------------------------------------------------------------


async def pressed(*pieces: object, brief: Brief | None = None) -> tuple[str, str, ScriptedModel]:
    """Its line after the opening, the reason, and the model that it came from."""
    model = ScriptedModel(answer(*pieces))  # type: ignore[arg-type]
    caller = LlmCaller(brief or pin_brief(), model)
    opening = await caller.heard("How can I help you?")
    assert isinstance(opening, Say)
    caller.said(opening.text, beat=opening.beat)
    action = await caller.heard("Please enter your PIN on the keypad.")
    return getattr(action, "text", ""), action.why, model


async def test_it_presses_with_a_tool_and_may_say_something_first() -> None:
    text, _, model = await pressed("Sure.", call("press_keys", keys="4711#"))
    assert text == "Sure. [keypad: 4 7 1 1 #]"
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["hang_up", "wait", "press_keys"]
    assert "press_keys" in str(model.requests[0].messages[0]["content"])


async def test_it_presses_without_a_word() -> None:
    text, _, _ = await pressed(call("press_keys", keys="47 11"))
    assert text == "[keypad: 4 7 1 1]"


@pytest.mark.parametrize("keys", ["four seven", "", "9" * 40])
async def test_what_is_no_key_is_not_pressed_and_noted(keys: str) -> None:
    text, why, _ = await pressed("Sure.", call("press_keys", keys=keys))
    assert text == "Sure."
    assert "pressed what is no key" in why


async def test_brackets_in_its_words_press_nothing() -> None:
    text, _, _ = await pressed("Sure. [keypad: 4 7 1 1 #]")
    assert text == "Sure."


async def test_a_brief_without_keys_has_the_prompt_and_the_tools_as_before() -> None:
    _, _, model = await pressed("Sure.", brief=small_brief())
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["hang_up", "wait"]
    assert "press" not in str(model.requests[0].messages[0]["content"])


async def test_the_leg_says_which_packets_are_of_keys() -> None:
    bench = await Bench(ScriptedCaller(pin_brief(say="Here it is."))).start()
    await bench.agent("How can I help you?")
    await bench.until_said()
    await bench.agent("Please use your keypad.")
    await bench.until(lambda: bench.count("utterance_started") == 2)
    pressing = [bench.leg.pressing]
    while bench.count("utterance_ended") < 2:
        await bench.silence(20)
        pressing.append(bench.leg.pressing)
    words_ms = 3 * MS_PER_WORD + BEFORE_KEYS_MS
    assert pressing == [False] * (words_ms // 20) + [True] * (5 * KEY_MS // 20)
    await bench.silence(20)
    assert not bench.leg.pressing
