"""A service class is named by its dotted path; what is wrong with it or its settings shows before anything starts."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from support.foreign_services import NeedsAnAddress, Scribe, Speaker, Trouble

from callm_voice.core.errors import ConfigError, SetupError, UsageError
from callm_voice.core.paths import installed_data_dir
from callm_voice.pipeline.foreign_class import Unfit, arguments, find_class, from_environment
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.factory import make_stt, make_tts
from callm_voice.speech.settings import ForeignSttSettings, ForeignTtsSettings

pytestmark = pytest.mark.unit
SERVICES = "support.foreign_services"


def test_a_class_is_found_by_its_path() -> None:
    assert find_class(f"{SERVICES}.Scribe", "stt") is Scribe
    assert find_class(f"{SERVICES}.Speaker", "tts") is Speaker


@pytest.mark.parametrize(
    ("dotted", "words"),
    [
        ("no_such_house.Voice", "no module no_such_house"),
        (f"{SERVICES}.none.Voice", f"no module {SERVICES}.none"),
        (f"{SERVICES}.Nobody", "has no Nobody"),
        (f"{SERVICES}.NOT_A_SERVICE", "not a Pipecat TTS service"),
        (f"{SERVICES}.Scribe", "not a Pipecat TTS service"),
        (f"{SERVICES}.Unfinished", "no run_tts"),
        ("pipecat.services.tts_service.TTSService", "no run_tts"),
    ],
)
def test_what_is_no_voice_is_refused(dotted: str, words: str) -> None:
    with pytest.raises(Unfit, match=words) as caught:
        find_class(dotted, "tts")
    assert caught.value.key == "engine"


def test_a_module_that_cannot_be_loaded_is_a_matter_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_house.py").write_text("import nothing_of_the_kind\n", encoding="utf-8")
    (tmp_path / "burnt_house.py").write_text("raise OSError('no libfoo')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SetupError, match="nothing_of_the_kind"):
        find_class("half_a_house.Voice", "tts")
    with pytest.raises(SetupError, match="no libfoo"):
        find_class("burnt_house.Voice", "tts")


def test_settings_go_where_the_class_takes_them() -> None:
    made_with = arguments(
        Scribe, {"prefix": "ms", "trouble": "raise", "folder": "/somewhere", "trailing_silence_secs": 0}
    )
    assert made_with["settings"].prefix == "ms"
    assert made_with["trouble"] is Trouble.RAISE
    assert made_with["folder"] == Path("/somewhere")
    assert made_with["trailing_silence_secs"] == 0
    assert "prefix" not in made_with


@pytest.mark.parametrize(
    ("service", "settings", "key", "words"),
    [
        (Scribe, {"prefiks": "x"}, "settings.prefiks", "known: .*prefix"),
        (Scribe, {"settings": {}}, "settings.settings", "unknown"),
        (Scribe, {"after": "many"}, "settings.after", "integer"),
        (Scribe, {"trouble": "strife"}, "settings.trouble", "'raise'"),
        (Scribe, {"aiohttp_session": "mine"}, "settings.aiohttp_session", "ClientSession"),
        (NeedsAnAddress, {}, "settings.base_url", "needs it"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(service: type, settings: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(Unfit, match=words) as caught:
        arguments(service, settings)
    assert caught.value.key == key


def test_references_are_taken_from_the_environment_at_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-value")
    value, secrets = from_environment({"a": ["env:MY_KEY", {"b": "env:MY_KEY"}], "c": "env: MY_KEY"}, what="it")
    assert value == {"a": ["s3cret-value", {"b": "s3cret-value"}], "c": "env: MY_KEY"}
    assert [s.reveal() for s in secrets] == ["s3cret-value"] * 2
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(UsageError, match="MY_KEY is not set; it needs it"):
        from_environment({"a": "env:MY_KEY"}, what="it")


# -- in a pipeline's file --


def pipeline_file(folder: Path, part: str, engine: str) -> Path:
    text = (installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8")
    assert f"{part}:\n  engine: scripted\n" in text
    path = folder / "mine.yaml"
    path.write_text(text.replace(f"{part}:\n  engine: scripted\n", f"{part}:\n{engine}", 1), encoding="utf-8")
    return path


def engine(name: str, *lines: str) -> str:
    return "".join(f"  {line}\n" for line in (f"engine: {SERVICES}.{name}", *lines))


def test_a_pipeline_names_a_class_and_its_settings(tmp_path: Path) -> None:
    text = engine("Scribe", "counted: true", "settings:", "  prefix: ms", "  api_key: env:MY_KEY")
    spec = load_pipeline(str(pipeline_file(tmp_path, "stt", text)))
    assert isinstance(spec.stt, ForeignSttSettings)
    assert (spec.stt.counted, spec.stt.settings) == (True, {"prefix": "ms", "api_key": "env:MY_KEY"})
    assert type(spec).model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (engine("Nobody"), "stt.engine", "has no Nobody"),
        (engine("Speaker"), "stt.engine", "not a Pipecat STT service"),
        (engine("Scribe", "settings:", "  prefiks: ms"), "stt.settings.prefiks", "unknown to Scribe"),
        (engine("Scribe", "settings:", "  api_key: abc"), "stt.settings.api_key", "env:NAME"),
        (engine("Scribe", "timeout_s: 0"), "stt.timeout_s", "greater than 0"),
        (engine("Scribe", "timout_s: 5"), "stt.timout_s", "unknown key"),
        ("  engine: a..b\n", "stt.engine", "match pattern"),
    ],
)
def test_a_mistake_is_one_error_with_file_line_and_key(tmp_path: Path, text: str, key: str, words: str) -> None:
    path = pipeline_file(tmp_path, "stt", text)
    with pytest.raises(ConfigError, match=words) as caught:
        load_pipeline(str(path))
    rows = path.read_text("utf-8").splitlines()
    assert caught.value.key == key
    assert caught.value.line is not None
    assert key.rpartition(".")[2] in rows[caught.value.line - 1]
    assert "abc" not in caught.value.one_line()


def test_mistakes_in_our_own_engines_read_as_before(tmp_path: Path) -> None:
    for text, key, words in (
        ("  engine: whisper\n  modle: base\n", "stt.whisper.modle", "unknown key"),
        ("  engine: whispr\n", "stt", "'whisper', 'scripted'"),
        ("  model: base\n", "stt", "discriminator"),
    ):
        with pytest.raises(ConfigError, match=words) as caught:
            load_pipeline(str(pipeline_file(tmp_path, "stt", text)))
        assert caught.value.key == key


def test_the_callers_voice_is_one_of_ours(tmp_path: Path) -> None:
    text = (installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("    engine: scripted", f"    engine: {SERVICES}.Speaker"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"caller\.tts"):
        load_pipeline(str(path))


def test_tools_that_are_no_calls_refuse_a_service() -> None:
    with pytest.raises(UsageError, match="in calls only"):
        make_tts(ForeignTtsSettings(engine=f"{SERVICES}.Speaker"))
    with pytest.raises(UsageError, match="in calls only"):
        make_stt(ForeignSttSettings(engine=f"{SERVICES}.Scribe"))


def test_pipecats_own_services_take_what_the_page_shows() -> None:
    """The page's examples, against the classes themselves."""
    for dotted, kind, settings in (
        ("pipecat.services.whisper.stt.WhisperSTTService", "stt", {"model": "/weights/whisper", "device": "cpu"}),
        ("pipecat.services.piper.tts.PiperTTSService", "tts", {"voice": "en_US-joe-medium", "download_dir": "/w"}),
    ):
        service = find_class(dotted, kind)  # type: ignore[arg-type]
        made_with = arguments(service, settings)
        assert set(made_with) <= {*inspect.signature(service).parameters, "settings"}
