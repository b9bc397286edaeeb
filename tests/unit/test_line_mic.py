"""The caller's end: active speech level, noise at a set ratio to it, room and echo."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from support.line_sounds import phrase, turns

from callm_voice.audio.pcm import Pcm, level_dbov, split_frames
from callm_voice.line.band import BandFilter
from callm_voice.line.mic import CallerMicrophone
from callm_voice.line.noise import NoiseKind, NoiseStream
from callm_voice.line.profile import LineProfile
from callm_voice.line.room import Convolver, room_response
from callm_voice.line.speechlevel import SpeechLevelMeter

pytestmark = pytest.mark.unit

KINDS: tuple[NoiseKind, ...] = ("street", "cafe", "car", "pink")


def profile(rate_hz: int = 8000, **microphone: object) -> LineProfile:
    band = (300, 3400) if rate_hz == 8000 else (50, 7000)
    given = {"id": "x", "title": "x", "rate_hz": rate_hz, "codec": "l16", "band_hz": band, "microphone": microphone}
    return LineProfile.model_validate(given)


def through(microphone: CallerMicrophone, pcm: Pcm, far: Pcm | None = None) -> Pcm:
    frames = split_frames(pcm, microphone.profile.frame_samples)
    others = split_frames(far, microphone.profile.frame_samples) if far is not None else [None] * len(frames)
    return np.concatenate([microphone.process(a, b) for a, b in zip(frames, others, strict=True)])


def active_level(pcm: Pcm, rate_hz: int = 8000) -> float:
    meter = SpeechLevelMeter(rate_hz)
    meter.push(pcm[: pcm.size // 80 * 80].astype(float))
    assert meter.level is not None
    return meter.level[0]


def test_the_active_level_of_a_tone_is_its_level_and_pauses_do_not_count() -> None:
    """ITU-T P.56: a tone for 4 s, then silence for 6: the level is the tone's, the activity 40 % (and a hangover)."""
    tone = (3000 * np.sin(2 * np.pi * 1000 * np.arange(32_000) / 8000)).astype(np.int16)
    meter = SpeechLevelMeter(8000)
    for packet in split_frames(np.concatenate([tone, np.zeros(48_000, np.int16)]), 160):
        meter.push(packet.astype(float))
    assert meter.level is not None
    level, active_s = meter.level
    assert level == pytest.approx(level_dbov(tone), abs=0.3)
    assert active_s == pytest.approx(4.0, abs=0.35)


def test_the_level_does_not_depend_on_how_the_sound_is_split() -> None:
    pcm = phrase(8000, 3.0).astype(float)
    levels = []
    for size in (80, 160, 800, 24_000):
        meter = SpeechLevelMeter(8000)
        for at in range(0, pcm.size, size):
            meter.push(pcm[at : at + size])
        levels.append(meter.level)
    assert levels == [pytest.approx(levels[0], abs=1e-6)] * 4


def test_without_sound_there_is_no_level() -> None:
    meter = SpeechLevelMeter(8000)
    assert meter.level is None
    meter.push(np.zeros(8000))
    assert meter.level is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rate_hz", "edges"), [(8000, (300, 3400)), (16_000, (50, 7000)), (16_000, None)])
