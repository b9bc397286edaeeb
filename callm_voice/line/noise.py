"""Noise at the caller's end, made up from a seed: street, café, car, pink. No recording is behind any of it.

A kind of noise is a sum of layers. A layer is a texture (noise with a spectrum, babble, clinking cups) times a slow
change of level (cars that pass). Sound is made a second at a time and depends on the seed alone, not on how it is
asked for. Levels are those *in the line's band*: what a band filter cuts away does not count, for nobody on the line
hears it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from callm_voice.core.ids import derive_seed

if TYPE_CHECKING:  # a profile is read without making sound, which takes SciPy: half of a worker's start
    from callm_voice.line.band import BandFilter

NoiseKind = Literal["street", "cafe", "car", "pink"]
BLOCK_MS = 960
"""Sound is made for so long at a time."""
FADE_MS = 64
"""Two pieces of coloured noise overlap so long, with sine and cosine for shares: their powers add up to 1. With a block
they are 1,024 ms, a power of two in samples."""
PERIOD_S = 20
"""A change of level is drawn for so long at a time and has a mean power of 1 over it."""
_ENVELOPE_HZ = 20

Samples = NDArray[np.floating[Any]]


class Texture(Protocol):
    """Steady sound with a mean power of 1 in the band."""

    def next(self, samples: int) -> Samples:
        """The next `samples`, shape (samples,)."""
        ...


class Band:
    """What of a sound counts.

    Args:
        rate_hz: of the sound.
        filter_: of the line; None: all that the rate carries counts.
    """

    def __init__(self, rate_hz: int, filter_: BandFilter | None) -> None:
        self.rate_hz = rate_hz
        self.low_hz = filter_.low_hz if filter_ else 50.0
        self._filter = filter_
        self._gains: dict[int, Samples] = {}

    def gains(self, size: int) -> Samples:
        """Gain in power at the frequencies of a Fourier transform over `size` samples."""
        if size not in self._gains:
            hz = np.fft.rfftfreq(size, 1 / self.rate_hz)
            self._gains[size] = self._filter.power_gains(hz) if self._filter else np.ones(hz.size)
        return self._gains[size]

    def energy(self, sound: Samples) -> float:
        """Sum of squares in the band."""
        size = 1 << int(sound.size - 1).bit_length()
        power = np.square(np.abs(np.fft.rfft(sound, size)))
        power[1:-1] *= 2
        return float(power @ self.gains(size)) / size

    def microphone(self, hz: Samples) -> Samples:
        """Gain in power of a microphone: a high-pass of the second order at half the line's lower edge."""
        ratio = (hz / (self.low_hz / 2)) ** 4
        return np.asarray(ratio / (1 + ratio))


class Coloured:
    """Gaussian noise with a spectrum.

    Args:
        density: power over Hz, in any unit.
    """

    def __init__(self, band: Band, seed: int, density: Callable[[Samples], Samples]) -> None:
        self._rng = np.random.default_rng(seed)
        self._size = (BLOCK_MS + FADE_MS) * band.rate_hz // 1000
        self._fade = FADE_MS * band.rate_hz // 1000
        hz = np.fft.rfftfreq(self._size, 1 / band.rate_hz)
        power = density(np.maximum(hz, 1.0)) * band.microphone(hz)
        power[0] = power[-1] = 0.0
        self._amplitude = np.sqrt(power) * self._size / (2 * np.sqrt(float(power @ band.gains(self._size))))
        self._turn = np.arange(1, self._fade + 1) * np.pi / 2 / (self._fade + 1)
        self._tail: Samples | None = None

    def next(self, samples: int) -> Samples:
        waves = self._rng.standard_normal((2, self._amplitude.size))
        sound = np.fft.irfft(self._amplitude * (waves[0] + 1j * waves[1]), self._size)
        if self._tail is not None:
            sound[: self._fade] = np.sin(self._turn) * sound[: self._fade] + np.cos(self._turn) * self._tail
        self._tail = sound[samples:]
        return np.asarray(sound[:samples])


