"""Where a sound that we know lies in a recording: the independent detector that the probes are compared with.

It shares nothing with `probes/wire.py`. That one knows no sound and gates the recording's energy. This one knows what
was played (the same engine says the same words with the same samples), sends it through the line's channel once more,
finds it in the recording by normalised cross-correlation, to the sample, and reads the edges off the known sound:

    onset   the first sample of the known sound that reaches -30 dB of its loudness
    end     the last one that reaches -40 dB of it, as long as the recording goes on following the known sound (a
            sentence that barge-in cut stops earlier)

Loudness is the 98th percentile of the magnitudes. Both edges are relative to the voice, where the probe's gate is an
absolute level: the two agree on speech of a usual level and nothing forces them to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from callm_voice.audio.pcm import Pcm
from callm_voice.line.channel import Channel
from callm_voice.line.profile import LineProfile

ONSET_OF_LOUDNESS = 10 ** (-30 / 20)
END_OF_LOUDNESS = 10 ** (-40 / 20)
LOUD_PERCENTILE = 98.0
MIN_MATCH = 0.9
"""Normalised correlation, 1 for the same samples. What is below is not taken for the sound."""
KEY_MS, SHORTEST_KEY_MS = 400, 120
"""So much of the sound, from its onset, is looked for; of one that was cut early, what was played of it, if that is not
too little to be told from another."""
BLOCK_MS = 5
"""The recording is compared with the known sound block by block, to see where it stops following it."""
BEFORE_MS, AFTER_MS = 60.0, 260.0
"""The sound is looked for from so long before its expected place to so long after it."""
TAIL_MS = 40
"""Silence that is sent through the channel after the sound, so that its filter's tail is not lost."""

Samples = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """A known sound in a recording."""

    onset_ms: float
    """First audible sample; 0 is the recording's first sample."""
    end_ms: float
    """After the last audible sample that was played."""
    match: float
    """Normalised correlation at that place."""


@dataclass(frozen=True)
class TooShort:
    """So little of the sound was played that it cannot be told from another."""


def through_line(pcm: Pcm, profile: LineProfile) -> Pcm:
    """A sound as it comes out of the line: whole packets, with the tail of the channel's filter."""
    packet = profile.frame_samples
    room = pcm.size + TAIL_MS * profile.rate_hz // 1000
    padded = np.concatenate([pcm, np.zeros(room - pcm.size + -room % packet, np.int16)])
    channel = Channel(profile)
    return np.concatenate([channel.process(padded[i : i + packet]) for i in range(0, padded.size, packet)])


def find(
    recording: Pcm, sound: Pcm, rate_hz: int, near_ms: float, played_ms: float = math.inf
) -> Found | TooShort | None:
    """The known sound in one channel of a recording, or None if it is not there.

    Args:
        recording: shape (samples,), dtype int16.
        sound: as it comes out of the line (`through_line`).
        near_ms: where its first sample is expected.
        played_ms: how much of it was played, roughly, if it was cut.
    """
    known, heard = sound.astype(np.float64), recording.astype(np.float64)
    loudness = float(np.percentile(np.abs(known), LOUD_PERCENTILE)) if known.size else 0.0
    audible = np.flatnonzero(np.abs(known) >= max(1.0, ONSET_OF_LOUDNESS * loudness))
    if not audible.size:
        return None
    onset = int(audible[0])
    key_ms = min(KEY_MS, played_ms - onset * 1000 / rate_hz)
    if key_ms < SHORTEST_KEY_MS:
        return TooShort()
    key = known[onset : onset + int(key_ms * rate_hz / 1000)]
    first = max(0, round((near_ms - BEFORE_MS) * rate_hz / 1000) + onset)
    last = round((near_ms + AFTER_MS) * rate_hz / 1000) + onset + key.size
    at, match = _best(heard[first:last], key)
    if match < MIN_MATCH:
        return None
    start = first + at
    after = start + _followed(heard[start:], known[onset:], rate_hz, END_OF_LOUDNESS * loudness)
    return Found(start * 1000 / rate_hz, after * 1000 / rate_hz, round(match, 4))


def _best(heard: Samples, key: Samples) -> tuple[int, float]:
    """The offset at which `heard` is most like `key`, and how like: the cosine of the two."""
    if heard.size < key.size:
        return 0, 0.0
    products = fftconvolve(heard, key[::-1], "valid")
    sums = np.concatenate([[0.0], np.cumsum(heard * heard)])
    energy = sums[key.size :] - sums[: -key.size]
    likeness = products / np.sqrt(np.maximum(energy, 1.0) * max(1.0, float(key @ key)))
    at = int(np.argmax(likeness))
    return at, float(likeness[at])


def _followed(heard: Samples, known: Samples, rate_hz: int, audible: float) -> int:
    """How many samples from the onset on are the known sound, up to its last audible one.

    A block belongs to it if the recording's share of it is more than half. The edge is put on the sample: the last one
    of the recording itself that is audible, up to a block further.
    """
    size = BLOCK_MS * rate_hz // 1000
    length = min(heard.size, known.size)
    after = 0
    for begin in range(0, length, size):
        block, played = known[begin : begin + size], heard[begin : begin + size]
        if np.abs(block).max() < audible:
            continue
        if played.size < block.size or float(played @ block) <= 0.5 * float(block @ block):
            rest = np.flatnonzero(np.abs(heard[after : begin + size]) >= audible)
            return after + (int(rest[-1]) + 1 if rest.size else 0)
        after = begin + int(np.flatnonzero(np.abs(block) >= audible)[-1]) + 1
    return after
