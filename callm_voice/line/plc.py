"""Packet loss concealment after the manner of ITU-T G.711 Appendix I, without I/O: the last pitch period goes on.

When a packet is missing, the pitch is searched in what was played last, and its last period is repeated, with an
overlap-add of a quarter period where the end of a period meets its beginning. A long loss would sound like a machine,
so after 10 ms the last two periods are repeated and after 20 ms the last three. The sound fades from 10 ms on, by 20 %
of its level each 10 ms, and is silence after 60 ms. When packets are back, the made-up sound goes on for some
milliseconds under the real one, the longer the more was lost, and the two are cross-faded.

Three things differ. The Appendix holds all sound back by 3.75 ms, so that it can overlap the last real samples with the
first made-up ones; here nothing is held back, and the step between them is put on the made-up sound and let go to zero
over 2.5 ms. The cross-fade back begins with 4 ms, there with a quarter of the pitch period. And the times, given for
8 kHz, hold for any rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import Pcm, round_to_int16

MIN_PITCH_MS = 5.0
"""200 Hz: 40 samples at 8 kHz (G.711 Appendix I)."""
MAX_PITCH_MS = 15.0
"""66 Hz: 120 samples at 8 kHz."""
MATCH_MS = 20.0
"""Length of the sound that is looked for in what came before it."""
STAGE_MS = 10.0
"""One period is repeated for so long, then two, then three for the rest."""
FADE_FROM_MS = 10.0
FADE_TO_MS = 60.0
STEP_MS = 2.5
"""Time in which the step at the beginning of a loss goes away."""
BACK_MS = 4.0
"""Cross-fade to the first real sound; longer by as much for each 10 ms of loss after the first…"""
BACK_MAX_MS = 10.0
"""… up to this."""
_HISTORY_MS = 50.0
"""Three of the longest periods and a quarter of one."""

Samples = NDArray[np.float64]


class Concealer:
    """Hears every frame that is played and makes up the missing ones.

    Args:
        rate_hz: of the sound.
    """

    def __init__(self, rate_hz: int) -> None:
        self._per_ms = rate_hz / 1000
        self._history: Samples = np.zeros(self._samples(_HISTORY_MS))
        self._made_up: Samples | None = None
        """All that a loss can want, from its first sample; None: no loss."""
        self._used = 0

    def heard(self, frame: Pcm, *, joins: bool = True) -> Pcm:
        """Take a real frame; the frame to play, which after a loss is cross-faded. Both (samples,) int16.

        Args:
            joins: False: something was left out before this frame, so it is cross-faded too.
        """
        if self._made_up is None and joins:
            self._remember(frame)
            return frame
        overlap = min(frame.size, self._overlap())
        rise = np.arange(1, overlap + 1) / (overlap + 1)
        blended = frame.astype(np.float64)
        blended[:overlap] = rise * blended[:overlap] + (1 - rise) * self._take(overlap)
        self._made_up, self._used = None, 0
        out = round_to_int16(blended)
        self._remember(out)
        return out

    def conceal(self, samples: int) -> Pcm:
        """Sound for a frame that is missing, (samples,) int16."""
        out = round_to_int16(self._take(samples))
        self._remember(out)
        return out

    def _samples(self, time_ms: float) -> int:
        return round(time_ms * self._per_ms)

    def _overlap(self) -> int:
        lost_ms = self._used / self._per_ms
        return self._samples(min(BACK_MAX_MS, BACK_MS + BACK_MS * max(0.0, lost_ms - 10.0) / 10.0))

    def _remember(self, frame: Pcm) -> None:
        kept = self._history.size
        if frame.size >= kept:
            self._history = frame[-kept:].astype(np.float64)
            return
        self._history[: -frame.size or None] = self._history[frame.size :]
        self._history[kept - frame.size :] = frame

    def _take(self, samples: int) -> Samples:
        """The next made-up samples; silence after the fade."""
        if self._made_up is None:
            self._made_up = self._make_up()
        part = self._made_up[self._used : self._used + samples]
        self._used += samples
        return np.pad(part, (0, samples - part.size))

    def _make_up(self) -> Samples:
        """The sound of a loss from its first sample to the end of the fade."""
        pitch = self._find_pitch()
        at = np.arange(self._samples(FADE_TO_MS))
        sound = self._loop(1, pitch)[at % pitch]
        quarter = max(1, pitch // 4)
        for periods in (2, 3):
            longer = self._loop(periods, pitch)[at % (periods * pitch)]
            begin = self._samples((periods - 1) * STAGE_MS)
            share = np.clip((at - begin + 1) / (quarter + 1), 0.0, 1.0)
            sound = (1 - share) * sound + share * longer
        step = self._history[-1] - self._history[-pitch - 1]
        sound = sound + step * np.maximum(0.0, 1 - at / self._samples(STEP_MS))
        fade_from, fade_to = self._samples(FADE_FROM_MS), self._samples(FADE_TO_MS)
        return np.asarray(sound * np.clip((fade_to - at) / (fade_to - fade_from), 0.0, 1.0))

    def _loop(self, periods: int, pitch: int) -> Samples:
        """The last `periods` periods, their last quarter period blended into what stood before the first sample."""
        length, quarter = periods * pitch, max(1, pitch // 4)
        loop = self._history[-length:].copy()
        before = self._history[-length - quarter : -length]
        rise = np.arange(1, quarter + 1) / quarter
        loop[-quarter:] = (1 - rise) * loop[-quarter:] + rise * before
        return loop

    def _find_pitch(self) -> int:
        """The lag, in samples, at which the last 20 ms look most like what came before (normalised correlation)."""
        low, high, match = (self._samples(ms) for ms in (MIN_PITCH_MS, MAX_PITCH_MS, MATCH_MS))
        recent = self._history[-match:]
        earlier = self._history[-match - high : -low]
        running = np.concatenate([[0.0], np.cumsum(np.square(earlier))])
        energy = running[match:] - running[:-match]
        likeness = np.correlate(earlier, recent, "valid") / np.sqrt(energy + 1.0)
        return high - int(np.argmax(likeness))
