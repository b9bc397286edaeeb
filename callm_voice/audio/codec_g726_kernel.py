"""The arithmetic of ITU-T G.726 (12/90) §4.2, block by block, compiled by numba. Block names are the Recommendation's.

All of it is integer arithmetic on one sample after the other, which plain Python does too slowly for a line in real
time. Importing this module imports numba (half a second). The first call compiles for some ten seconds; the machine
code is kept beside this file, or in numba's cache folder where that is not writable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
Ints = NDArray[np.int64]

# Places in the state, an int64 array.
YL, YU, DMS, DML, AP, TD, PK1, PK2 = range(8)
A = 8
"""a1, a2."""
B = 10
"""b1 to b6."""
SR = 16
"""sr1, sr2, each a sign, an exponent and a mantissa."""
DQ = 22
"""dq1 to dq6, likewise."""
STATE_SIZE = 40

_FLOAT = 3
_ZERO_MANTISSA = 32


def new_state() -> Ints:
    """A coder at reset: (STATE_SIZE,) int64."""
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    state[YL], state[YU] = 34_816, 544
    state[SR + 2 : STATE_SIZE : _FLOAT] = _ZERO_MANTISSA
    return state


def compiled(function: F) -> F:
    """`function` as machine code, kept on disk where that is possible."""
    try:
        fast: F = njit(cache=True)(function)
    except RuntimeError:  # numba finds no folder that it may write
        fast = njit(function)
    return fast


@compiled
def bit_length(value: int) -> int:
    length = 0
    while value:
        value >>= 1
        length += 1
    return length


@compiled
def wrap16(value: int) -> int:
    """Two's complement in 16 bits, as the adders of the Recommendation have it: coder and decoder overflow alike."""
    return ((value + 32_768) & 65_535) - 32_768


@compiled
def fmult(coefficient: int, state: Ints, at: int) -> int:
    """FMULT: a predictor coefficient times a signal that is kept as sign, exponent and mantissa at `at`."""
    magnitude = coefficient >> 2
    negative = magnitude < 0
    if negative:
        magnitude = -magnitude & 8191
    exponent = bit_length(magnitude)
    mantissa = (magnitude << 6) >> exponent if magnitude else _ZERO_MANTISSA
    exponent += state[at + 1]
    product: int = (state[at + 2] * mantissa + 48) >> 4
    product = (product << 7) >> (26 - exponent) if exponent <= 26 else ((product << 7) << (exponent - 26)) & 32_767
    return -product if negative != (state[at] != 0) else product


@compiled
def store_float(value: int, negative: bool, state: Ints, at: int) -> None:
    """FLOATA and FLOATB: a signal as sign, exponent and mantissa."""
    magnitude = abs(value)
    exponent = bit_length(magnitude)
    state[at] = negative
    state[at + 1] = exponent
    state[at + 2] = (magnitude << 6) >> exponent if magnitude else _ZERO_MANTISSA


@compiled
def predict(state: Ints) -> tuple[int, int]:
    """ACCUM: the signal estimate se and its part from the zeros, sez."""
    zeros = 0
    for n in range(6):
        zeros += fmult(state[B + n], state, DQ + _FLOAT * n)
    poles = fmult(state[A + 1], state, SR + _FLOAT) + fmult(state[A], state, SR)
    return wrap16(zeros + poles) >> 1, wrap16(zeros) >> 1


@compiled
def scale_factor(state: Ints) -> int:
    """LIMA and MIX: the quantizer's scale factor y, between the fast and the slow one."""
    speed = min(state[AP] >> 2, 64)
    slow: int = state[YL] >> 6
    difference = state[YU] - slow
    product: int = (abs(difference) * speed) >> 6
    return slow - product if difference < 0 else slow + product


@compiled
def quantize(difference: int, y: int, decisions: Ints) -> int:
    """LOG, SUBTB and QUAN: the number of the interval, without the sign."""
    magnitude = abs(difference)
    exponent = bit_length(magnitude >> 1)
    mantissa = ((magnitude << 7) >> exponent) & 127
    level = (exponent << 7) + mantissa - (y >> 2)
    number = 0
    while number < decisions.size and level >= decisions[number]:
        number += 1
    return number


@compiled
def reconstruct(number: int, y: int, levels: Ints) -> int:
    """RECONST, ADDA and ANTILOG: the magnitude of the quantized difference."""
    level: int = levels[number] + (y >> 2)
    if level < 0:
        return 0
    return (((level & 127) + 128) << 7) >> (14 - (level >> 7 & 15))


