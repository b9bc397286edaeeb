"""Codecs that code each sample by itself: linear PCM and G.711. No state, so a packet may have any length."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import Pcm

_SIGN_BIT = 0x80
"""Set for positive samples (G.711 tables 1 and 2)."""
_LINE_MASK = {"pcmu": 0x7F, "pcma": 0x55}
"""Bits that are inverted on the wire: all seven of the µ-law, every second one of the A-law."""
_INT16_STEPS = {"pcmu": 4, "pcma": 8}
"""Steps of int16 in one unit of the tables: 14 bit for the µ-law, 13 bit for the A-law."""


class L16:
    """Linear 16-bit PCM in network byte order (RFC 3551 §4.5.11): changes nothing."""

    name = "l16"
    mode: str | None = None
    delay_samples = 0
    frame_samples: int | None = None

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz

    def encode(self, frame: Pcm) -> bytes:
        return frame.astype(">i2").tobytes()

    def decode(self, payload: bytes) -> Pcm:
        """Half a sample at the end is dropped."""
        return np.frombuffer(payload, dtype=">i2", count=len(payload) // 2).astype(np.int16)

    def conceal(self) -> Pcm | None:
        return None


class G711:
    """G.711 by table: the code of the interval between two decision values, and the output value of each code.

    Args:
        name: `pcmu` or `pcma`.
    """

    rate_hz = 8000
    mode: str | None = None
    delay_samples = 0
    frame_samples: int | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self._codes, self._levels = g711_tables(name)

    def encode(self, frame: Pcm) -> bytes:
        return self._codes.take(frame.view(np.uint16)).tobytes()

    def decode(self, payload: bytes) -> Pcm:
        return self._levels.take(np.frombuffer(payload, dtype=np.uint8))

    def conceal(self) -> Pcm | None:
        return None


@cache
def g711_tables(name: str) -> tuple[NDArray[np.uint8], Pcm]:
    """The code of each int16, by its bits as uint16, shape (65536,); and the int16 of each code, shape (256,).

    A sample on a decision value belongs to the interval above it, on both sides of zero; int16 has one zero, and it is
    positive.
    """
    decisions, outputs = _positive_half(name)
    samples = np.arange(1 << 16, dtype=np.uint16).view(np.int16).astype(np.int32)
    number = np.clip(np.searchsorted(decisions, np.abs(samples), side="right") - 1, 0, 127)
    codes = np.where(samples >= 0, number | _SIGN_BIT, number) ^ _LINE_MASK[name]

    wire = np.arange(256) ^ _LINE_MASK[name]
    magnitudes = outputs[wire & ~_SIGN_BIT]
    levels = np.where(wire & _SIGN_BIT, magnitudes, -magnitudes)
    return codes.astype(np.uint8), levels.astype(np.int16)


def _positive_half(name: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Decision values x(0..128) and output values y(0..127) of ITU-T G.711 tables 1a and 2a, on the scale of int16.

    Eight segments of sixteen steps. µ-law: steps of 2, 4, 8, ... 256 after a first one of 1. A-law: 2, 2, 4, ... 128.
    An output value lies in the middle of its interval, but for y(0) = 0 of the µ-law.
    """
    first_step = 2
    if name == "pcmu":
        steps = np.repeat([first_step << segment for segment in range(8)], 16)
        steps[0] = 1
    else:
        steps = np.repeat([first_step << max(segment - 1, 0) for segment in range(8)], 16)
    decisions = np.concatenate([[0], np.cumsum(steps)])
    outputs = (decisions[:-1] + decisions[1:]) // 2  # 0 for the µ-law's first interval, 0 to 1
    scale = _INT16_STEPS[name]
    return (decisions * scale).astype(np.int32), (outputs * scale).astype(np.int32)
