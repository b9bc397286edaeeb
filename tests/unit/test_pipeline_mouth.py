"""The silence before an answer's first sound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callm_voice.pipeline.mouth import SILENCE_BELOW, leading_silence_ms, without_lead

pytestmark = pytest.mark.unit
RATE_HZ = 8000


def sound(lead_ms: int, *, level: int = 5000, breath: int = 30) -> np.ndarray:
    """(samples,) int16: a breath, then 100 ms of a tone that begins at its full height."""
    tone = np.where(np.arange(RATE_HZ // 10) % 8 < 4, level, -level)
    return np.concatenate([np.full(lead_ms * RATE_HZ // 1000, breath), tone]).astype(np.int16)


@given(lead_ms=st.integers(0, 400), keep_ms=st.integers(0, 200))
def test_the_lead_is_cut_down_and_no_sound_is_lost(lead_ms: int, keep_ms: int) -> None:
    whole = sound(lead_ms)
    left = without_lead(whole, RATE_HZ, keep_ms=keep_ms)
    assert leading_silence_ms(left, RATE_HZ) == min(lead_ms, keep_ms)
    np.testing.assert_array_equal(left, whole[whole.size - left.size :])


def test_a_voice_that_is_soft_throughout_stays_whole() -> None:
    soft = sound(50, level=SILENCE_BELOW - 1)
    np.testing.assert_array_equal(without_lead(soft, RATE_HZ, keep_ms=0), soft)
