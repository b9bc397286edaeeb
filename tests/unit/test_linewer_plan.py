"""The plan of a table: what is shipped, balance of every part, keys that change with what shapes the outcome."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from callm_voice.audio.pcm import level_dbov
from callm_voice.bench.linewer import nonspeech
from callm_voice.bench.linewer.plan import make_plan
from callm_voice.bench.linewer.utterances import KINDS, load_utterances
from callm_voice.core.errors import ConfigError, NotFoundError, UsageError
from callm_voice.line.profile import load_profile
from callm_voice.speech.voices import VOICES

pytestmark = pytest.mark.unit

SHIPPED = load_utterances()


def test_the_shipped_set_has_enough_of_every_kind() -> None:
    kinds = Counter(entity.kind for utterance in SHIPPED.utterances for entity in utterance.entities)
    assert len(SHIPPED.utterances) >= 40
    assert all(kinds[kind] >= 8 for kind in KINDS), kinds
    assert len(nonspeech.names()) >= 18


def test_a_wrong_file_is_one_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("id: mine\nutterances:\n  - id: a\n    text: Hello\n    entities: [{kind: name, text: Bob}]\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml:3.*'Bob' does not stand in the utterance"):
        load_utterances(path)


def test_one_pass_says_every_utterance_once_over_every_profile_in_balanced_voices() -> None:
    plan = make_plan(SHIPPED, profiles=["clean-16k", "worst"])
    sounds = len(SHIPPED.utterances) + len(nonspeech.names())
    first = list(islice(plan.listenings(), 2 * sounds))
    said = [what for what in first if what.voice is not None]
    for name in ("clean-16k", "worst"):
        mine = [what for what in said if what.profile.id == name]
        assert sorted(what.sound for what in mine) == sorted(u.id for u in SHIPPED.utterances)
        voices = Counter(what.voice.id for what in mine if what.voice)
        assert set(voices) == {voice.id for voice in VOICES}
        assert max(voices.values()) - min(voices.values()) <= 1
    assert {what.sound for what in first if what.voice is None} == set(nonspeech.names())
    assert all(a.seed == b.seed and a.voice == b.voice for a, b in zip(said[::2], said[1::2], strict=True))


def test_the_whole_plan_is_everything_once() -> None:
    plan = make_plan(SHIPPED, profiles=["clean-16k"], voices=["joe", "heart"], models=["base", "tiny.en"], limit=5)
    keys = [what.key for what in plan.listenings()]
    assert len(keys) == len(set(keys)) == 2 * (2 * 5 + len(nonspeech.names()))
    fewer = make_plan(SHIPPED, profiles=["clean-16k"], voices=["joe", "heart"], limit=5, sounds=3)
    assert [what.sound for what in fewer.listenings() if what.voice is None] == list(nonspeech.names()[:3])


def test_a_key_follows_what_shapes_the_outcome_and_nothing_else() -> None:
    def first(seed: int = 1, profile: str = "clean-16k", model: str = "base", device: str = "cpu") -> str:
        plan = make_plan(SHIPPED, profiles=[profile], models=[model], seed=seed, device=device)
        return next(iter(plan.listenings())).key

    assert len({first(), first(seed=2), first(profile="worst"), first(model="tiny.en"), first(device="cuda")}) == 5
    assert first() == next(iter(make_plan(SHIPPED, profiles=["clean-16k", "worst"], limit=1).listenings())).key


def test_unknown_and_double_names_are_refused() -> None:
    with pytest.raises(NotFoundError, match="no voice named 'jim'"):
        make_plan(SHIPPED, voices=["jim"])
    with pytest.raises(NotFoundError, match="no line profile named"):
        make_plan(SHIPPED, profiles=["nothing"])
    with pytest.raises(UsageError, match="stands twice"):
        make_plan(SHIPPED, voices=["joe", "joe"])


def test_sounds_without_speech_are_the_same_every_time_and_not_clipped() -> None:
    first, again = nonspeech.clips(), nonspeech.clips()
    for name, pcm in first.items():
        assert np.array_equal(pcm, again[name]), name
        assert np.abs(pcm.astype(int)).max() < 32767, name
        assert 2.3 <= pcm.size / nonspeech.RATE_HZ <= 4.0, name
    assert level_dbov(first["car-25"]) == pytest.approx(-25, abs=0.1)
    assert not first["silence"].any()


def test_a_microphone_is_set_for_speech_and_its_noise_is_there_without_any() -> None:
    """At 10 dB under speech of -26 dBov."""
    profile = load_profile("noise-car-10")
    out = nonspeech.over_the_line(nonspeech.clips()["silence"], profile, 1)
    assert level_dbov(out) == pytest.approx(-36, abs=1.5)
