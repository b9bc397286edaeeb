"""When somebody is audible on one channel of the recording, from its samples alone.

This is the ground truth that the probes measure against, so it shares nothing with the VAD and endpointing that are
being measured: a short-time energy gate with hysteresis.

**Audible.** A channel becomes audible with the first 5 ms window (moved on by 1 ms) whose power reaches the *on* level:
-45 dBov, or 8 dB over the channel's noise floor where that is higher. It stays audible until the power falls under the
*off* level: -60 dBov, or 4 dB over the floor. (A final "s" on a 300-3400 Hz line is that weak: with -54 dBov, ends came
up to 110 ms early.) Within the first and the last window the edge is put on the sample: the first whose magnitude
reaches the on level, and the last that reaches the off level. Voice to voice ends with that first audible sample.

**How exact.** On a clean codec (G.711 idles at 0, or at ±8 for A-law: -72 dBov) the edges of a sound that starts and
stops abruptly are exact to the sample or two. On stationary noise of 15 dB SNR it is a best effort: soft edges drown.
With two synthetic voices over G.711, onsets came 0-70 ms late and ends 30-250 ms early (a final fricative is lost).
Babble counts as speech.

0 dBov is the power of a full-scale square wave (ITU-T G.100.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from callm_voice.core.errors import HarnessError

FULL_SCALE = 32768.0
FLOOR_WINDOW_MS = 20
FLOOR_PERCENTILE = 10
LOWEST_DBOV = -96.0
"""What digital silence is reported as."""

Pcm = NDArray[np.int16]
"""One channel: shape (samples,), dtype int16."""


@dataclass(frozen=True)
class Segment:
    """One stretch of sound; sample 0 of the channel is 0 ms, the end is exclusive."""

    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class Gate:
    """When sound counts as audible, and what makes one segment."""

    window_ms: int = 5
    on_dbov: float = -45.0
    off_dbov: float = -60.0
    on_over_floor_db: float = 8.0
    off_over_floor_db: float = 4.0
    min_speech_ms: float = 30.0
    """A shorter segment is a click and is dropped (after joining)."""
    min_gap_ms: float = 150.0
    """Sounds that are less far apart belong to one segment: the closure of a stop, the pause between two words."""


DEFAULT_GATE = Gate()


class Wire:
    """One channel, measured once and then asked.

    Args:
        pcm: shape (samples,), dtype int16.
        rate_hz: a multiple of 1,000.

    Raises:
        HarnessError: the channel has another form.
    """

    def __init__(self, pcm: Pcm, rate_hz: int, gate: Gate = DEFAULT_GATE) -> None:
        if pcm.ndim != 1 or pcm.dtype != np.int16:
            raise HarnessError(f"a channel must be int16 of one dimension, not {pcm.dtype}{pcm.shape}", stage="probe")
        if rate_hz <= 0 or rate_hz % 1000:
            raise HarnessError(f"the rate of a channel must be a multiple of 1,000 Hz, not {rate_hz}", stage="probe")
        self._gate = gate
        self._per_ms = rate_hz // 1000
        block_power = _block_power(pcm, self._per_ms)
        floor = _floor_power(block_power)
        self.floor_dbov = max(LOWEST_DBOV, 10 * math.log10(floor)) if floor > 0 else LOWEST_DBOV
        on_power = max(_power(gate.on_dbov), floor * _power(gate.on_over_floor_db))
        off_power = max(_power(gate.off_dbov), floor * _power(gate.off_over_floor_db))
        self._runs = self._find_runs(pcm, block_power, on_power, min(off_power, on_power))
        self.segments: tuple[Segment, ...] = self._join()

    def first_audible_ms(self, after_ms: float, before_ms: float = math.inf) -> float | None:
        """The first audible moment in [after, before); `after_ms` itself if the channel is audible then. None: there is
        none. Clicks count."""
        for run in self._runs:
            start_ms = max(run.start_ms, after_ms)
            if start_ms < min(run.end_ms, before_ms):
                return start_ms
        return None

    def last_audible_ms(self, after_ms: float, before_ms: float = math.inf) -> float | None:
        """The end of the last audible moment in [after, before), or None."""
        for run in reversed(self._runs):
            end_ms = min(run.end_ms, before_ms)
            if end_ms > max(run.start_ms, after_ms):
                return end_ms
        return None

    def last_end_ms(self, after_ms: float, until_ms: float) -> float | None:
        """The last moment in (after, until] at which an audible stretch ended by itself, or None."""
        ends = [run.end_ms for run in self._runs if after_ms < run.end_ms <= until_ms]
        return ends[-1] if ends else None

    def _find_runs(self, pcm: Pcm, block_power: NDArray[np.float64], on: float, off: float) -> list[Segment]:
        """Audible stretches with their edges on the sample, not yet joined to segments."""
        if not len(pcm):
            return []
        window = self._gate.window_ms
        level = np.convolve(block_power, np.ones(window), "full")[window - 1 :] / window
        loud = np.flatnonzero(level >= on)
        edges = np.flatnonzero(np.diff(np.pad((level >= off).astype(np.int8), 1)))
        runs: list[Segment] = []
        for first, after_last in edges.reshape(-1, 2):
            at = int(np.searchsorted(loud, first))
            if at == len(loud) or loud[at] >= after_last:
                continue
            start = self._edge(pcm, int(loud[at]), on)[0]
            end = self._edge(pcm, int(after_last) - 1, off)[1]
            start_ms, end_ms = start / self._per_ms, end / self._per_ms
            if runs and start_ms <= runs[-1].end_ms:
                start_ms = runs.pop().start_ms
            runs.append(Segment(start_ms, end_ms))
        return runs

    def _edge(self, pcm: Pcm, window: int, power: float) -> tuple[int, int]:
        """The first sample of a window that reaches `power`, and the one after the last. The mean does, so one does."""
        start = window * self._per_ms
        part = pcm[start : start + self._gate.window_ms * self._per_ms].astype(np.float64) / FULL_SCALE
        reached = np.flatnonzero(part * part >= power * (1 - 1e-9))
        return start + int(reached[0]), start + int(reached[-1]) + 1

    def _join(self) -> tuple[Segment, ...]:
        joined: list[Segment] = []
        for run in self._runs:
            if joined and run.start_ms - joined[-1].end_ms < self._gate.min_gap_ms:
                joined[-1] = Segment(joined[-1].start_ms, run.end_ms)
            else:
                joined.append(run)
        return tuple(s for s in joined if s.end_ms - s.start_ms >= self._gate.min_speech_ms)


def speech_segments(pcm: Pcm, rate_hz: int, gate: Gate = DEFAULT_GATE) -> list[Segment]:
    """The stretches of speech on one channel, in order, apart by at least `gate.min_gap_ms`.

    At least a tenth of the channel must be without speech, or the noise floor is taken too high.
    """
    return list(Wire(pcm, rate_hz, gate).segments)


def _power(level_db: float) -> float:
    return float(10 ** (level_db / 10))


def _block_power(pcm: Pcm, per_ms: int) -> NDArray[np.float64]:
    """Mean power of each millisecond, 1.0 = 0 dBov; shape (ceil(samples / per_ms),). The last is filled with zeros."""
    padded = np.pad(pcm, (0, -len(pcm) % per_ms)).astype(np.float64) / FULL_SCALE
    return np.asarray(np.mean(np.square(padded.reshape(-1, per_ms)), axis=1))


def _floor_power(block_power: NDArray[np.float64]) -> float:
    """The noise floor: the 10th percentile of the power of 20 ms windows; 0 for a channel shorter than one."""
    windows = len(block_power) // FLOOR_WINDOW_MS
    if not windows:
        return 0.0
    powers = block_power[: windows * FLOOR_WINDOW_MS].reshape(windows, FLOOR_WINDOW_MS).mean(axis=1)
    return float(np.percentile(powers, FLOOR_PERCENTILE))
