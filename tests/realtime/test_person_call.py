"""A person's call in a process of its own, over loopback, with scripted engines: from the first word to the folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from support.calling_in import CallerIn, speech_shaped
from support.parrot_server import parrot_server

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_calls import OfferError, PersonCalls
from callm_voice.core.errors import UsageError
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import GOLD_FILE, find_calls, load_record
from callm_voice.pipeline.rtc_peer import CLOSED_BY_OTHER_END
from callm_voice.report.score import load_calls, score_run

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(600)]

ORACLE = "oracle?ttft_ms=20&tokens_per_s=2000"
AUDIBLE = 1000
"""Of int16: the scripted voice is far louder."""


@pytest.fixture
async def calls() -> AsyncIterator[PersonCalls]:
    held = PersonCalls()
    yield held
    await held.close()


def spec(run_dir: Path, line: str = "pstn-g711u", task: str = "healthcare/C5-H1") -> CallSpec:
    return CallSpec(task=task, model=ORACLE, pipeline="scripted", line=line, caller="person", run_dir=run_dir)


def overloaded(record: CallRecord) -> bool:
    """Whether this machine was too busy for a verdict; no other fault of the harness is an end that a test expects."""
    outcome = record.outcome
    return outcome.invalid_kind == "harness" and outcome.detail.startswith("harness overload")


async def test_a_person_is_heard_and_answered_and_the_call_is_written_and_judged(
    calls: PersonCalls, tmp_path: Path
) -> None:
    async with CallerIn(calls, spec(tmp_path)) as person:
        await person.until("playout_ended")
        person.say(speech_shaped(1.5))
        assert (await person.until("transcript_ready"))["heard"]
        await person.until("playout_started", turn_id=1)
        person.press("5")
        await person.until("dtmf_heard", digit="5")
        await person.until("dtmf_sent", digits="5")
        assert calls.hang_up("one", "the caller hung up")
        done = await person.finished()
    assert np.abs(np.concatenate(person.heard)).max() > AUDIBLE
    [folder] = find_calls(tmp_path)
    assert str(folder) == done["folder"]
    record = load_record(folder)
    assert (record.config.caller, record.config.pace) == ("person", "real")
    assert record.outcome.end_reason == "caller_hangup"
    assert (record.outcome.status, record.outcome.detail) == ("fail", "the caller hung up") or overloaded(record)
    assert record.engines["caller"].engine == "person"
    assert record.engines["caller"].work["packets_received"] > 0
    assert [turn.said for turn in record.transcript if turn.party == "caller"][:2] == ["", "[keypad: 5]"]
    left = sf.read(folder / "call.flac", dtype="int16")[0][:, 0]
    assert np.abs(left).max() > AUDIBLE


async def test_the_line_profile_is_applied_to_the_persons_voice(calls: PersonCalls, tmp_path: Path) -> None:
    async with CallerIn(calls, spec(tmp_path, line="loss-awful")) as person:
        await person.until("playout_ended")
        person.say(speech_shaped(3.0))
        await person.until("line_loss", direction="to_agent")
        calls.hang_up("one", "the caller hung up")
        await person.finished()
    record = load_record(find_calls(tmp_path)[0])
    assert record.engines["codec"].work["to_agent_lost"] > 0


async def test_a_call_without_a_task_is_written_without_a_verdict(calls: PersonCalls, tmp_path: Path) -> None:
    with parrot_server() as parrot:
        ordered = spec(tmp_path, task="healthcare/no-task").model_copy(update={"model": parrot.model})
        async with CallerIn(calls, ordered) as person:
            await person.until("playout_ended")
            person.say(speech_shaped(1.5))
            await person.until("playout_started", turn_id=1)
            calls.hang_up("one", "the caller hung up")
            done = await person.finished()
    [folder] = find_calls(tmp_path)
    record = load_record(folder)
    assert record.verdict is None
    assert (record.config.task, done["gates"]) == ("healthcare/no-task", None)
    assert record.outcome.status == "unscored" or overloaded(record)
    assert not (folder / GOLD_FILE).exists()
    assert score_run(load_calls([tmp_path])).models == ()


async def test_a_person_who_vanishes_without_a_word_has_hung_up(calls: PersonCalls, tmp_path: Path) -> None:
    async with CallerIn(calls, spec(tmp_path)) as person:
        await person.until("playout_started")
        await person.stop_sending()
        ended = await person.until("call_ended")
        await person.finished()
    assert ended["reason"] == "caller_hangup"
    assert "no more packets came" in ended["detail"]


async def test_a_person_whose_browser_is_closed_has_hung_up(calls: PersonCalls, tmp_path: Path) -> None:
    async with CallerIn(calls, spec(tmp_path)) as person:
        await person.until("playout_started")
        await person.peer.aclose()
        ended = await person.until("call_ended")
        await person.finished()
    assert (ended["reason"], ended["detail"]) == ("caller_hangup", CLOSED_BY_OTHER_END)


async def test_two_calls_at_once_are_two_trials(calls: PersonCalls, tmp_path: Path) -> None:
    async with CallerIn(calls, spec(tmp_path)) as one, CallerIn(calls, spec(tmp_path), "two") as two:
        for person in (one, two):
            await person.until("playout_started")
            calls.hang_up(person.id, "the caller hung up")
        folders = {(await person.finished())["folder"] for person in (one, two)}
    assert len(folders) == 2
    assert sorted(load_record(folder).config.trial for folder in find_calls(tmp_path)) == [1, 2]


async def test_what_is_wrong_leaves_no_process_and_no_folder(calls: PersonCalls, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as unknown:
        await calls.start("one", spec(tmp_path / "run", task="healthcare/C9-H9"), "offer")
    assert "no task named" in unknown.value.one_line()
    with pytest.raises(OfferError) as nonsense:
        await calls.start("one", spec(tmp_path / "run"), "v=0 nonsense")
    assert "session description" in nonsense.value.one_line()
    assert calls.running == []
    assert not os.listdir(tmp_path)
