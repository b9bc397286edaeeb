"""The only seam between the line and an endpoint."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

PTIME_MS = 20
"""Packet time."""

Frame = NDArray[np.int16]
"""One packet of mono PCM: shape (rate_hz * PTIME_MS // 1000,), dtype int16."""


class Leg(Protocol):
    """An endpoint as the line sees it. Both calls are made once a tick, never block and never raise."""

    def push(self, frame: Frame) -> None:
        """Take one frame from the line: what this endpoint heard during the packet time that ends now. Comes after the
        `pull` of the same tick; the first one is silence."""
        ...

    def pull(self) -> Frame | None:
        """Give one frame to the line: what this endpoint says during the packet time that begins now. None: silence."""
        ...

    def clear(self) -> None:
        """Drop what was queued for the line and not yet pulled (barge-in)."""
        ...


@runtime_checkable
class KeypadLeg(Protocol):
    """An endpoint whose telephone has keys."""

    @property
    def pressing(self) -> bool:
        """Whether the frame of the last `pull` is of keys that are pressed: the telephone itself makes their tones and
        shuts its microphone meanwhile."""
        ...