def test_a_minute_of_noise_has_its_level_in_the_band(
    kind: NoiseKind, rate_hz: int, edges: tuple[float, float] | None
) -> None:
    band = BandFilter(*edges, rate_hz) if edges else None
    sound = NoiseStream(kind, rate_hz, 5, band).take(60 * rate_hz)
    heard = BandFilter(*edges, rate_hz).filter(sound) if edges else sound
    assert 10 * np.log10(np.mean(np.square(heard))) == pytest.approx(0.0, abs=0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_depends_on_the_seed_alone_and_not_on_how_it_is_asked_for(kind: NoiseKind) -> None:
    whole = NoiseStream(kind, 8000, 3, None).take(40_000)
    stream = NoiseStream(kind, 8000, 3, None)
    assert np.array_equal(np.concatenate([stream.take(n) for n in (1, 159, 160, 9680, 30_000)]), whole)
    assert not np.array_equal(NoiseStream(kind, 8000, 4, None).take(40_000), whole)


def power_db(sound: np.ndarray, low_hz: float, high_hz: float, rate_hz: int = 16_000) -> float:
    hz, power = signal.welch(sound, rate_hz, nperseg=4096)
    return float(10 * np.log10(power[(hz >= low_hz) & (hz < high_hz)].mean()))


def test_car_noise_is_low_and_street_noise_less_so() -> None:
    slopes = {}
    for kind in ("car", "street"):
        sound = NoiseStream(kind, 16_000, 1, None).take(30 * 16_000)
        slopes[kind] = power_db(sound, 60, 200) - power_db(sound, 2000, 4000)
    assert slopes["car"] > slopes["street"] > 10


def test_street_noise_swells_when_somebody_passes_and_pink_noise_does_not() -> None:
    spread = {}
    for kind in ("street", "pink"):
        sound = NoiseStream(kind, 8000, 2, BandFilter(300, 3400, 8000)).take(40 * 8000)
        seconds = np.sqrt(np.mean(np.square(sound.reshape(-1, 4000)), axis=1))
        spread[kind] = 20 * np.log10(np.percentile(seconds, 95) / np.percentile(seconds, 20))
    assert spread["street"] > 5
    assert spread["pink"] < 2.5


def test_babble_goes_up_and_down_like_speech() -> None:
    """Speech is modulated at the rate of syllables, 2 to 8 Hz; steady noise is not."""
    depth = {}
    for kind in ("cafe", "pink"):
        sound = NoiseStream(kind, 8000, 2, BandFilter(300, 3400, 8000)).take(30 * 8000)
        envelope = np.sqrt(np.mean(np.square(sound.reshape(-1, 160)), axis=1))
        hz, power = signal.welch(envelope / envelope.mean() - 1, 50, nperseg=256)
        depth[kind] = power[(hz >= 2) & (hz <= 8)].sum()
    assert depth["cafe"] > 4 * depth["pink"]


@pytest.mark.parametrize(("kind", "snr_db"), [("street", 10.0), ("cafe", 10.0), ("car", 10.0), ("cafe", 5.0)])
def test_a_set_ratio_is_the_measured_one_when_the_level_of_speech_is_known(kind: NoiseKind, snr_db: float) -> None:
    pcm, spec = turns(8000, seed=3), {"noise": {"kind": kind, "snr_db": snr_db}}
    level = CallerMicrophone(profile(), 1).level_of(split_frames(pcm, 160))
    spoken = BandFilter(300, 3400, 8000).process(through(CallerMicrophone(profile(), 1, level), pcm))
    silence = np.zeros(60 * 8000, np.int16)
    noise = BandFilter(300, 3400, 8000).process(through(CallerMicrophone(profile(**spec), 1, level), silence))
    assert active_level(spoken) == pytest.approx(-26, abs=0.1)
    assert active_level(spoken) - level_dbov(noise) == pytest.approx(snr_db, abs=0.5)


def test_a_level_that_is_measured_on_the_way_comes_within_a_decibel() -> None:
    pcm = turns(8000, phrases=8, seed=5)
    spoken = BandFilter(300, 3400, 8000).process(through(CallerMicrophone(profile(), 1), pcm))
    assert active_level(spoken) == pytest.approx(-26, abs=1.0)


def test_the_gain_changes_without_a_step() -> None:
    tone = (3000 * np.sin(2 * np.pi * 500 * np.arange(16_000) / 8000)).astype(np.int16)
    out = through(CallerMicrophone(profile(), 1), tone).astype(int)
    step = 3000 * 2 * np.pi * 500 / 8000
    assert np.abs(np.diff(out)).max() < step
    borders = np.abs(np.diff(out, 2))[159::160]
    assert borders.max() <= np.abs(np.diff(out, 2)).max()


def test_a_gain_error_is_drawn_once_a_call_within_its_bounds() -> None:
    drawn = [CallerMicrophone(profile(gain_error_db=6.0), seed).gain_error_db for seed in range(80)]
    assert max(drawn) <= 6
    assert min(drawn) >= -6
    assert np.std(drawn) == pytest.approx(6 / np.sqrt(3), rel=0.2)
    assert CallerMicrophone(profile(gain_error_db=6.0), 7).gain_error_db == drawn[7]


def test_a_room_has_energy_1_and_dies_away_in_its_time() -> None:
    response = room_response(np.random.default_rng(2), 16_000, 300.0, 0.0)
    assert np.sum(response**2) == pytest.approx(1)
    direct, rest = response[0] ** 2, np.sum(response[1:] ** 2)
    assert 10 * np.log10(direct / rest) == pytest.approx(0.0, abs=0.01)
    left = np.cumsum(response[:0:-1] ** 2)[::-1]
    decay_db = 10 * np.log10(left / left[0])
    at_20_db = int(np.flatnonzero(decay_db < -20)[0]) / 16_000
    assert at_20_db == pytest.approx(0.1, rel=0.25), "20 dB in a third of the time for 60"


def test_a_convolution_in_packets_is_the_convolution_of_the_whole() -> None:
    rng = np.random.default_rng(1)
    response, sound = rng.standard_normal(1234), rng.standard_normal(160 * 40)
    sound[160 * 5 : 160 * 25] = 0
    other = rng.standard_normal(500)
    convolver = Convolver([response, other], 160)
    out = np.concatenate([convolver.process(np.stack([f, 2 * f])) for f in sound.reshape(-1, 160)], axis=1)
    assert np.allclose(out[0], np.convolve(sound, response)[: sound.size])
    assert np.allclose(out[1], np.convolve(2 * sound, other)[: sound.size])


def test_the_echo_is_what_the_caller_hears_later_and_weaker() -> None:
    phone = {"reverberation_ms": 200.0, "direct_db": 5.0, "echo_loss_db": 30.0, "echo_delay_ms": 80.0}
    far = np.zeros(16_000, np.int16)
    far[1600:3200] = phrase(8000, 0.2)
    out = through(CallerMicrophone(profile(speakerphone=phone), 1), np.zeros(16_000, np.int16), far)
    assert not out[: 1600 + 480].any(), "80 ms, of which 20 are the packet's"
    energy = np.sum(out.astype(float) ** 2) / np.sum(far.astype(float) ** 2)
    assert 10 * np.log10(energy) == pytest.approx(-30, abs=1.5)


def test_without_an_echo_path_the_other_side_is_not_heard() -> None:
    phone = {"reverberation_ms": 200.0, "direct_db": 5.0}
    out = through(CallerMicrophone(profile(speakerphone=phone), 1), np.zeros(8000, np.int16), phrase(8000, 1.0))
    assert not out.any()
