"""ITU-T G.726 ADPCM at 16, 24, 32 and 40 kbit/s between uniform PCM (Annex A), packed as in RTP.

Ours, because FFmpeg's encoder is reached through PyAV in packets of a quarter of a second only, and its decoder costs
1.5 to 3 % of real time. The golden tests hold it against the Recommendation's arithmetic written out once more, and
that against FFmpeg and libsndfile, each but for the one or two places where they leave the Recommendation.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.codec_ffmpeg import need_one_packet, silence
from callm_voice.audio.pcm import Pcm

SAMPLES = 160
"""Of one packet."""


@dataclass(frozen=True)
class _Rate:
    """The tables of one bit rate, by the number of the interval (the code without its sign)."""

    bits: int
    """In one code."""
    decisions: tuple[int, ...]
    """Lower ends of the intervals from the second on, as base-2 logarithms times 128."""
    levels: tuple[int, ...]
    """Quantizer output, likewise (`RECONST`)."""
    weights: tuple[int, ...]
    """Scale factor multipliers (`FUNCTW`)."""
    speeds: tuple[int, ...]
    """`FUNCTF`."""


G726_RATES = {
    "16": _Rate(bits=2, decisions=(261,), levels=(116, 365), weights=(-22, 439), speeds=(0, 7)),
    "24": _Rate(
        bits=3,
        decisions=(8, 218, 331),
        levels=(-2048, 135, 273, 373),
        weights=(-4, 30, 137, 582),
        speeds=(0, 1, 2, 7),
    ),
    "32": _Rate(
        bits=4,
        decisions=(-124, 80, 178, 246, 300, 349, 400),
        levels=(-2048, 4, 135, 213, 273, 323, 373, 425),
        weights=(-12, 18, 41, 64, 112, 198, 355, 1122),
        speeds=(0, 0, 0, 1, 1, 1, 3, 7),
    ),
    "40": _Rate(
        bits=5,
        decisions=(-122, -16, 68, 139, 198, 250, 298, 339, 378, 413, 445, 475, 502, 528, 553),
        levels=(-2048, -66, 28, 104, 169, 224, 274, 318, 358, 395, 429, 459, 488, 514, 539, 566),
        weights=(14, 14, 24, 39, 40, 41, 58, 100, 141, 179, 219, 280, 358, 440, 529, 696),
        speeds=(0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 6),
    ),
}
"""kbit/s -> tables 2 and 7 to 14 of the Recommendation."""


class G726:
    """G.726 at one rate.

    Args:
        kbit_per_s: one of `G726_RATES`.
    """

    name = "g726"
    rate_hz = 8000
    delay_samples = 0
    frame_samples: int | None = SAMPLES

    def __init__(self, kbit_per_s: str) -> None:
        self.mode: str | None = kbit_per_s
        rate = G726_RATES[kbit_per_s]
        self._bits = rate.bits
        self._kernel = _warm_kernel()
        self._decisions = np.array(rate.decisions, dtype=np.int64)
        self._tables = np.array([rate.levels, rate.weights, rate.speeds], dtype=np.int64)
        self._encoder = self._kernel.new_state()
        self._decoder = self._kernel.new_state()

    def encode(self, frame: Pcm) -> bytes:
        need_one_packet(self.name, frame, SAMPLES)
        pcm = frame.astype(np.int16)  # a copy: numba compiles once more for an array that may not be written
        return pack_codes(
            self._kernel.encode(pcm, self._encoder, self._decisions, self._tables, self._bits), self._bits
        )

    def decode(self, payload: bytes) -> Pcm:
        """Any bytes of one packet's length are codes; another length is heard as silence."""
        if len(payload) != SAMPLES * self._bits // 8:
            return silence(self.rate_hz)
        pcm: Pcm = self._kernel.decode(unpack_codes(payload, self._bits), self._decoder, self._tables, self._bits)
        return pcm

    def conceal(self) -> Pcm | None:
        return None


def pack_codes(codes: NDArray[np.uint8], bits: int) -> bytes:
    """RFC 3551 §4.5.4: the first code in the least significant bits of the first octet."""
    each = np.unpackbits(codes[:, np.newaxis], axis=1, bitorder="little", count=bits)
    return np.packbits(each.ravel(), bitorder="little").tobytes()


def unpack_codes(payload: bytes, bits: int) -> NDArray[np.uint8]:
    """The codes of a payload that holds a whole number of them."""
    each = np.unpackbits(np.frombuffer(payload, dtype=np.uint8), bitorder="little").reshape(-1, bits)
    return np.packbits(each, axis=1, bitorder="little")[:, 0]


@cache
def _warm_kernel() -> ModuleType:
    """The compiled arithmetic. It is compiled, or read from disk, when the first codec is opened: not on a tick."""
    kernel = importlib.import_module("callm_voice.audio.codec_g726_kernel")
    tables = np.zeros((3, 2), dtype=np.int64)
    codes = kernel.encode(np.zeros(1, np.int16), kernel.new_state(), np.zeros(1, np.int64), tables, 2)
    kernel.decode(codes, kernel.new_state(), tables, 2)
    return kernel