@compiled
def adapt_predictor(state: Ints, dq: int, negative: bool, sez: int, tr: bool, leak: int) -> None:
    """ADDC, UPA1, UPA2, LIMC, LIMD, UPB and TRIGB: the coefficients for the next sample."""
    total = wrap16(dq + sez)
    pk0 = 1 if total < 0 else 0
    a1, a2 = state[A], state[A + 1]
    towards = 0
    if total != 0:
        limited = max(-8191, min(8191, a1)) << 2
        towards = (16_384 if pk0 == state[PK2] else -16_384) + (limited if pk0 != state[PK1] else -limited)
    new_a2 = max(-12_288, min(12_288, a2 + (towards >> 7) - (a2 >> 7)))
    step = 0 if total == 0 else (192 if pk0 == state[PK1] else -192)
    bound = 15_360 - new_a2
    new_a1 = max(-bound, min(bound, a1 + step - (a1 >> 8)))
    for n in range(6):
        b = state[B + n]
        step = 0 if dq == 0 else (128 if negative == (state[DQ + _FLOAT * n] != 0) else -128)
        state[B + n] = 0 if tr else b + step - (b >> leak)
    state[A], state[A + 1] = (0, 0) if tr else (new_a1, new_a2)
    state[TD] = 0 if tr else new_a2 < -11_776
    state[PK2], state[PK1] = state[PK1], pk0


@compiled
def adapt_speed(state: Ints, y: int, rate: int, tr: bool, tone: bool) -> None:
    """FILTA, FILTB, SUBTC, FILTC and TRIGA: how fast the scale factor may change."""
    state[DMS] += ((rate << 9) - state[DMS]) >> 5
    state[DML] += ((rate << 11) - state[DML]) >> 7
    steady = y >= 1536 and not tone and abs((state[DMS] << 2) - state[DML]) < state[DML] >> 3
    state[AP] = 256 if tr else state[AP] + (((0 if steady else 512) - state[AP]) >> 4)


@compiled
def is_transition(state: Ints, magnitude: int) -> bool:
    """TRANS: a partial-band signal (a tone) was there, and the difference is large."""
    exponent = state[YL] >> 15
    threshold = 31 << 10 if exponent > 9 else (32 + (state[YL] >> 10 & 31)) << exponent
    return state[TD] == 1 and magnitude > (threshold + (threshold >> 1)) >> 1


@compiled
def update(state: Ints, number: int, negative: bool, y: int, se: int, sez: int, tables: Ints, leak: int) -> int:
    """All that encoder and decoder share once the code is known; the reconstructed signal, 14 bit."""
    magnitude = reconstruct(number, y, tables[0])
    dq = -magnitude if negative else magnitude
    sr = wrap16(se + dq)
    tr = is_transition(state, magnitude)
    adapt_predictor(state, dq, negative, sez, tr, leak)
    tone = state[TD] != 0
    state[YU] = max(544, min(5120, y + (((tables[1][number] << 5) - y) >> 5)))
    state[YL] += state[YU] + (-state[YL] >> 6)
    adapt_speed(state, y, tables[2][number], tr, tone)
    state[DQ + _FLOAT : STATE_SIZE] = state[DQ : STATE_SIZE - _FLOAT].copy()
    state[SR + _FLOAT : SR + 2 * _FLOAT] = state[SR : SR + _FLOAT]
    store_float(dq, negative, state, DQ)
    store_float(sr, sr < 0, state, SR)
    return sr


@compiled
def encode(pcm: NDArray[np.int16], state: Ints, decisions: Ints, tables: Ints, bits: int) -> NDArray[np.uint8]:
    """One code per sample, (samples,) uint8."""
    codes = np.empty(pcm.size, dtype=np.uint8)
    mask = (1 << bits) - 1
    leak = 9 if bits == 5 else 8
    for n in range(pcm.size):
        se, sez = predict(state)
        difference = (int(pcm[n]) >> 2) - se
        y = scale_factor(state)
        number = quantize(difference, y, decisions)
        negative = difference < 0
        code = number ^ mask if negative else number
        if code == 0 and bits > 2:  # the all-zero code is not sent
            code = mask
        codes[n] = code
        update(state, number, code >> (bits - 1) != 0, y, se, sez, tables, leak)
    return codes


@compiled
def decode(codes: NDArray[np.uint8], state: Ints, tables: Ints, bits: int) -> NDArray[np.int16]:
    """One sample per code, (samples,) int16, from 14 bit."""
    pcm = np.empty(codes.size, dtype=np.int16)
    mask = (1 << bits) - 1
    leak = 9 if bits == 5 else 8
    for n in range(codes.size):
        se, sez = predict(state)
        y = scale_factor(state)
        code = int(codes[n])
        negative = code >> (bits - 1) != 0
        number = code ^ mask if negative else code
        sr = update(state, number, negative, y, se, sez, tables, leak)
        pcm[n] = max(-8192, min(8191, sr)) * 4
    return pcm
