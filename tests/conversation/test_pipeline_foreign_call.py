"""Whole calls by voice with Pipecat services that a pipeline names: what works, what fails, what hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.cli import QUICK_ORACLE, Ran, callm

from callm_voice.core.paths import installed_data_dir
from callm_voice.core.runfolder import find_calls

pytestmark = pytest.mark.conversation
KEY = "s3cret-of-the-scribe"
TESTS = Path(__file__).parents[1]
ENV = {"SCRIBE_KEY": KEY, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
"""The services lie beside the tests, the package under test beside them."""


def pipeline(
    folder: Path, *, counted: bool = True, stt: str = "", tts: str = "", seconds: int = 600, more: str = ""
) -> Path:
    """The scripted pipeline with a foreign recogniser and voice; `stt` and `tts` are YAML of their settings."""
    text = (installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8")
    head = f"  counted: {str(counted).lower()}\n{more}  settings:"
    own = f"api_key: env:SCRIBE_KEY, prefix: yes words, {stt}"
    ears = f"stt:\n  engine: support.foreign_services.Scribe\n{head} {{{own}}}\n"
    mouth = f"\ntts:\n  engine: support.foreign_services.Speaker\n  rate_hz: 16000\n{head} {{{tts}}}\n"
    text = text.replace("stt:\n  engine: scripted\n", ears, 1)
    text = text.replace("\ntts:\n  engine: scripted\n  words_per_min: 220.0\n", mouth, 1)
    assert text.count("support.foreign_services") == 2
    path = folder / "foreign.yaml"
    path.write_text(f"{text}\nlimits:\n  max_duration_s: {seconds}\n", encoding="utf-8")
    return path


def call(file: Path, out: Path, *, env: dict[str, str] | None = None) -> Ran:
    return callm(
        "call", "--task", "healthcare/C1-E1", "--model", QUICK_ORACLE, "--pipeline", str(file), "--pace", "fast",
        "--json", "--out", str(out), env=ENV if env is None else env,
    )  # fmt: skip


def test_a_call_with_services_for_ears_and_mouth_passes_at_the_fast_pace(tmp_path: Path) -> None:
    ran = call(pipeline(tmp_path), tmp_path / "runs")
    assert ran.code == 0, ran.err
    record = ran.json
    assert record["verdict"]["passed"] is True
    assert (record["config"]["pace"], record["warnings"]) == ("fast", [])
    assert record["engines"]["stt"]["engine"] == "support.foreign_services.Scribe"
    assert record["engines"]["stt"]["settings"]["settings"]["api_key"] == "env:SCRIBE_KEY"
    assert record["engines"]["tts"]["model"] == "ann"
    heard = [t["heard"] for t in record["transcript"] if t["party"] == "caller" and t["heard"]]
    assert heard
    assert all(words.startswith("yes words of ") for words in heard)
    (folder,) = find_calls(tmp_path / "runs")
    written = b"".join(f.read_bytes() for f in (tmp_path / "runs").rglob("*") if f.is_file())
    assert (folder / "call.flac").is_file()
    assert KEY.encode() not in written
    assert KEY not in ran.err + ran.out


def test_work_that_is_not_counted_forces_the_real_pace_and_is_named(tmp_path: Path) -> None:
    ran = call(pipeline(tmp_path, counted=False, seconds=4), tmp_path / "runs")
    record = ran.json
    assert (record["config"]["pace"], record["outcome"]["end_reason"]) == ("real", "max_duration")
    (warning,) = record["warnings"]
    for name in (
        "support.foreign_services.Scribe scribe-1",
        "support.foreign_services.Speaker ann",
        "cannot be counted",
    ):
        assert name in warning
    assert warning in ran.err
    assert record["wall"]["line_s"] >= 3.9


@pytest.mark.parametrize(
    ("part", "trouble", "words"), [("stt", "hang", "no answer within 3 s"), ("tts", "report", "out of order")]
)
def test_a_service_in_trouble_makes_the_call_invalid_and_never_hangs_it(
    part: str, trouble: str, words: str, tmp_path: Path
) -> None:
    broken = f"trouble: {trouble}, after: 2"
    ran = call(
        pipeline(tmp_path, **{part: broken}, more="  timeout_s: 3\n" if trouble == "hang" else ""), tmp_path / "runs"
    )
    assert (ran.code, bool(ran.out)) == (3, True), ran.err
    record = ran.json
    outcome = record["outcome"]
    assert (outcome["status"], outcome["invalid_kind"]) == ("invalid", "infrastructure")
    assert outcome["end_reason"] == "engine_error"
    assert words in outcome["detail"]
    assert KEY not in ran.err + ran.out


def test_a_key_that_is_not_set_ends_it_before_the_line_opens(tmp_path: Path) -> None:
    without = {**ENV, "SCRIBE_KEY": ""}
    ran = call(pipeline(tmp_path), tmp_path / "runs", env=without)
    assert ran.code == 2, ran.err
    (line,) = ran.error_lines
    assert "SCRIBE_KEY is not set" in line
    assert find_calls(tmp_path / "runs") == []


def test_a_wrong_setting_is_one_line_with_file_and_key(tmp_path: Path) -> None:
    file = pipeline(tmp_path, tts="volume: loud")
    ran = call(file, tmp_path / "runs")
    assert ran.code == 2, ran.err
    (line,) = ran.error_lines
    row = next(i for i, text in enumerate(file.read_text("utf-8").splitlines(), 1) if "volume: loud" in text)
    assert f"foreign.yaml:{row}: tts.settings.volume: unknown to Speaker" in line
    assert not (tmp_path / "runs").exists()
