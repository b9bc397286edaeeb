"""The caller's leg on hand-driven frames: turn-taking, times to the packet, barge-in, silence, leaving."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.caller_bench import MS_PER_WORD, Bench, CountedTts, ListedStt
from support.small_brief import small_brief

from callm_voice.caller.base import BargeInPlan, CallerAction, HangUp, Say, Wait
from callm_voice.caller.patience import PROD
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.core.errors import EngineError, ModelConnectError

pytestmark = pytest.mark.unit

GREETING = "How can I help you?"


class ListedMind:
    """Plays listed actions and keeps what it was told; silence is waited through unless an action is listed for it."""

    name = "listed"
    finished = "no"

    def __init__(self, *actions: CallerAction | Exception, silences: dict[int, CallerAction] | None = None) -> None:
        self._actions = list(actions)
        self._silences = silences or {}
        self.plan: BargeInPlan | None = None
        self.told: list[Any] = []

    async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
        self.told.append(("cut" if interrupted else "heard", text))
        action = Wait() if interrupted else self._actions.pop(0)
        if isinstance(action, Exception):
            raise action
        return action

    async def silence(self, silent_ms: float) -> CallerAction:
        self.told.append(("silence", silent_ms))
        return self._silences.pop(int(silent_ms), Wait())

    def barge_in(self) -> BargeInPlan | None:
        plan, self.plan = self.plan, None
        return plan

    def said(self, text: str, *, cut: bool = False, beat: str = "") -> None:
        self.told.append(("said", text, cut))

    def lines(self) -> list[str]:
        return ["Yes please."]

    def usage(self) -> None:
        return None

    def heards(self) -> list[str]:
        return [entry[1] for entry in self.told if entry[0] == "heard"]


def first(bench: Bench, kind: str) -> Any:
    return bench.of(kind)[0]


async def test_it_takes_the_floor_700_ms_after_the_last_audible_frame() -> None:
    bench = await Bench(ScriptedCaller(small_brief())).start()
    await bench.silence(400)
    await bench.agent(GREETING, ms=600)
    await bench.until_said()
    assert first(bench, "utterance_started").t_ms == 400 + 600 + 700
    assert bench.said == ["Hi, I have a question about my bill."]


async def test_the_pipeline_s_settings_say_how_long_it_waits() -> None:
    class Settings:
        reply_after_ms = 300

    bench = await Bench(ScriptedCaller(small_brief()), settings=Settings()).start()
    await bench.silence(400)
    await bench.agent(GREETING, ms=600)
    await bench.until_said()
    assert first(bench, "utterance_started").t_ms == 400 + 600 + 300


async def test_the_events_have_the_times_of_the_packets_on_the_wire() -> None:
    bench = await Bench(ScriptedCaller(small_brief())).start()
    await bench.agent(GREETING)
    await bench.until_said()
    begin, end = first(bench, "utterance_started").t_ms, first(bench, "utterance_ended").t_ms
    on_wire = [20 * n for n, there in enumerate(bench.wire) if there]
    assert (on_wire[0], on_wire[-1] + 20) == (begin, end)
    assert end - begin == len(bench.said[0].split()) * MS_PER_WORD


async def test_a_pause_shorter_than_the_limit_is_part_of_the_agent_s_floor() -> None:
    mind = ListedMind(Say("Yes please."))
    bench = await Bench(mind).start()
    await bench.agent("Good morning.")
    await bench.silence(600)
    await bench.agent("How can I help?")
    await bench.until_said()
    assert mind.heards() == ["Good morning. How can I help?"]


async def test_after_a_wait_all_words_since_it_last_spoke_are_told_again() -> None:
    mind = ListedMind(Wait(), Say("Yes please."))
    bench = await Bench(mind).start()
    await bench.agent("One moment.")
    await bench.silence(1500)
    await bench.agent("Are you Nora?")
    await bench.until_said()
    assert mind.heards() == ["One moment.", "One moment. Are you Nora?"]


async def test_once_it_spoke_the_agent_s_words_begin_anew() -> None:
    mind = ListedMind(Say("Yes please."), Say("Yes please."))
    bench = await Bench(mind).start()
    await bench.agent("Are you Nora?")
    await bench.until_said()
    await bench.agent("Thank you.")
    await bench.until_said()
    assert mind.heards() == ["Are you Nora?", "Thank you."]


async def test_it_does_not_begin_if_the_agent_speaks_on_while_it_thinks() -> None:
    gate = asyncio.Event()

    class SlowMind(ListedMind):
        async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
            await gate.wait()
            return await super().heard(text, interrupted=interrupted)

    mind = SlowMind(Say("Too early."), Say("Yes please."))
    bench = await Bench(mind).start()
    await bench.agent("Thank you.")
    await bench.silence(800)
    await bench.agent("And your name?")
    gate.set()
    await bench.until_said()
    assert bench.said == ["Yes please."]
    assert mind.heards() == ["Thank you.", "Thank you. And your name?"]
    assert "holds back: the agent speaks on" in bench.notes


async def test_it_finishes_its_utterance_though_the_agent_talks_over_it() -> None:
    mind = ListedMind(Say("One two three four five six seven eight."))
    bench = await Bench(mind).start()
    await bench.agent("Go ahead?")
    await bench.until(lambda: bench.count("utterance_started") == 1)
    await bench.agent("", ms=1000)
    assert bench.count("utterance_ended") == 1
    assert not first(bench, "utterance_ended").cut


@pytest.mark.parametrize("after_ms", [500, 510, 1200])
async def test_a_barge_in_begins_at_its_time_to_the_packet(after_ms: int) -> None:
    mind = ListedMind(Say("Yes please."), Say("Later."))
    mind.plan = BargeInPlan(after_ms, Say("No, wait.", beat="cut_in"))
    bench = await Bench(mind).start()
    await bench.agent("Ready?")
    await bench.until_said()
    await bench.silence(600)
    floor_ms = bench.now_ms
    await bench.agent("Our policy is", ms=2000)
    begun = bench.of("utterance_started")[1]
    assert begun.t_ms == floor_ms + -(-after_ms // 20) * 20


async def test_the_floor_that_it_cut_is_told_before_what_it_said() -> None:
    mind = ListedMind(Say("Yes please."), Say("Later."))
    mind.plan = BargeInPlan(400, Say("No, wait.", beat="cut_in"))
    bench = await Bench(mind).start()
    await bench.agent("Ready?")
    await bench.until_said()
    await bench.silence(600)
    await bench.agent("Our policy", ms=500)
    await bench.silence(1000)
    await bench.agent("Sorry, go ahead?")
    await bench.until_said()
    told = [entry for entry in mind.told if entry[0] != "silence"]
    assert told[2:5] == [("cut", "Our policy"), ("said", "No, wait.", False), ("heard", "Sorry, go ahead?")]


async def test_a_plan_lapses_with_a_floor_that_was_shorter() -> None:
    mind = ListedMind(Say("Yes please."), Say("Later."))
    mind.plan = BargeInPlan(3000, Say("No, wait."))
    bench = await Bench(mind).start()
    await bench.agent("Ready?")
    await bench.until_said()
    await bench.agent("Short.")
    await bench.until_said()
    assert bench.said == ["Yes please.", "Later."]


async def test_the_mind_is_told_of_every_second_of_silence_on_both_sides() -> None:
    mind = ListedMind(Wait())
    bench = await Bench(mind).start()
    await bench.agent("I see.", ms=600)
    await bench.silence(3300)
    assert [entry for entry in mind.told if entry[0] == "silence"] == [("silence", n * 1000) for n in (1, 2, 3)]


async def test_it_prods_after_eight_seconds_of_silence() -> None:
    bench = await Bench(ScriptedCaller(small_brief())).start()
    await bench.agent(GREETING)
    await bench.until_said()
    spoke_ms = first(bench, "utterance_ended").t_ms
    await bench.until_said()
    assert bench.said[-1] == PROD
    assert bench.of("utterance_started")[1].t_ms == spoke_ms + 8000


async def test_if_nobody_ever_speaks_it_opens_prods_and_leaves() -> None:
    bench = await Bench(ScriptedCaller(small_brief())).start()
    await bench.until(lambda: bool(bench.hung_up), limit_ms=60_000)
    assert bench.said[:2] == ["Hi, I have a question about my bill.", PROD]
    assert "gives up: the line stayed silent" in bench.hung_up[0][1]


async def test_it_hangs_up_300_ms_after_the_last_packet_of_its_goodbye() -> None:
    mind = ListedMind(Say("Thank you, goodbye.", hang_up_after=True, why="beat leave"))
    bench = await Bench(mind).start()
    await bench.agent("It's done.")
    await bench.until(lambda: bool(bench.hung_up))
    ended_ms = first(bench, "utterance_ended").t_ms
    (at_ms, why) = bench.hung_up[0]
    assert (at_ms, why) == (ended_ms + 300, "beat leave")


async def test_it_leaves_without_a_word_when_the_mind_says_so_and_only_once() -> None:
    bench = await Bench(ListedMind(HangUp("enough"))).start()
    await bench.agent("Hello?")
    await bench.silence(3000)
    assert [why for _, why in bench.hung_up] == ["enough"]
    assert bench.said == []


async def test_lines_known_beforehand_are_synthesised_before_the_call() -> None:
    bench = await Bench(ListedMind(Say("Yes please."))).start()
    before = list(bench.tts.asked)
    await bench.agent("Ready?")
    await bench.until_said()
    assert before == bench.tts.asked == ["Yes please."]


async def test_its_ears_can_be_a_recogniser_on_the_wire() -> None:
    mind = ListedMind(Say("Yes please."))
    stt = ListedStt("are you nora")
    bench = await Bench(mind, ears=stt).start()
    await bench.silence(1000)
    await bench.agent("Are you Nora?", ms=800)
    await bench.until_said()
    assert mind.heards() == ["are you nora"]
    start_ms, end_ms, samples = stt.segments[0]
    assert (start_ms, end_ms) == (1000 - 280, 1800 + 200)
    assert samples == (end_ms - start_ms) * 8


async def test_each_floor_goes_to_the_recogniser_as_one_segment() -> None:
    mind = ListedMind(Say("Yes please."), Say("Later."))
    bench = await Bench(mind, ears=ListedStt("good morning nora", "thank you")).start()
    await bench.silence(400)
    await bench.agent("", ms=600)
    await bench.silence(400)
    await bench.agent("", ms=600)
    await bench.until_said()
    await bench.agent("", ms=600)
    await bench.until_said()
    assert mind.heards() == ["good morning nora", "thank you"]


async def test_a_click_on_the_line_is_not_speech() -> None:
    mind = ListedMind()
    bench = await Bench(mind).start()
    await bench.silence(400)
    await bench.agent("", ms=20)
    await bench.silence(900)
    assert mind.heards() == []


async def test_a_model_that_fails_is_reported_once_and_the_caller_falls_silent() -> None:
    bench = await Bench(ListedMind(ModelConnectError("refused"))).start()
    await bench.agent("Hello?")
    await bench.silence(12_000)
    assert [type(e) for e in bench.errors] == [ModelConnectError]
    assert not any(bench.wire)


async def test_a_mind_that_breaks_is_a_harness_error() -> None:
    bench = await Bench(ListedMind(KeyError("beat"))).start()
    await bench.agent("Hello?")
    await bench.silence(2000)
    assert [(e.fault, e.stage) for e in bench.errors] == [("harness", "caller")]


async def test_a_voice_without_sound_is_an_engine_error_before_the_call() -> None:
    with pytest.raises(EngineError, match=r"made no sound of 'Yes please\.'"):
        await Bench(ListedMind(), tts=CountedTts(fails_on="please")).start()


async def test_closing_cuts_the_utterance_and_says_which_words_were_whole() -> None:
    mind = ListedMind(Say("One two three four."))
    bench = await Bench(mind).start()
    await bench.agent("Ready?")
    await bench.until(lambda: bench.count("utterance_started") == 1)
    await bench.silence(240)
    await bench.leg.aclose()
    await bench.leg.aclose()
    assert mind.told[-1] == ("said", "One two", True)
    assert first(bench, "utterance_ended").cut


async def test_closing_ends_the_task_that_thinks() -> None:
    class StuckMind(ListedMind):
        async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
            await asyncio.Event().wait()
            raise AssertionError

    bench = await Bench(StuckMind()).start()
    await bench.agent("Ready?")
    await bench.silence(1000)
    await bench.leg.aclose()
    assert [t.get_name() for t in asyncio.all_tasks() if t.get_name() == "caller"] == []
    assert bench.errors == []


async def test_what_is_said_is_told_when_it_begins_with_its_times() -> None:
    told: list[tuple[str, float, float]] = []
    mind = ListedMind(Say("One two."))
    bench = await Bench(mind, on_said=lambda *a: told.append(a)).start()
    await bench.agent("Ready?")
    await bench.until_said()
    begin_ms = first(bench, "utterance_started").t_ms
    assert told == [("One two.", begin_ms, begin_ms + 200)]
