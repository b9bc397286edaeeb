"""What a leg plays, without I/O: sound of any length in, packets out, and an account of what was really played.

Sound is put under a tag (a sentence, an utterance). Tags play in the order of their first `put`; where one ends inside
a packet the next one goes on in it. What was pulled counts as played.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import HarnessError
from callm_voice.line.leg import Frame


@dataclass(frozen=True)
class Started:
    """The packet just pulled holds the first sample of this tag."""

    tag: int
    offset_samples: int
    """Where in the packet."""


@dataclass(frozen=True)
class Ended:
    """The packet just pulled holds the last sample of this tag, or the tag was cut."""

    tag: int
    samples_played: int
    samples_total: int
    """What was put."""
    cut: bool = False
    """By `clear`, before all of it was played or before `end` had said that this was all."""


Notice = Started | Ended


@dataclass
class _Tag:
    tag: int
    total: int = 0
    played: int = 0
    ended: bool = False

    def done(self) -> bool:
        return self.ended and self.played == self.total

    def notice(self, *, cut: bool = False) -> Ended:
        return Ended(self.tag, self.played, self.total, cut)


class PlayoutQueue:
    """Packs the sound of successive tags into packets. Not for use from several threads.

    Args:
        samples_per_frame: length of a packet.
    """

    def __init__(self, samples_per_frame: int) -> None:
        self._n = samples_per_frame
        self._live: deque[_Tag] = deque()
        """Tags of which no `Ended` was given, oldest first; only the newest can be open."""
        self._chunks: deque[tuple[_Tag, Pcm]] = deque()
        self._seen: dict[int, bool] = {}
        """Every tag ever put or ended; True: it was cut."""
        self.queued_samples = 0
        self.underruns = 0
        """Pulls that found an open tag, already started, with less than a packet of sound: the producer was late."""

    def put(self, tag: int, pcm: Pcm) -> bool:
        """Append (samples,) int16 of any length to `tag`. A new tag says that the one before it is complete.

        Returns:
            False if the tag was cut: its late sound is dropped.

        Raises:
            HarnessError: the tag has ended or another came after it, or the sound is not mono int16.
        """
        if pcm.dtype != np.int16 or pcm.ndim != 1:
            raise HarnessError(f"playout: expected mono int16, got {pcm.dtype} of shape {pcm.shape}", stage="line")
        entry = self._open(tag)
        if entry is None:
            return False
        if pcm.size:
            entry.total += pcm.size
            self.queued_samples += pcm.size
            self._chunks.append((entry, pcm.copy()))
        return True

    def end(self, tag: int) -> None:
        """All of `tag` has been put. Its `Ended` comes with the packet of its last sample, or with the next `pull` if
        that one is gone already (or if it never had a sample)."""
        entry = self._open(tag)
        if entry is not None:
            entry.ended = True

    def pull(self) -> tuple[Frame | None, list[Notice]]:
        """The next packet and what it says about the tags; None if there is no whole packet to play.

        Less than a packet is held back while more of its tag may come; once the tag has ended it is filled up with
        silence.
        """
        notices: list[Notice] = []
        self._retire(notices)
        if self.queued_samples < self._n and not (self._chunks and self._chunks[-1][0].ended):
            self.underruns += bool(self._live and self._live[-1].played)
            return None, notices
        frame = np.zeros(self._n, dtype=np.int16)
        filled = 0
        while filled < self._n and self._chunks:
            filled = self._move(frame, filled, notices)
        return frame, notices

    def clear(self) -> list[Ended]:
        """Drop all that is queued: one notice per tag that had not ended, in their order."""
        notices = [entry.notice(cut=not entry.done()) for entry in self._live]
        self._seen.update({n.tag: n.cut for n in notices})
        self._live.clear()
        self._chunks.clear()
        self.queued_samples = 0
        return notices

    def _open(self, tag: int) -> _Tag | None:
        """The entry that sound may be appended to, made if new; None if the tag was cut."""
        if self._live and self._live[-1].tag == tag and not self._live[-1].ended:
            return self._live[-1]
        if self._seen.get(tag) is True:
            return None
        if tag in self._seen:
            raise HarnessError(f"playout: tag {tag} has ended; nothing can follow", stage="line")
        if self._live:
            self._live[-1].ended = True
        self._seen[tag] = False
        self._live.append(_Tag(tag))
        return self._live[-1]

    def _move(self, frame: Frame, filled: int, notices: list[Notice]) -> int:
        """Move sound of the first chunk into the packet from `filled` on; how far it is filled then."""
        entry, pcm = self._chunks[0]
        if entry.played == 0:
            self._retire(notices)
            notices.append(Started(entry.tag, filled))
        take = min(self._n - filled, pcm.size)
        frame[filled : filled + take] = pcm[:take]
        if take == pcm.size:
            self._chunks.popleft()
        else:
            self._chunks[0] = (entry, pcm[take:])
        entry.played += take
        self.queued_samples -= take
        self._retire(notices)
        return filled + take

    def _retire(self, notices: list[Notice]) -> None:
        while self._live and self._live[0].done():
            notices.append(self._live.popleft().notice())


def whole_words(text: str, played_samples: int, total_samples: int) -> str:
    """The leading words of `text` whose audio was played, taking every character to last equally long.

    All of it if all samples were played; a word that was cut does not count.
    """
    if played_samples >= total_samples:
        return text
    limit = len(text) * played_samples / max(1, total_samples)
    words: list[str] = []
    end = 0
    for word in text.split():
        end = text.index(word, end) + len(word)
        if end > limit:
            break
        words.append(word)
    return " ".join(words)
