"""Rates from rows: word errors, entities, intervals by utterance; the page that says them and what was not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.linewer import nonspeech
from callm_voice.bench.linewer.listen import Heard
from callm_voice.bench.linewer.page import main, page
from callm_voice.bench.linewer.plan import WerPlan, make_plan
from callm_voice.bench.linewer.results import WerResults, load_results
from callm_voice.bench.linewer.score import Scorer, bootstrap, score_rows, wilson
from callm_voice.bench.linewer.utterances import Entity, Utterance, UtteranceSet
from callm_voice.core.errors import ConfigError

pytestmark = pytest.mark.unit

SET = UtteranceSet(
    id="two",
    utterances=(
        Utterance(
            id="a",
            text="This is Maria Brandt, call 212-555-0133.",
            entities=(Entity(kind="name", text="Maria Brandt"), Entity(kind="phone", text="212-555-0133")),
        ),
        Utterance(id="b", text="I paid $15 on Friday.", entities=(Entity(kind="money", text="$15"),)),
    ),
)
SAID = {utterance.id: utterance.text for utterance in SET.utterances}


def plan(profiles: tuple[str, ...] = ("clean-16k", "worst"), voices: tuple[str, ...] = ("joe", "heart")) -> WerPlan:
    return make_plan(SET, profiles=list(profiles), voices=list(voices))


def rows(of: WerPlan, heard: dict[tuple[str, str], str], *, passes: int = 1) -> list[Heard]:
    """(profile, sound) → text; an utterance that is not named is heard as said, a sound without speech as nothing."""
    found, each = [], len(of.profiles) * (len(SET.utterances) + len(nonspeech.names()))
    for what in list(of.listenings())[: each + (passes - 1) * len(of.profiles) * len(SET.utterances)]:
        text = heard.get((what.profile.id, what.sound), SAID.get(what.sound, ""))
        found.append(
            Heard(
                key=what.key, sound=what.sound, voice=what.voice.id if what.voice else None, profile=what.profile.id,
                model=what.stt.model, text=text, raw=text, rejected=None, audio_ms=4000, decode_ms=800, cpu_ms=400,
            )
        )  # fmt: skip
    return found


def scored(of: WerPlan, found: list[Heard]) -> WerResults:
    return score_rows(of, found, scorer=Scorer(), version="1", made_at="2026-01-01T00:00:00Z", host={"cores": 2})


def test_what_is_heard_as_said_has_no_errors_and_everything_arrived() -> None:
    results = scored(plan(), rows(plan(), {}))
    for cell in results.cells:
        assert cell.wer is not None
        assert (cell.wer.value, cell.wer.low, cell.wer.high) == (0, None, None)  # of two utterances
        assert {kind: (c.count, c.of) for kind, c in cell.entities.items()} == {
            "name": (1, 1), "phone": (1, 1), "money": (1, 1)
        }  # fmt: skip
        assert cell.empty == cell.non_speech.with_text == 0
        assert cell.cpu_per_audio == 0.1


def test_errors_are_counted_over_all_words_and_compared_with_the_reference() -> None:
    found = rows(plan(), {("worst", "a"): "This is Mario Brand, call 212-555-133.", ("worst", "b"): ""})
    clean, worst = scored(plan(), found).cells
    # The normaliser takes leading zeros away, so to it 0133 and 133 are the same word; to the entity they are not.
    assert (worst.substitutions, worst.deletions, worst.insertions) == (2, 5, 0)
    assert worst.wer is not None
    assert worst.wer.value == pytest.approx(7 / worst.words, abs=1e-4)
    assert worst.over_reference == worst.wer
    assert clean.over_reference is None
    assert worst.entity_accuracy is not None
    assert worst.entity_accuracy.value == 0
    assert worst.empty == 1


def test_text_on_a_sound_without_speech_is_an_invention() -> None:
    found = rows(plan(), {("worst", "ringback"): "Thank you.", ("worst", "silence"): "you"})
    quiet = scored(plan(), found).cells[1].non_speech
    assert (quiet.with_text, quiet.heard, quiet.words) == (2, len(nonspeech.names()), 3)
    assert quiet.texts == {"ringback": "Thank you.", "silence": "you"}


def test_an_interval_resamples_utterances_and_not_rows() -> None:
    """Ten rows of one utterance say no more than one: its interval is as wide, and the same seed gives the same."""
    one = [(1.0, 10.0), (3.0, 10.0), (8.0, 10.0), (0.0, 10.0), (8.0, 10.0)]
    ten = [(10 * count, 10 * of) for count, of in one]
    rate = bootstrap(one, 1)
    assert bootstrap(ten, 1) == rate
    assert rate is not None
    assert rate.low is not None
    assert rate.high is not None
    assert rate.value == pytest.approx(0.4)
    assert 0.04 <= rate.low <= 0.15
    assert 0.65 <= rate.high <= 0.76
    assert bootstrap([], 1) is None
    few = bootstrap(one[:4], 1)
    assert few is not None
    assert (few.value, few.low, few.high) == (0.3, None, None)


def test_no_inventions_of_few_sounds_is_not_certainly_none() -> None:
    """Wilson (1927): with 0 of 21 the upper bound is z² / (n + z²)."""
    rate = wilson(0, 21)
    assert rate is not None
    assert (rate.value, rate.low) == (0, 0)
    assert rate.high == pytest.approx(3.8415 / (21 + 3.8415), abs=1e-4)
    assert wilson(0, 0) is None


def test_missing_rows_are_missing_and_not_zero() -> None:
    results = scored(plan(), [])
    assert all(
        cell.wer is None and cell.cpu_per_audio is None and cell.non_speech.rate is None for cell in results.cells
    )
    assert "Not run at all: `clean-16k`, `worst`." in page(results)


def test_the_page_says_what_was_not_run_and_when_all_was() -> None:
    part = page(scored(plan(), rows(plan(), {})))
    assert "**the rest was not run**" in part
    assert "2 profiles heard 2 of these, in at least 2 voices" in part
    whole = page(scored(plan(), rows(plan(), {}, passes=2)))
    assert "were made." in whole
    assert "not run" not in whole


def test_a_recognisers_text_is_no_markup_on_the_page() -> None:
    evil = "| <img src=x> [a](http://b) `c` **d** {e} " + "x" * 100
    text = page(scored(plan(), rows(plan(), {("worst", "hum-40"): evil})))
    line = next(line for line in text.splitlines() if "hum-40" in line)
    assert not set("|<>[]*`{}()").intersection(line.split("“")[1])


def test_results_survive_their_file_and_the_page_is_made_of_it(tmp_path: Path) -> None:
    results = scored(plan(), rows(plan(), {}))
    path = tmp_path / "results.json"
    path.write_text(results.model_dump_json())
    assert load_results(path) == results
    assert main([str(path), str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text() == page(results)
    path.write_text('{"form": "another/1"}')
    with pytest.raises(ConfigError, match="form"):
        load_results(path)
    assert main([str(path)]) == 2
    assert main([]) == 2
