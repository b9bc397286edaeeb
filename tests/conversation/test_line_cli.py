"""`callm-voice line list` and `line apply` as a user runs them, on sound files of several kinds."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from callm_voice.audio.files import read_sound
from tests.support.cli import callm
from tests.support.line_sounds import phrase

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(600)]

OWN = """id: own
title: My own
rate_hz: 8000
codec: pcmu
band_hz: [300, 3400]
network: {loss: {kind: independent, rate_percent: 10.0}, buffer: {kind: fixed, depth_ms: 60}}
"""


def stereo_wav(path: Path, rate_hz: int = 44_100, seconds: float = 4.0) -> Path:
    sound = phrase(16_000, seconds).astype(np.float64) / 32768
    at = np.arange(int(seconds * rate_hz)) * 16_000 / rate_hz
    mono = np.interp(at, np.arange(sound.size), sound)
    soundfile.write(path, np.stack([mono, 0.5 * mono], axis=1), rate_hz, subtype="FLOAT")
    return path


def test_the_list_has_every_profile_and_ones_own(tmp_path: Path) -> None:
    (tmp_path / "audio_profiles").mkdir()
    (tmp_path / "audio_profiles/own.yaml").write_text(OWN)
    ran = callm("line", "list", "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    rows = {row["id"]: row for row in ran.json["profiles"]}
    assert len(rows) >= 15
    assert {"id", "title", "codec", "rate_hz", "mode", "loss", "noise", "delay_ms"} <= set(rows["own"])
    assert rows["own"]["loss"] == {"kind": "independent", "rate_percent": 10.0}
    assert rows["own"]["delay_ms"] == pytest.approx(60, abs=5)
    assert rows["mobile-amr-4k75"]["mode"] == "4.75"
    assert rows["clean-16k"]["delay_ms"] == 0


def test_a_stereo_file_of_44100_hz_goes_through_a_line_with_losses_and_the_report_adds_up(tmp_path: Path) -> None:
    source = stereo_wav(tmp_path / "in.wav")
    target = tmp_path / "new folder" / "out.wav"
    args = ("line", "apply", "--profile", "loss-bad", "--seed", "7", str(source), str(target), "--report", "--json")
    ran = callm(*args, cwd=tmp_path)
    assert ran.code == 0, ran.err
    document, out = ran.json, read_sound(target)
    assert out.rate_hz == document["rate_hz"] == 8000
    assert out.pcm.ndim == 1
    report, packets = document["report"], document["report"]["packets"]
    assert report["delay_stated_ms"][0] == report["delay_stated_ms"][1]
    assert report["delay_measured_ms"] == pytest.approx(report["delay_stated_ms"][0], abs=1.0)
    assert packets["lost"] + packets["late"] >= packets["concealed"] > 0
    assert packets["sent"] == pytest.approx(4.0 / 0.02, abs=6)
    assert report["level_out_dbov"] == pytest.approx(report["level_in_dbov"], abs=3)
    assert report["band_hz"] == pytest.approx([285, 3440], abs=30)
    assert (report["snr_db"], report["noise_dbov"]) == (None, None)
    first = target.read_bytes()
    again = callm(*args[:-2], cwd=tmp_path)
    assert again.code == 0
    assert again.out.strip() == str(target)
    assert target.read_bytes() == first


def test_a_file_that_libsndfile_does_not_know_and_noise_that_is_measured(tmp_path: Path) -> None:
    source, target = tmp_path / "in.m4a", tmp_path / "out.flac"
    with av.open(source, "w") as container:
        stream = container.add_stream("aac", rate=48_000)
        stream.layout = "stereo"
        sound = phrase(48_000, 4.0).astype(np.float32) / 32768
        frame = av.AudioFrame.from_ndarray(np.stack([sound, sound]), format="fltp", layout="stereo")
        frame.sample_rate = 48_000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    ran = callm("line", "apply", "--profile", "noise-car-10", str(source), str(target), "--report")
    assert ran.code == 0, ran.err
    assert "none: this profile has no network" in ran.out
    snr = next(line for line in ran.out.splitlines() if line.startswith("signal to noise"))
    assert float(snr.split()[3]) == pytest.approx(10, abs=2)  # of these four seconds; the road swings by 2 dB
    assert read_sound(target).rate_hz == 8000


def test_what_a_user_gets_wrong_is_one_line(tmp_path: Path) -> None:
    ran = callm("line", "apply", "--profile", "pstn-g711u", "missing.wav", "out.wav", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.error_lines == ["callm-voice: missing.wav: cannot be read: No such file or directory"]
