"""Opus: the filter behind the decoder, and concealment by libopus."""

from __future__ import annotations

import numpy as np
import pytest
from support.audio_speech import best_lag, speech_like

from callm_voice.audio.codec_opus import DECODER_HZ, Decimator
from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import Pcm, level_dbov, split_frames

pytestmark = pytest.mark.unit

RATES_HZ = [8000, 16_000]
PACKET = 960


def decimated(pcm: Pcm, rate_hz: int) -> Pcm:
    decimator = Decimator(DECODER_HZ // rate_hz, PACKET)
    return np.concatenate([decimator.process(frame) for frame in split_frames(pcm, PACKET)])


def tone(hz: float) -> Pcm:
    return (16_000 * np.sin(2 * np.pi * hz * np.arange(DECODER_HZ) / DECODER_HZ)).astype(np.int16)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("share", [0.01, 0.2, 0.425])
def test_the_band_of_a_telephone_passes_unchanged(rate_hz: int, share: float) -> None:
    """Up to 3.4 kHz of 8 kHz."""
    sent = tone(share * rate_hz)
    assert level_dbov(decimated(sent, rate_hz)) == pytest.approx(level_dbov(sent), abs=0.1)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("share", [0.58, 0.8, 1.3])
def test_what_would_fold_back_is_50_db_down(rate_hz: int, share: float) -> None:
    sent = tone(share * rate_hz)
    heard = decimated(sent, rate_hz)[rate_hz // 10 :]  # the tone's sudden begin has all frequencies
    assert level_dbov(heard) < level_dbov(sent) - 50


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_the_filter_is_late_by_sixteen_samples(rate_hz: int) -> None:
    click = np.zeros(DECODER_HZ // 10, np.int16)
    click[PACKET] = 30_000
    assert int(np.argmax(np.abs(decimated(click, rate_hz)))) == rate_hz // 50 + 16


def test_a_lost_packet_in_a_vowel_is_filled_with_the_vowel() -> None:
    """One packet in ten is lost; what libopus puts there is nearer to the sound than silence is."""
    t = np.arange(8000) / 8000
    vowel = sum(5000 / k * np.sin(2 * np.pi * 150 * k * t) for k in range(1, 8)).astype(np.int16)
    codec = make_codec("opus", 8000)
    heard = []
    for n, frame in enumerate(split_frames(vowel, 160)):
        payload = codec.encode(frame)
        heard.append(codec.conceal() if n % 10 == 9 else codec.decode(payload))
    lost = np.concatenate([np.arange(n * 160, n * 160 + 160) for n in range(9, 49, 10)])
    meant = vowel[lost - codec.delay_samples].astype(float)
    error = np.concatenate(heard)[lost] - meant
    assert np.mean(error**2) < 0.5 * np.mean(meant**2)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_concealment_keeps_the_delay(rate_hz: int) -> None:
    """Every third packet of the first second is lost; the two seconds after it are as late as ever."""
    codec = make_codec("opus", rate_hz)
    said = speech_like(rate_hz, 3.0)
    heard = []
    for n, frame in enumerate(split_frames(said, rate_hz // 50)):
        payload = codec.encode(frame)
        heard.append(codec.conceal() if n < 50 and n % 3 == 2 else codec.decode(payload))
    lag = best_lag(said[rate_hz:], np.concatenate(heard)[rate_hz:], rate_hz // 25)
    assert lag == pytest.approx(codec.delay_samples, abs=1)
