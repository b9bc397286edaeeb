"""What the caller says is heard in each of its forms; what is right in none is told, and nothing is heard twice."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.small_pack import small_pack

from callm_voice.bench.packcheck.audible import Audition, forms, inaudible
from callm_voice.bench.packcheck.findings import Problems
from callm_voice.bench.packcheck.run import check_task
from callm_voice.bench.packcheck.tasks import load_task
from callm_voice.core.clock import RealClock
from callm_voice.core.record import EngineInfo
from callm_voice.desk.pack import load_pack
from callm_voice.line.profile import load_profile
from callm_voice.speech.engines import Transcript
from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

pytestmark = pytest.mark.unit


@pytest.fixture
def task(tmp_path):
    """(the small pack's task, its origins)."""
    pack = load_pack(small_pack(tmp_path))
    return load_task(pack, "C1-E1", Problems(pack.path)), check_task(pack, "C1-E1").origins


class Ears:
    """An audition that mishears set words."""

    def __init__(self, **misheard):
        self.misheard, self.lines = misheard, []

    async def heard(self, text):
        self.lines.append(text)
        for said, instead in self.misheard.items():
            text = text.replace(said, instead)
        return text


async def test_what_is_heard_right_as_it_is_said_is_not_said_again(task):
    ears = Ears()
    assert await inaudible(*task, ears) == []
    assert ears.lines == ["My name is Nora Field.", "My name is Nora Field.", "My number is 212-555-0141."]


async def test_a_name_that_is_heard_right_only_when_spelled_is_audible(task):
    ears = Ears(Nora="Norma")
    assert await inaudible(*task, ears) == []
    assert "N-O-R-A." in ears.lines


async def test_a_number_that_is_heard_right_only_in_groups_is_audible(task):
    ears = Ears(**{"0141": "0140"})
    assert await inaudible(*task, ears) == []
    assert "2 1 2, 5 5 5, 0 1 4 1" in ears.lines


async def test_what_no_form_brings_across_is_told_with_all_that_was_heard(task):
    found = await inaudible(*task, Ears(**{"Field": "Feel", "F-I-E": "S-I-E"}))
    assert [key for key, _ in found] == ["calls.0.args.last_name"]
    assert "'My name is Nora Field.' as 'My name is Nora Feel.'; 'F-I-E-L-D.' as 'S-I-E-L-D.'" in found[0][1]


def test_what_the_model_finds_out_is_not_listened_to(task):
    _, origins = task
    assert [o.key for o in origins if o.from_caller] == [
        f"calls.0.args.{n}" for n in ("first_name", "last_name", "mobile")
    ]


def test_a_date_is_said_in_words(task):
    loaded, _ = task
    traits = {**loaded.task.brief.traits, "date_of_birth": "1972-06-30"}
    brief = loaded.task.brief.model_copy(update={"traits": traits})
    loaded = type(loaded)(**{**vars(loaded), "task": loaded.task.model_copy(update={"brief": brief})})
    assert list(forms(loaded, "1972-06-30", "date")) == ["My date of birth is June 30, 1972."]


class Stt:
    """Says how long the sound was."""

    info = EngineInfo(engine="stub")

    def transcribe(self, pcm, rate_hz, *, start_ms=0.0, end_ms=0.0):
        return Transcript(f"{pcm.size / rate_hz:.1f} s")


async def test_a_line_is_recognised_once_and_kept(tmp_path):
    with closing(RealClock()) as clock:
        make = lambda: Audition(  # noqa: E731
            ScriptedTts(ScriptedTtsSettings()), Stt(), load_profile("pstn-g711u"), clock, folder=tmp_path
        )
        first, second = make(), make()
        heard = await first.heard("My name is Nora Field.")
        assert heard.endswith(" s")
        assert await second.heard("My name is Nora Field.") == heard
        assert (first.listened, second.listened) == (1, 0)
        await second.heard("My name is Omar Hale.")
        assert second.listened == 1
