"""G.711 against the decision and output values of ITU-T G.711, tables 1a to 2b, built here from their segments."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from callm_voice.audio.codecs import make_codec

pytestmark = pytest.mark.golden

LAWS = ["pcmu", "pcma"]
EVERY_INPUT = np.arange(-32768, 32768)
EVERY_CODE = bytes(range(256))
Ints = NDArray[np.int_]


def tables(law: str) -> tuple[Ints, Ints]:
    """Decision values x(0..128) and output values y(0..127) of the positive half, on the scale of int16.

    µ-law: x is 0, 1, then fifteen steps of 2 and seven times sixteen steps of 4, 8, ... up to 8159 (14 bit).
    A-law: twice sixteen steps of 2, then sixteen of 4, 8, ... up to 4096 (13 bit).
    An output value lies in the middle of its interval, but for y(0) = 0 of the µ-law.
    """
    decisions = [0, 1] if law == "pcmu" else [0]
    for segment in range(8):
        step = 2 ** (segment + 1) if law == "pcmu" else 2 ** max(segment, 1)
        steps = 15 if law == "pcmu" and segment == 0 else 16
        for _ in range(steps):
            decisions.append(decisions[-1] + step)
    x = np.array(decisions)
    y = (x[:-1] + x[1:]) // 2
    if law == "pcmu":
        y[0] = 0
    scale = 4 if law == "pcmu" else 8
    return x * scale, y * scale


def code_of(law: str, number: Ints, positive: NDArray[np.bool_]) -> Ints:
    """The code on the wire: sign bit 1 for positive; µ-law inverts the seven others, A-law every second one."""
    return np.where(positive, number | 0x80, number) ^ (0x7F if law == "pcmu" else 0x55)


def quantise(decisions: Ints, values: Ints) -> Ints:
    """Interval number of each absolute value."""
    return np.clip(np.searchsorted(decisions, np.abs(values), side="right") - 1, 0, 127)


def encoded(law: str) -> Ints:
    payload = make_codec(law, 8000).encode(EVERY_INPUT.astype(np.int16))
    return np.frombuffer(payload, dtype=np.uint8).astype(int)


@pytest.mark.parametrize(("law", "virtual", "top"), [("pcmu", 8159 * 4, 8031 * 4), ("pcma", 4096 * 8, 4032 * 8)])
def test_the_reference_ends_where_the_recommendation_does(law: str, virtual: int, top: int) -> None:
    x, y = tables(law)
    assert (len(x), len(y), int(x[-1]), int(y[-1])) == (129, 128, virtual, top)


@pytest.mark.parametrize("law", LAWS)
def test_every_code_decodes_to_its_output_value(law: str) -> None:
    _, y = tables(law)
    expected = np.zeros(256, dtype=int)
    for positive in (True, False):
        number = np.arange(128)
        expected[code_of(law, number, np.full(128, positive))] = y if positive else -y
    assert make_codec(law, 8000).decode(EVERY_CODE).tolist() == expected.tolist()


@pytest.mark.parametrize(("law", "exceptions"), [("pcmu", {0x7F: 0xFF}), ("pcma", {})])
def test_every_code_round_trips_but_negative_zero(law: str, exceptions: dict[int, int]) -> None:
    """µ-law 0x7F is negative zero: int16 has one zero, which is sent as 0xFF."""
    codec = make_codec(law, 8000)
    again = codec.encode(codec.decode(EVERY_CODE))
    assert {code: new for code, new in zip(EVERY_CODE, again, strict=True) if code != new} == exceptions


@pytest.mark.parametrize("law", LAWS)
def test_the_encoder_is_the_nearest_output_value_of_the_input_without_its_two_lowest_bits(law: str) -> None:
    """What FFmpeg does, for every input: the middle between two output values decides, after rounding down to a
    multiple of 4 (the 14-bit resolution of the µ-law)."""
    _, y = tables(law)
    middles = np.concatenate([[0], (y[:-1] + y[1:] + 1) // 2])
    reduced = EVERY_INPUT & ~3
    expected = code_of(law, quantise(middles, reduced), EVERY_INPUT >= 0)
    differ = np.flatnonzero(encoded(law) != expected)
    assert EVERY_INPUT[differ].tolist() == []


@pytest.mark.parametrize(("law", "count"), [("pcmu", 851), ("pcma", 849)])
def test_the_encoder_differs_from_the_decision_values_only_beside_them(law: str, count: int) -> None:
    """Against the Recommendation's decision values: a fixed number of inputs, the neighbouring code, never more than
    the two dropped bits worse."""
    x, y = tables(law)
    expected = code_of(law, quantise(x, EVERY_INPUT), EVERY_INPUT >= 0)
    actual = encoded(law)
    differ = np.flatnonzero(actual != expected)
    output = make_codec(law, 8000).decode(EVERY_CODE).astype(int)
    error, error_itu = (np.abs(output[c[differ]] - EVERY_INPUT[differ]) for c in (actual, expected))
    number, number_itu = (np.searchsorted(y, np.abs(output[c[differ]])) for c in (actual, expected))
    assert len(differ) == count
    assert set(np.abs(number - number_itu)) == {1}
    assert np.max(error - error_itu) <= 2 * 3
