"""Pauses of a synthesised utterance made as short as a fluent speaker's.

Some voices leave 600-800 ms between two sentences and half a second of silence at the end. A desk that waits 500 ms
would take the floor in the middle of the caller's turn, and the voice would be to blame, not the desk.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import level_dbov, round_to_int16
from callm_voice.speech.engines import Pcm

BLOCK_MS = 10
MAX_PAUSE_MS = 350
"""Within an utterance; shorter pauses stay as they are."""
EDGE_MS = 60
"""Silence that may stay before the first and after the last sound."""
QUIET_BELOW_LOUDEST_DB = 40.0
"""A block so far below the loudest one is a pause."""
FADE_MS = 4
"""Cross-fade where a pause was shortened."""


def shorten_pauses(pcm: Pcm, rate_hz: int, *, max_pause_ms: int = MAX_PAUSE_MS) -> Pcm:
    """The utterance (samples,) int16 with its pauses cut down to `max_pause_ms` and its ends to `EDGE_MS`.

    A pause loses its middle. Every sounding sample stays as it is; a signal without any sound is returned unchanged.
    """
    sounding = _sounding(pcm, rate_hz)
    if not sounding.any():
        return pcm
    block = rate_hz * BLOCK_MS // 1000
    edges = np.flatnonzero(np.diff(np.concatenate([[False], sounding, [False]]).astype(np.int8)))
    stretches = [(int(a) * block, min(int(b) * block, pcm.size)) for a, b in edges.reshape(-1, 2)]
    edge = rate_hz * EDGE_MS // 1000
    keep = rate_hz * max_pause_ms // 1000
    parts = [pcm[max(0, stretches[0][0] - edge) : stretches[0][1]]]
    for (_, end), (start, stop) in pairwise(stretches):
        pause = pcm[end:start]
        parts += [pause if pause.size <= keep else _without_middle(pause, keep, rate_hz), pcm[start:stop]]
    parts.append(pcm[stretches[-1][1] : stretches[-1][1] + edge])
    return np.concatenate(parts)


def _sounding(pcm: Pcm, rate_hz: int) -> NDArray[np.bool_]:
    """Per block of 10 ms: whether it sounds."""
    block = rate_hz * BLOCK_MS // 1000
    levels = np.array([level_dbov(pcm[i : i + block]) for i in range(0, pcm.size, block)])
    loudest = levels.max(initial=-np.inf)
    return np.asarray(np.isfinite(levels) & (levels > loudest - QUIET_BELOW_LOUDEST_DB))


def _without_middle(pause: Pcm, keep: int, rate_hz: int) -> Pcm:
    """`keep` samples of a pause: its first and its last half, faded into each other."""
    fade = min(rate_hz * FADE_MS // 1000, keep // 2)
    head = pause[: keep // 2 + fade].astype(np.float64)
    tail = pause[pause.size - (keep - keep // 2) :].astype(np.float64)
    ramp = (np.arange(fade) + 0.5) / max(1, fade)
    tail[:fade] = tail[:fade] * ramp + head[head.size - fade :] * (1 - ramp)
    return round_to_int16(np.concatenate([head[: head.size - fade], tail]))
