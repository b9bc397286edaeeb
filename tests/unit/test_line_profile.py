"""Line profiles: the shipped ones, and one clear line for each mistake in a user's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.core import paths
from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.line.profile import all_profiles, load_profile

pytestmark = pytest.mark.unit

GOOD = {
    "id": "mine",
    "title": "My line",
    "rate_hz": "8000",
    "codec": "pcmu",
    "band_hz": "[300, 3400]",
    "gain_db": "-6.5",
    "ptime_ms": "20",
}


def write(folder: Path, **changes: str | None) -> Path:
    """`mine.yaml` with some keys changed, added, or (None) left out."""
    keys = {**GOOD, **changes}
    path = folder / "mine.yaml"
    path.write_text("".join(f"{k}: {v}\n" for k, v in keys.items() if v is not None))
    return path


@pytest.mark.parametrize(
    ("name", "rate_hz", "codec", "band_hz", "frame_samples"),
    [
        ("clean-16k", 16_000, "l16", None, 320),
        ("pstn-g711u", 8000, "pcmu", (300, 3400), 160),
        ("pstn-g711a", 8000, "pcma", (300, 3400), 160),
    ],
)
def test_the_shipped_profiles(
    name: str, rate_hz: int, codec: str, band_hz: tuple[float, float] | None, frame_samples: int
) -> None:
    profile = load_profile(name)
    assert (profile.id, profile.rate_hz, profile.codec, profile.band_hz) == (name, rate_hz, codec, band_hz)
    assert profile.frame_samples == frame_samples


@pytest.mark.parametrize("path", sorted(paths.search_dirs("audio_profiles")[-1].glob("*.yaml")), ids=lambda p: p.stem)
def test_every_value_of_a_shipped_profile_has_its_source_in_a_comment(path: Path) -> None:
    values = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "id:", "title:"))]
    assert values
    assert [line for line in values if "#" not in line] == []


def test_a_profile_is_loaded_from_a_path(tmp_path: Path) -> None:
    profile = load_profile(str(write(tmp_path)))
    assert (profile.title, profile.band_hz, profile.gain_db) == ("My line", (300, 3400), -6.5)


def test_level_and_packet_time_have_defaults(tmp_path: Path) -> None:
    profile = load_profile(str(write(tmp_path, gain_db=None, ptime_ms=None)))
    assert (profile.gain_db, profile.ptime_ms) == (0.0, 20)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match=r"no line profile named 'isdn'.*pstn-g711a, pstn-g711u"):
        load_profile("isdn")


@pytest.mark.parametrize(
    ("changes", "line", "key", "expectation"),
    [
        ({"rate_hz": "11025"}, 3, "rate_hz", "8000 or 16000"),
        ({"rate_hz": "8 kHz"}, 3, "rate_hz", "8000 or 16000"),
        ({"rate_hz": "'8000'"}, 3, "rate_hz", "8000 or 16000"),
        ({"codec": "g711"}, 4, "codec", "expected one of l16, pcmu, pcma, "),
        ({"rate_hz": "16000"}, 4, "codec", "pcmu is a codec of 8000 Hz, but rate_hz is 16000"),
        ({"band_hz": "[3400, 300]"}, 5, "band_hz", "low < high"),
        ({"band_hz": "[300, 4000]"}, 5, "band_hz", "high < 4000"),
        ({"band_hz": "[0, 3400]"}, 5, "band_hz", "0 < low"),
        ({"band_hz": "[300]"}, 5, "band_hz", "required"),
        ({"band_hz": "300-3400"}, 5, "band_hz", "valid tuple"),
        ({"band_hz": "['300 Hz', 3400]"}, 5, "band_hz", "valid number"),
        ({"gain_db": "3 dB"}, 6, "gain_db", "valid number"),
        ({"gain_db": "21"}, 6, "gain_db", "less than or equal to 20"),
        ({"gain_db": ".nan"}, 6, "gain_db", "valid number"),
        ({"ptime_ms": "30"}, 7, "ptime_ms", "20"),
        ({"id": "other"}, 1, "id", "expected 'mine'"),
        ({"id": "Not An Id"}, 1, "id", "match pattern"),
        ({"band_khz": "[0.3, 3.4]"}, 8, "band_khz", "unknown key"),
        ({"gain": "3"}, 8, "gain", "unknown key"),
        ({"band_hz": None}, None, "band_hz", "required and missing"),
    ],
)
def test_a_mistake_names_file_line_key_and_expectation(
    tmp_path: Path, changes: dict[str, str | None], line: int | None, key: str, expectation: str
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(ConfigError) as raised:
        load_profile(str(path))
    where = f"{path}:{line}: {key}" if line else f"{path}: {key}"
    assert raised.value.one_line().startswith(where)
    assert expectation in raised.value.one_line()
    assert raised.value.exit_code == 2


def nested(text: str) -> dict[str, str | None]:
    """A key with a mapping below it, as one more line of `mine.yaml`."""
    key, _, value = text.partition(": ")
    return {key: value}


@pytest.mark.parametrize(
    ("changes", "key", "expectation"),
    [
        ({"codec": "amr", "codec_mode": "'13'"}, "codec_mode", "'4.75', '5.15'"),
        ({"codec_mode": "'12.2'"}, "codec_mode", "expected for pcmu null: it has one bit rate; found 12.2"),
        ({"codec": "amr", "codec_mode": "12.2"}, "codec_mode", "valid string"),
        (nested("tandem: [{codec: g722}]"), "tandem", "g722 is a codec of 16000 Hz, but rate_hz is 8000"),
        (nested("tandem: [{codec: amr, codec_mode: '9'}]"), "tandem", "expected for amr one of"),
        (nested("tandem: [{codec: pcma, mode: x}]"), "tandem.0.mode", "unknown key"),
        (nested("microphone: {noise: {kind: rain, snr_db: 10}}"), "microphone.noise.kind", "'street', 'cafe', 'car'"),
        (nested("microphone: {noise: {kind: car}}"), "microphone.noise.snr_db", "required and missing"),
        (nested("microphone: {noise: {kind: car, snr: 10}}"), "microphone.noise", "snr"),
        (nested("microphone: {speech_dbov: 3}"), "microphone.speech_dbov", "less than or equal to -10"),
        (nested("network: {loss: {kind: independent, rate_percent: 5}}"), "network.buffer", "required and missing"),
        (nested("network: {buffer: {kind: fixed, depth_ms: 30}}"), "network.buffer", "multiple of 20"),
        (nested("network: {buffer: {kind: fixed, depth_ms: 600}}"), "network.buffer", "less than or equal to 240"),
        (nested("network: {buffer: {kind: adaptive, min_ms: 80, max_ms: 80}}"), "network.buffer", "min_ms < max_ms"),
        (nested("network: {buffer: {kind: elastic}}"), "network.buffer", "'fixed', 'adaptive'"),
        (
            nested(
                "network: {buffer: {kind: fixed, depth_ms: 40}, "
                "loss: {kind: gilbert_elliott, rate_percent: 50, mean_burst_packets: 0.5}}"
            ),
            "network.loss",
            "greater than or equal to 1",
        ),
    ],
)
def test_a_mistake_in_a_nested_key_is_one_clear_line(
    tmp_path: Path, changes: dict[str, str | None], key: str, expectation: str
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(ConfigError) as raised:
        load_profile(str(path))
    assert raised.value.one_line().startswith(f"{path}:")
    assert f" {key}" in raised.value.one_line()
    assert expectation in raised.value.one_line()


def test_there_are_the_profiles_that_the_documentation_promises() -> None:
    found = {profile.id for profile in all_profiles()}
    assert found >= {
        "clean-16k", "pstn-g711u", "pstn-g711a", "pstn-g726", "mobile-amr-12k2", "mobile-amr-4k75", "mobile-gsm",
        "voip-opus-nb", "hd-opus-wb", "hd-g722", "tandem-mobile-pstn", "loss-mobile", "loss-bad", "loss-awful",
        "speakerphone", "worst",
        *(f"noise-{kind}-{snr}" for kind in ("street", "cafe", "car") for snr in (20, 10, 5)),
    }  # fmt: skip
