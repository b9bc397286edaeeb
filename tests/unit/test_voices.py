"""Which voice a call's caller has: the set, the draw, what a task may want, what a pipeline may say, the list."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.cli import callm

from callm_voice.audio.files import read_sound
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import resolve
from callm_voice.core.brief import VoiceWish
from callm_voice.core.errors import ConfigError, MissingWeightError, UsageError
from callm_voice.core.weight_table import table
from callm_voice.pipeline.spec import CallerSettings, load_pipeline
from callm_voice.speech.factory import make_tts
from callm_voice.speech.settings import HibariSettings, KokoroSettings, ScriptedTtsSettings
from callm_voice.speech.voices import VOICES, VoicesSettings, choose, draw

pytestmark = pytest.mark.unit

AUTO = VoicesSettings(voices="auto")


def test_there_are_at_least_eight_and_they_differ_in_accent_sex_and_pace() -> None:
    assert len({voice.id for voice in VOICES}) == len(VOICES) >= 8
    kinds = Counter((voice.sex, voice.accent) for voice in VOICES)
    assert min(kinds[sex, accent] for sex in ("female", "male") for accent in ("american", "british")) >= 2
    assert len({voice.speed for voice in VOICES}) >= 3
    assert len({voice.settings.model_dump_json() for voice in VOICES}) == len(VOICES)


def test_every_voice_has_its_weights_in_the_table() -> None:
    for voice in VOICES:
        assert set(voice.weights) <= set(table())
        if isinstance(voice.settings, KokoroSettings):
            assert f"{voice.settings.voice}.bin" in {file.name for file in table()["kokoro-styles"].files}


def test_the_draw_is_the_same_everywhere() -> None:
    drawn = [draw(VOICES, seed=seed, task="healthcare/C1-E1").id for seed in range(1, 7)]
    assert drawn == ["af_sarah", "af_sarah", "am_fenrir", "bf_emma", "bm_george", "af_bella"]


def test_every_voice_is_drawn_about_as_often_as_any_other() -> None:
    drawn = Counter(draw(VOICES, seed=seed, task=f"p/{task}").id for seed in range(20) for task in range(50))
    assert set(drawn) == {voice.id for voice in VOICES}
    assert all(60 <= count <= 140 for count in drawn.values())


def test_a_voice_that_is_left_out_changes_only_the_calls_that_it_had() -> None:
    fewer = [voice for voice in VOICES if voice.id != "bf_emma"]
    for seed in range(200):
        before = draw(VOICES, seed=seed, task="p/t")
        after = draw(fewer[::-1], seed=seed, task="p/t")
        assert before == after or before.id == "bf_emma"


@pytest.mark.parametrize("sex", ["female", "male", None])
@pytest.mark.parametrize("accent", ["american", "british", None])
def test_a_task_gets_the_sex_and_the_accent_that_it_wants(sex: str | None, accent: str | None) -> None:
    wish = VoiceWish.model_validate({"sex": sex, "accent": accent})
    for seed in range(40):
        voice = choose(AUTO, seed=seed, task="p/t", wish=wish).voice
        assert voice is not None
        assert sex in (None, voice.sex)
        assert accent in (None, voice.accent)


def test_a_wish_that_the_pipelines_voices_cannot_meet_is_told() -> None:
    with pytest.raises(UsageError, match="p/t wants a male british voice") as caught:
        choose(
            VoicesSettings(voices=["joe", "bf_emma"]), seed=1, task="p/t", wish=VoiceWish(sex="male", accent="british")
        )
    assert "bm_george" in caught.value.hint


def test_a_pipeline_with_one_engine_has_that_one_whatever_the_task_wants() -> None:
    one = HibariSettings()
    chosen = choose(one, seed=3, task="p/t", wish=VoiceWish(sex="male"))
    assert (chosen.settings, chosen.voice, chosen.record()) == (one, None, {})


def test_the_record_names_the_voice() -> None:
    chosen = choose(VoicesSettings(voices=["bm_george"]), seed=3, task="p/t")
    assert chosen.settings == KokoroSettings(voice="bm_george", speed=0.9)
    assert chosen.record() == {"caller_voice": "bm_george", "sex": "male", "accent": "british"}


@pytest.mark.parametrize(
    ("tts", "kind"),
    [
        ({"voices": "auto"}, VoicesSettings),
        ({"voices": ["joe"]}, VoicesSettings),
        ({"engine": "kokoro", "voice": "bm_lewis"}, KokoroSettings),
        ({"engine": "scripted"}, ScriptedTtsSettings),
    ],
)
def test_a_pipeline_says_one_engine_or_several_voices(tts: dict[str, object], kind: type) -> None:
    assert isinstance(CallerSettings.model_validate({"tts": tts}).tts, kind)


@pytest.mark.parametrize(
    ("tts", "told"),
    [
        ("{voices: [joe, bob]}", "unknown voice 'bob'; known: heart, joe"),
        ("{voices: []}", "voices"),
        ("{voices: auto, speed: 2}", "unknown key"),
        ("{engine: festival}", "expected `engine: piper | hibari | kokoro | scripted`, or `voices: auto`"),
        ("{engine: kokoro, voice: zf_xiaoyi}", "af_bella"),
        ("loud", "expected `engine:"),
    ],
)
def test_a_mistake_names_file_key_and_what_was_expected(tts: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "id: mine\nstt: {engine: scripted}\nvad: {engine: energy}\ntts: {engine: scripted}\n"
        f"caller:\n  tts: {tts}\n  ears: played\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load_pipeline(str(path))
    assert told in caught.value.one_line()
    assert "mine.yaml:6" in caught.value.one_line()


def test_the_voice_of_a_call_is_chosen_before_anything_starts(tmp_path: Path) -> None:
    spec = CallSpec(task="healthcare/C1-E1", model="oracle", pipeline="cpu-voices", run_dir=tmp_path)
    first, second = (resolve(spec.model_copy(update={"seed": seed})).caller_voice for seed in (1, 3))
    assert first.voice is not None
    assert second.voice is not None
    assert first.voice.id != second.voice.id
    assert resolve(spec).caller_voice == first


def test_a_voice_without_its_weights_is_no_other_voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLM_VOICE_CACHE", str(tmp_path))
    monkeypatch.delenv("CALLM_VOICE_WEIGHTS", raising=False)
    with pytest.raises(MissingWeightError) as caught:
        make_tts(KokoroSettings())
    assert caught.value.hint == "callm-voice models pull kokoro-82m"


def test_the_list_is_one_json_document() -> None:
    listed = callm("voices", "--json").json["voices"]
    assert [row["id"] for row in listed] == [voice.id for voice in VOICES]
    assert set(listed[0]) == {"id", "engine", "sex", "accent", "speed", "weights", "missing"}


def test_samples_are_written_for_the_named_voices_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from callm_voice.cli import voices as command

    monkeypatch.setattr("callm_voice.speech.factory.make_tts", lambda settings: make_tts(ScriptedTtsSettings()))
    command.voices(["joe"], "Hello there.", tmp_path / "new", False)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["joe.wav"]
    assert np.any(read_sound(tmp_path / "new" / "joe.wav").pcm)


@pytest.mark.parametrize(
    "words", [("voices", "--say", "Hello."), ("voices", "--out", "x"), ("voices", "nobody", "--json")]
)
def test_a_wrong_command_is_one_line_and_exit_2(words: tuple[str, ...]) -> None:
    done = callm(*words)
    assert (done.code, done.out, len(done.error_lines)) == (2, "", 1)
