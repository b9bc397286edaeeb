"""What a running call shows of itself while somebody watches: a folder in its unfinished folder.

Whoever wants to watch makes `live/` in `tN.partial`, and in it `sound.wanted` to hear the call too. The call knows no
watcher; it sees that the folder is there, and then appends to the files in it until it ends. The folder is never part
of a finished call; where no call answers in it, the watcher removes it.

    tN.partial/live/               made by the watcher; everything else in it, but for the wish, by the call
        sound.wanted               made and removed by the watcher
        now.json                   `Now`, replaced several times a second of wall time: the call is alive
        events.jsonl               events from the beginning, in the order in which they were taken
        sound.wav                  both channels from line tick 0 on; the length in its head is unknown
        over                       the call has ended and all of it is written
"""

from __future__ import annotations

import struct
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from callm_voice.core.runfolder import LIVE_DIR, PARTIAL

SOUND_WANTED = "sound.wanted"
NOW_FILE = "now.json"
LIVE_EVENTS = "events.jsonl"
LIVE_SOUND = "sound.wav"
OVER_FILE = "over"
CHANNELS = 2
SAMPLE_BYTES = 2
_WAV = struct.Struct("<4sI4s4sIHHIIHH4sI")
"""RIFF and WAVE heads with a format chunk for PCM and the head of the data chunk."""
WAV_HEAD_BYTES = _WAV.size
MAX_RATE_HZ = 192_000
_UNKNOWN = 0xFFFFFFFF
"""A length that is not known yet, as programs that write WAV into a pipe give it."""


class Now(BaseModel):
    """`now.json`."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    line_ms: float
    """Length of the line so far; by text, the time of the last event."""
    looks: int
    """Grows with each writing."""


def live_dir(work: Path) -> Path:
    """Of a call's unfinished folder."""
    return work / LIVE_DIR


def unfinished(final: Path) -> Path:
    """Where a call is written that will stand in `final`."""
    return final.with_name(final.name + PARTIAL)


def wav_head(rate_hz: int) -> bytes:
    """Head of a 16-bit PCM file with two channels, whose length nobody knows."""
    block = CHANNELS * SAMPLE_BYTES
    return _WAV.pack(
        b"RIFF", _UNKNOWN, b"WAVE", b"fmt ", 16, 1, CHANNELS, rate_hz, rate_hz * block, block, 8 * SAMPLE_BYTES,
        b"data", _UNKNOWN,
    )  # fmt: skip


def wav_rate_hz(head: bytes) -> int:
    """The rate of a file that begins with `wav_head`.

    Raises:
        ValueError: it does not.
    """
    rate_hz = int(_WAV.unpack(head)[7]) if len(head) == WAV_HEAD_BYTES else 0
    if not 0 < rate_hz <= MAX_RATE_HZ or wav_head(rate_hz) != head:
        raise ValueError("not the head of a call's live sound")
    return rate_hz
