"""What was said when: the scripted recogniser's only source."""

from __future__ import annotations

WHOLE_FROM = 0.75
"""Share of its words inside from which an utterance counts as a whole: a synthesis has silence at its ends."""


class SaidLog:
    """Utterances with their times on the line's clock (ms); `lookup` is what `make_stt` takes."""

    def __init__(self) -> None:
        self._said: list[tuple[float, float, str]] = []

    def add(self, text: str, start_ms: float, end_ms: float) -> None:
        """One utterance went on the line."""
        self._said.append((start_ms, end_ms, text))

    def lookup(self, start_ms: float, end_ms: float) -> str:
        """What was said within the times: whole utterances, or of one that was cut in two the words that lie inside."""
        inside = (_words_inside(text, begin, end, start_ms, end_ms) for begin, end, text in self._said)
        return " ".join(filter(None, inside))


def _words_inside(text: str, begin_ms: float, stop_ms: float, start_ms: float, end_ms: float) -> str:
    """The words whose middle lies inside, each taken to last equally long; all of them if most do."""
    words = text.split()
    each_ms = (stop_ms - begin_ms) / max(1, len(words))
    inside = [w for i, w in enumerate(words) if start_ms <= begin_ms + (i + 0.5) * each_ms < end_ms]
    return text if words and len(inside) >= WHOLE_FROM * len(words) else " ".join(inside)
