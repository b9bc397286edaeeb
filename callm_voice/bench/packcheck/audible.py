"""Can a recogniser hear what the caller has to say? Each argument that comes from the caller goes over a real line.

It is spoken as the caller's lines have it, and then as the caller says it when asked: a name spelled, a number in
groups. What is recognised wrongly in every form makes a task unfair, whatever the model does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from callm_voice.audio.pcm import split_frames
from callm_voice.bench.packcheck.findings import Origin
from callm_voice.bench.packcheck.origins import caller_lines
from callm_voice.bench.packcheck.tasks import Loaded
from callm_voice.caller.facts import Facts
from callm_voice.caller.says import compact, says
from callm_voice.caller.traits import digit_groups, spelled
from callm_voice.caller.voice import Voice
from callm_voice.core.clock import Clock
from callm_voice.core.ids import derive_seed
from callm_voice.core.paths import cache_dir
from callm_voice.core.runfolder import disk_errors
from callm_voice.line.channel import Channel
from callm_voice.line.profile import LineProfile
from callm_voice.speech.engines import SttEngine, TtsEngine
from callm_voice.speech.spoken import to_spoken
from verifier.gold import ArgType

BEFORE_MS, AFTER_MS = 300, 200
"""Silence around a line, as the desk's endpointing leaves it."""
MAX_PLAIN = 3
"""So many of the caller's lines with a value are tried."""
SEED = 1
"""Of the call whose caller speaks here, the seed of `callm-voice call`."""


class Audition:
    """The caller's voice, the line and the recogniser. What was heard once is kept on disk.

    Args:
        tts: the caller's voice.
        profile: of the line.
        folder: of the kept results; None: the user's cache.
    """

    def __init__(
        self, tts: TtsEngine, stt: SttEngine, profile: LineProfile, clock: Clock, *, folder: Path | None = None
    ) -> None:
        self._stt, self._profile, self._clock = stt, profile, clock
        self._voice = Voice(tts, clock, rate_hz=profile.rate_hz, to_spoken=to_spoken, seed=derive_seed(SEED, "caller"))
        self._folder = folder or cache_dir() / "audible"
        self._engines = [info.model_dump(mode="json") for info in (tts.info, stt.info)]
        self.listened = 0
        """Lines that were really recognised, the kept ones not counted."""

    async def heard(self, text: str) -> str:
        """What the recogniser makes of a line.

        Raises:
            EngineError: an engine failed.
            DiskError: the result cannot be kept.
        """
        key = json.dumps([text, to_spoken(text), SEED, self._engines, self._profile.model_dump(mode="json")])
        kept = self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.txt"
        if kept.is_file():
            return kept.read_text(encoding="utf-8")
        self.listened += 1
        spoken = await self._voice.line(text)
        rate = self._profile.rate_hz
        padded = np.pad(spoken.pcm, (rate * BEFORE_MS // 1000, rate * AFTER_MS // 1000))
        channel = Channel(self._profile, derive_seed(SEED, "line"))
        frames = [channel.process(frame) for frame in split_frames(padded, self._profile.frame_samples)]
        found = await self._clock.in_thread("stt", self._stt.transcribe, np.concatenate(frames), rate)
        with disk_errors(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found.text, encoding="utf-8")
        return found.text


async def inaudible(loaded: Loaded, origins: Sequence[Origin], audition: Audition) -> list[tuple[str, str]]:
    """(key, what was heard in its place) for each argument that no form brings across."""
    lost: list[tuple[str, str]] = []
    known: dict[str, str] = {}
    for origin in origins:
        if not origin.from_caller:
            continue
        arg_type = loaded.file.arg_types.get(origin.tool, {}).get(origin.key.rpartition(".")[2])
        for value in origin.value if isinstance(origin.value, list) else [origin.value]:
            key = json.dumps([value, arg_type])
            if key not in known:
                known[key] = await _lost(loaded, value, arg_type, audition)
            if known[key]:
                lost.append((origin.key, f"{value!r} is heard right in no form: {known[key]}"))
    return lost


async def _lost(loaded: Loaded, value: Any, arg_type: ArgType | None, audition: Audition) -> str:
    """What was heard in each form, or an empty text if one of them was right."""
    heard: list[str] = []
    for line in forms(loaded, value, arg_type):
        text = await audition.heard(line)
        if right(text, value, arg_type, loaded):
            return ""
        heard.append(f"{line!r} as {text!r}")
    return "; ".join(heard)


def right(heard: str, value: Any, arg_type: ArgType | None, loaded: Loaded) -> bool:
    """Whether the value can be taken from the recognised words; a spelled one counts by its letters."""
    words = str(value).split() if isinstance(value, str) else []
    letters = bool(words) and all(compact(word) in compact(heard) for word in words)
    return says(heard, value, arg_type, loaded.pack.file.now) or (letters and arg_type in ("name", "string"))


def forms(loaded: Loaded, value: Any, arg_type: ArgType | None) -> Iterator[str]:
    """The lines that say the value: as the script has them, its facts as answers, and as it says them when asked."""
    now = loaded.pack.file.now
    facts = [fact.sentence for fact in Facts(loaded.task.brief.traits).all()]
    plain = dict.fromkeys([*facts, *(line for _, line in caller_lines(loaded))])
    yield from [text for text in plain if says(text, value, arg_type, now)][:MAX_PLAIN]
    if arg_type == "phone":
        yield from dict.fromkeys(
            digit_groups(text) for text in loaded.task.brief.traits.values() if says(text, value, arg_type, now)
        )
    elif isinstance(value, str) and arg_type in ("name", "string"):
        yield f"{spelled(value)}."
