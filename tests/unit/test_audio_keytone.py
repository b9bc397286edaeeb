"""A key's tone for as long as it is wanted."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.keytone import KeyTone
from callm_voice.audio.tones import KEYS, DtmfDetector
from callm_voice.core.errors import NotFoundError

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_recognised(key: str, rate_hz: int) -> None:
    sound = KeyTone(key, rate_hz).next(rate_hz // 10)
    assert DtmfDetector(rate_hz).push(np.pad(sound, (0, rate_hz // 10))) == [key]


def test_however_it_is_split_it_is_the_same_sound() -> None:
    whole, pieces = KeyTone("5", 8000), KeyTone("5", 8000)
    assert np.array_equal(whole.next(800), np.concatenate([pieces.next(n) for n in (160, 1, 479, 160)]))


@pytest.mark.parametrize("key", ["", "E", "12"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(NotFoundError):
        KeyTone(key, 8000)
