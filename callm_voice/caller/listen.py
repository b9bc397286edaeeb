"""When the agent speaks, from the level of the frames on the wire. Pure: frames in, starts and ends out.

A caller's ear, not a VAD of the product under test: hysteresis over a noise floor that follows the line. Levels are
in dBov (ITU-T G.100.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from callm_voice.audio.pcm import level_dbov
from callm_voice.line.leg import PTIME_MS, Frame

LOWEST_DBOV = -70.0
"""Quieter frames (digital silence too) count as this loud."""
HIGHEST_FLOOR_DBOV = -35.0


@dataclass(frozen=True)
class ListenSettings:
    """How speech is told from noise."""

    start_over_floor_db: float = 14.0
    stay_over_floor_db: float = 8.0
    start_at_least_dbov: float = -50.0
    stay_at_least_dbov: float = -56.0
    start_frames: int = 2
    """Consecutive loud frames that begin speech: a click does not."""
    hangover_ms: int = 200
    """Quiet that ends speech. The end is the last loud frame's, the hangover is not in it."""
    learn_ms: int = 200
    """The floor starts as the quietest of these first frames."""
    fall: float = 0.2
    """Share of the way down that the floor goes per quieter frame."""
    rise_db_per_s: float = 6.0
    rise_in_speech_db_per_s: float = 1.0


@dataclass(frozen=True)
class SpeechStarted:
    """`at_ms`: beginning of the first loud frame."""

    at_ms: int


@dataclass(frozen=True)
class SpeechEnded:
    """`at_ms`: end of the last loud frame."""

    at_ms: int


class Listener:
    """Push every frame; times count from the first one."""

    def __init__(self, settings: ListenSettings | None = None) -> None:
        self._settings = settings or ListenSettings()
        self._frames = 0
        self._loud = 0
        self._floor_dbov = LOWEST_DBOV
        self.speaking = False
        self.last_loud_ms = 0
        """End of the last loud frame of speech; 0 before any."""

    def push(self, frame: Frame) -> SpeechStarted | SpeechEnded | None:
        """Take one 20 ms frame; what it changed."""
        begin_ms = self._frames * PTIME_MS
        self._frames += 1
        level = max(level_dbov(frame), LOWEST_DBOV)
        loud = level >= self._threshold()
        self._follow(level)
        if self.speaking:
            if loud:
                self.last_loud_ms = begin_ms + PTIME_MS
            elif begin_ms + PTIME_MS - self.last_loud_ms >= self._settings.hangover_ms:
                self.speaking, self._loud = False, 0
                return SpeechEnded(self.last_loud_ms)
            return None
        self._loud = self._loud + 1 if loud else 0
        if self._loud < self._settings.start_frames:
            return None
        self.speaking = True
        self.last_loud_ms = begin_ms + PTIME_MS
        return SpeechStarted(begin_ms - (self._loud - 1) * PTIME_MS)

    def _threshold(self) -> float:
        s = self._settings
        if self.speaking:
            return max(s.stay_at_least_dbov, self._floor_dbov + s.stay_over_floor_db)
        return max(s.start_at_least_dbov, self._floor_dbov + s.start_over_floor_db)

    def _follow(self, level: float) -> None:
        s = self._settings
        if self._frames * PTIME_MS <= s.learn_ms:
            quietest = level if self._frames == 1 else min(level, self._floor_dbov)
            self._floor_dbov = min(quietest, HIGHEST_FLOOR_DBOV)
        elif level < self._floor_dbov:
            self._floor_dbov += s.fall * (level - self._floor_dbov)
        else:
            rise = (s.rise_in_speech_db_per_s if self.speaking else s.rise_db_per_s) * PTIME_MS / 1000
            self._floor_dbov = min(level, self._floor_dbov + rise, HIGHEST_FLOOR_DBOV)