class Clinks:
    """Cups and spoons: short high tones that die away, a few a second."""

    PER_S = 2.5

    def __init__(self, band: Band, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._rate_hz = band.rate_hz
        self._sounds = [self._sound() for _ in range(24)]
        energy = sum(band.energy(s) for s in self._sounds) / len(self._sounds)
        self._scale = (self.PER_S * energy / band.rate_hz) ** -0.5
        self._tail: Samples = np.zeros(0)

    def next(self, samples: int) -> Samples:
        out = np.zeros(samples + self._rate_hz)
        out[: self._tail.size] = self._tail
        for _ in range(self._rng.poisson(self.PER_S * samples / self._rate_hz)):
            sound = self._sounds[self._rng.integers(len(self._sounds))]
            at = int(self._rng.integers(samples))
            out[at : at + sound.size] += sound
        self._tail = out[samples:]
        return np.asarray(self._scale * out[:samples])

    def _sound(self) -> Samples:
        t = np.arange(int(0.12 * self._rate_hz)) / self._rate_hz
        tones_hz = self._rng.uniform(1500, 0.42 * self._rate_hz, (3, 1))
        tones = np.sin(2 * np.pi * tones_hz * t).sum(axis=0)
        return np.asarray(self._rng.uniform(0.2, 1.0) * np.exp(-t / self._rng.uniform(0.01, 0.03)) * tones)


Swing = Callable[[np.random.Generator, Samples], Samples]
"""Change of level in dB over the seconds of a period, the same at both ends."""


@dataclass(frozen=True)
class _Layer:
    texture: Texture
    power: float
    """Its share; all layers of a kind have 1 in sum."""
    swing: Swing | None = None


class NoiseStream:
    """One noise, as long as it is wanted, with a mean power of 1 in the band.

    Args:
        kind: which noise.
        rate_hz: of the sound.
        seed: of all draws.
        filter_: of the line; None: all that the rate carries counts.
    """

    def __init__(self, kind: NoiseKind, rate_hz: int, seed: int, filter_: BandFilter | None) -> None:
        self._rate_hz, self._seed = rate_hz, seed
        self._layers = _LAYERS[kind](Band(rate_hz, filter_), seed)
        self._block = BLOCK_MS * rate_hz // 1000
        self._made = 0
        self._ready: Samples = np.zeros(0)
        self._periods: dict[tuple[int, int], Samples] = {}

    def take(self, samples: int) -> Samples:
        """The next `samples`, shape (samples,)."""
        while self._ready.size < samples:
            self._ready = np.concatenate([self._ready, self._next_block()])
        out, self._ready = self._ready[:samples], self._ready[samples:]
        return out

    def _next_block(self) -> Samples:
        total = np.zeros(self._block)
        for index, layer in enumerate(self._layers):
            sound = np.sqrt(layer.power) * layer.texture.next(self._block)
            total += sound * self._factor(index, layer.swing) if layer.swing else sound
        self._made += self._block
        return total

    def _factor(self, index: int, swing: Swing) -> Samples:
        """The change of level over the block to come, as a factor."""
        at_s = (self._made + np.arange(self._block)) / self._rate_hz
        number = int(at_s[0] // PERIOD_S)
        both = np.concatenate([self._period(index, swing, n) for n in (number, number + 1)])
        grid_s = number * PERIOD_S + np.arange(both.size) / _ENVELOPE_HZ
        return np.asarray(np.interp(at_s, grid_s, both))

    def _period(self, index: int, swing: Swing, number: int) -> Samples:
        key = (index, number)
        if key not in self._periods:
            rng = np.random.default_rng(derive_seed(self._seed, "swing", index, number))
            factor = 10 ** (swing(rng, np.arange(PERIOD_S * _ENVELOPE_HZ) / _ENVELOPE_HZ) / 20)
            self._periods[key] = factor / np.sqrt(np.mean(np.square(factor)))
        return self._periods[key]


def _passing(rng: np.random.Generator, t_s: Samples) -> Samples:
    """Two to four vehicles: bells of 6 to 14 dB, some 1 to 3 s wide, that die away to 0 at the ends of the period."""
    swing = np.zeros(t_s.size)
    for _ in range(rng.integers(2, 5)):
        centre_s, width_s = rng.uniform(4, PERIOD_S - 4), rng.uniform(0.5, 1.3)
        swing = np.maximum(swing, rng.uniform(6, 14) * np.exp(-0.5 * ((t_s - centre_s) / width_s) ** 2))
    return np.asarray(swing)


def _road(rng: np.random.Generator, t_s: Samples) -> Samples:
    """The road's surface changes: some 2 dB up and down, slowly."""
    swing = np.zeros(t_s.size)
    for turns in rng.integers(1, 5, 3):
        swing += rng.uniform(0.2, 1.0) * np.sin(2 * np.pi * turns * t_s / PERIOD_S)
    return swing


def _street(band: Band, seed: int) -> list[_Layer]:
    """A steady rumble (pink, brown from 500 Hz on) and vehicles that pass (more of the middle)."""
    rumble = Coloured(band, derive_seed(seed, "rumble"), lambda hz: 1 / hz / (1 + hz / 500))
    vehicles = Coloured(band, derive_seed(seed, "vehicles"), lambda hz: 1 / (1 + (hz / 700) ** 2))
    return [_Layer(rumble, 0.4), _Layer(vehicles, 0.6, _passing)]


def _car(band: Band, seed: int) -> list[_Layer]:
    """Engine and wind: 9 dB less per octave from 80 Hz on, over the weaker hiss of the tyres."""
    engine = Coloured(band, derive_seed(seed, "engine"), lambda hz: 1 / (1 + (hz / 80) ** 3))
    tyres = Coloured(band, derive_seed(seed, "tyres"), lambda hz: 1 / (1 + ((hz - 900) / 500) ** 2))
    return [_Layer(engine, 0.85, _road), _Layer(tyres, 0.15, _road)]


def _cafe(band: Band, seed: int) -> list[_Layer]:
    """Other guests, the hum of the room, cups."""
    from callm_voice.line.babble import Babble

    guests = Babble(band.rate_hz, derive_seed(seed, "guests"), band.energy)
    room = Coloured(band, derive_seed(seed, "room"), lambda hz: 1 / hz)
    return [_Layer(guests, 0.86), _Layer(room, 0.10), _Layer(Clinks(band, derive_seed(seed, "cups")), 0.04)]


def _pink(band: Band, seed: int) -> list[_Layer]:
    """3 dB less per octave: a reference, no place."""
    return [_Layer(Coloured(band, derive_seed(seed, "pink"), lambda hz: 1 / hz), 1.0)]


_LAYERS: dict[NoiseKind, Callable[[Band, int], list[_Layer]]] = {
    "street": _street, "cafe": _cafe, "car": _car, "pink": _pink,
}  # fmt: skip
