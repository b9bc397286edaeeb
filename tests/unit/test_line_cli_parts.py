"""Parts of `callm-voice line`: any sound file, the delay that is measured, lists of names, plots of the docs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from callm_voice.audio.anyfile import read_any
from callm_voice.cli.commands import app
from callm_voice.cli.line import check_target, names
from callm_voice.core.errors import ConfigError, UsageError
from callm_voice.line.apply import apply_profile
from callm_voice.line.delay import measured_delay_ms
from callm_voice.line.profile import load_profile
from callm_voice.report.line_view import _stated_delay_ms, applied_report, applied_table, profile_row, write_doc_plots
from tests.support.line_sounds import phrase

pytestmark = pytest.mark.unit


def test_channels_are_averaged_at_the_files_own_rate(tmp_path: Path) -> None:
    left, right = phrase(22_050, 0.5, seed=1), phrase(22_050, 0.5, seed=2)
    path = tmp_path / "three.wav"
    soundfile.write(path, np.stack([left, right, np.zeros_like(left)], axis=1), 22_050)
    found = read_any(path)
    assert found.rate_hz == 22_050
    assert np.abs(found.pcm - (left.astype(float) + right) / 3).max() <= 1


def test_numbers_that_are_none_are_silence(tmp_path: Path) -> None:
    path = tmp_path / "nan.wav"
    soundfile.write(path, np.array([0.5, np.nan, 2.0, -0.5]), 8000, subtype="FLOAT")
    assert read_any(path).pcm.tolist() == [16384, 0, 32767, -16384]


def test_a_sample_rate_that_no_sound_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "slow.wav"
    soundfile.write(path, np.zeros(100), 100)
    with pytest.raises(ConfigError, match="a sample rate of 100 Hz"):
        read_any(path)


@pytest.mark.parametrize("late_ms", [0.0, 2.5, 85.0, 599.0])
def test_a_delay_is_found_under_noise_and_inverted(late_ms: float) -> None:
    sound = phrase(8000, 2.0)
    noise = np.random.default_rng(1).normal(0, 800, sound.size + 4800)
    out = noise + np.pad(-sound.astype(float), (round(late_ms * 8), 4800 - round(late_ms * 8)))
    assert measured_delay_ms(sound, out.astype(np.int16), 8000) == pytest.approx(late_ms, abs=0.13)


def test_what_is_not_alike_has_no_delay() -> None:
    noise = np.random.default_rng(1).normal(0, 800, 24_000).astype(np.int16)
    assert measured_delay_ms(phrase(8000, 2.0), noise, 8000) is None
    assert measured_delay_ms(np.zeros(800, np.int16), noise, 8000) is None


def test_an_adaptive_buffer_states_a_range_and_the_measured_delay_is_in_it() -> None:
    profile, sound = load_profile("loss-mobile"), phrase(8000, 6.0)
    done = apply_profile(sound, 8000, profile, 3)
    low, high = _stated_delay_ms(profile, done)
    measured = measured_delay_ms(sound, done.pcm, 8000)
    assert measured is not None
    assert low - 1 <= measured <= high + 1
    assert high > low


def test_every_line_of_a_report_is_shown_and_says_what_there_is_not() -> None:
    profile, silence = load_profile("speakerphone"), np.zeros(8000, np.int16)
    report = applied_report(silence, 8000, profile, 1, apply_profile(silence, 8000, profile, 1))
    table = applied_table(report)
    texts = dict(zip(table.columns[0].cells, table.columns[1].cells, strict=True))
    assert texts["active speech level in"] == "none"
    assert texts["one way delay, measured"] == "nothing alike came out"
    assert texts["packets"].startswith("none")
    assert "gain error drawn" in texts


def test_a_row_of_the_list_has_what_is_wrong_with_the_line() -> None:
    row = profile_row(load_profile("worst"))
    assert (row["codec"], row["mode"], row["tandem"]) == ("amr", "4.75", [{"codec": "pcmu"}])
    assert row["loss"]["rate_percent"] == 10
    assert row["noise"] == {"kind": "cafe", "snr_db": 5.0}
    assert row["delay_ms"] == pytest.approx(45, abs=3)


def test_names_are_split_and_nothing_is_no_list() -> None:
    assert names("--profiles", None) is None
    assert names("--profiles", " a, b,") == ["a", "b"]
    with pytest.raises(UsageError, match="--voices: expected names"):
        names("--voices", " ,")


def test_a_target_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    for name in ("sound.mp3", "sound", "folder.wav"):
        with pytest.raises(UsageError):
            check_target(tmp_path / name)
    check_target(tmp_path / "sound.FLAC")


def test_plots_are_drawn_and_small(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    profiles = [load_profile(name) for name in ("clean-16k", "loss-bad")]
    written = write_doc_plots(phrase(8000, 1.0), 8000, tmp_path, profiles=profiles)
    assert [path.name for path in written] == ["line-spectrograms.png", "line-losses.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size < 400_000 for path in written)


def test_what_a_user_gets_wrong_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.wav").write_text("not a sound\n")
    soundfile.write("empty.wav", np.zeros(0), 8000)
    soundfile.write("in.wav", phrase(8000, 0.3), 8000)
    before = Path("in.wav").read_bytes()
    wrong = {
        ("pstn-g711u", "missing.wav", "out.wav"): "missing.wav: cannot be read: No such file",
        ("pstn-g711u", ".", "out.wav"): "cannot be read: Is a directory",
        ("pstn-g711u", "text.wav", "out.wav"): "text.wav: not a sound file that can be read",
        ("pstn-g711u", "empty.wav", "out.wav"): "empty.wav: there is no sound in it",
        ("nothing", "in.wav", "out.wav"): "no line profile named 'nothing'; known: clean-16k",
        ("pstn-g711u", "in.wav", "out.mp3"): "out.mp3: sound is written as .wav or .flac",
        ("pstn-g711u", "in.wav", "in.wav"): "in.wav is the file that is read",
    }
    for (profile, source, target), message in wrong.items():
        ran = CliRunner().invoke(app, ["line", "apply", "--profile", profile, source, target])
        assert isinstance(ran.exception, UsageError), (source, target, ran.exception)
        assert message in ran.exception.one_line()
    assert not list(tmp_path.glob("out.*"))
    assert Path("in.wav").read_bytes() == before


def test_options_that_do_not_go_together_are_refused() -> None:
    wrong = {
        ("hear",): "either --profile or --all",
        ("hear", "--all", "--profile", "worst"): "either --profile or --all",
        ("hear", "--profile", "worst", "--text", "..."): "nothing to say",
        ("hear", "--profile", "worst", "--voice", "jim"): "no voice named 'jim'",
        ("wer", "--device", "tpu"): "expected cpu or cuda",
        ("wer", "--voices", "joe,jim"): "no voice named 'jim'",
        ("wer", "--utterances", "none.yaml"): "none.yaml: cannot be read",
    }
    for args, message in wrong.items():
        ran = CliRunner().invoke(app, ["line", *args])
        assert isinstance(ran.exception, UsageError), (args, ran.exception)
        assert message in ran.exception.one_line()
