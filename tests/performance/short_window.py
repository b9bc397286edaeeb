"""What the recogniser's short window costs in words, and which rule for a second decoding in 30 s buys them back.

    python tests/performance/short_window.py [--passes 4] [--numbers 60] [--profiles NAME ...]

Each sound is decoded twice by the recogniser of `pipelines/cpu.yaml`: in the short window alone, and in one of 30 s.
The sounds are those of `callm-voice line wer` (so many passes: each utterance in another voice) and short sentences
with a drawn telephone number. From the two decodings every rule is reckoned without decoding again: the share of sounds
that it sends into the second window, the word error rate, and how many telephone numbers arrive. Prints the table of
docs/pipelines-and-lines.md; some ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from callm_voice.bench.linewer.listen import Heard, Sound, Speaker
from callm_voice.bench.linewer.plan import make_plan
from callm_voice.bench.linewer.score import Scorer
from callm_voice.bench.linewer.utterances import load_utterances
from callm_voice.core.ids import derive_seed
from callm_voice.line.apply import apply_profile
from callm_voice.line.profile import load_profile
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.engines import Pcm, SttEngine
from callm_voice.speech.factory import make_stt
from callm_voice.speech.settings import KokoroSettings, WhisperSettings
from callm_voice.speech.stt_whisper import WINDOW_S
from callm_voice.speech.voices import VOICES

PROFILES = ("pstn-g711u", "mobile-amr-12k2", "noise-cafe-10")
NUMBERS = ("My phone number is {}.", "You can reach me at {}.", "It's {}.", "The number on the account is {}.")
LOGPROBS = (-0.7, -0.6, -0.5, -0.45, -0.4, -0.35, -0.3, -0.25, -0.2)
TOKENS_PER_S = (2.5, 3.0, 3.5)
ACTIVE_DB = 22
"""A frame of 20 ms so far below the loudest twentieth is not speech: a rough measure, for a rule that is not used."""


@dataclass(frozen=True)
class Job:
    """One sound over one line."""

    name: str
    voice: str
    said: str
    sound: Sound
    profile: str


@dataclass(frozen=True)
class Row:
    """One sound over one line, decoded in both windows."""

    name: str
    voice: str
    profile: str
    said: str
    active_s: float
    short: str
    logprob: float
    tokens: int
    forced: bool
    """The guards sent it into the second window whatever the rule."""
    whole: str


Rule = Callable[[Row], bool]
"""Whether a row is decoded in the whole window, too."""


def jobs(passes: int, numbers: int, profiles: Sequence[str]) -> Iterator[Job]:
    """All sounds over all lines."""
    speaker = Speaker()
    plan = make_plan(load_utterances(), profiles=["clean-16k"], sounds=0)
    for number, what in enumerate(plan.listenings()):
        if number == passes * len(plan.utterances.utterances):
            break
        assert what.utterance is not None
        assert what.voice is not None
        sound = speaker.say(what.utterance.text, what.voice)
        yield from (Job(what.sound, what.voice.id, what.utterance.text, sound, profile) for profile in profiles)
    quick = [voice for voice in VOICES if not isinstance(voice.settings, KokoroSettings)]
    for number in range(numbers):
        draw = random.Random(derive_seed(1, "short-window", number))
        text = NUMBERS[number % len(NUMBERS)].format(f"{draw.randrange(200, 990)}-555-0{draw.randrange(100, 200)}")
        for voice in quick:
            sound = speaker.say(text, voice)
            yield from (Job(f"n{number:02}", voice.id, text, sound, profile) for profile in profiles)


_engines: list[SttEngine] = []
"""Of this process: the short window alone, and the whole one."""


def decode(job: Job) -> Row:
    """Both decodings."""
    if not _engines:
        of_cpu = load_pipeline("cpu").stt
        assert isinstance(of_cpu, WhisperSettings)
        changes: list[dict[str, float]] = [{"retry_logprob": -100.0}, {"window_s": WINDOW_S}]
        _engines.extend(make_stt(of_cpu.model_copy(update={"cpu_threads": 1, **change})) for change in changes)
    profile = load_profile(job.profile)
    seed = derive_seed(1, "linewer", job.name, job.voice)
    pcm = apply_profile(job.sound.pcm, job.sound.rate_hz, profile, seed).pcm
    short, whole = (engine.transcribe(pcm, profile.rate_hz) for engine in _engines)
    window = short.details["windows"][0]
    return Row(
        name=job.name,
        voice=job.voice,
        profile=job.profile,
        said=job.said,
        active_s=active_s(pcm, profile.rate_hz),
        short=short.text,
        logprob=window["avg_logprob"],
        tokens=window["tokens"],
        forced=window["window_s"] == WINDOW_S,
        whole=whole.text,
    )


def active_s(pcm: Pcm, rate_hz: int) -> float:
    """Seconds of it that are loud."""
    size = rate_hz // 50
    frames = pcm[: pcm.size // size * size].reshape(-1, size).astype(np.float64)
    level = np.sqrt((frames**2).mean(axis=1))
    return float((level > np.quantile(level, 0.95) * 10 ** (-ACTIVE_DB / 20)).sum() * 0.02)


def rules() -> dict[str, Rule]:
    """By the name in the table."""
    named: dict[str, Rule] = {"short window alone": lambda row: row.forced}
    for least in LOGPROBS:
        named[f"log probability below {least}"] = partial(_unsure, least=least)
    for rate in TOKENS_PER_S:
        named[f"under {rate} tokens a second of loud sound"] = partial(_scant, rate=rate)
    return {**named, "whole window alone": lambda row: True}


def _unsure(row: Row, *, least: float) -> bool:
    return row.forced or row.logprob < least


def _scant(row: Row, *, rate: float) -> bool:
    return row.forced or row.tokens / max(row.active_s, 0.02) < rate


def table(rows: Sequence[Row]) -> str:
    """Rule by rule; Markdown."""
    quiet = [row for row in rows if row.profile == PROFILES[0]]
    head = f"second window %, {PROFILES[0]} | second window %, all lines | WER % | entities right % | numbers right"
    lines = [f"| rule | {head} |", "|---|" + "--:|" * 5]
    for name, rule in rules().items():
        shares = " | ".join(f"{100 * sum(map(rule, some)) / len(some):.1f}" for some in (quiet, rows) if some)
        lines.append(f"| {name} | {shares} | {_outcome(rows, rule)} |")
    return "\n".join(lines)


def _outcome(rows: Sequence[Row], rule: Rule) -> str:
    scorer, utterances = Scorer(), {u.id: u for u in load_utterances().utterances}
    errors = words = right = entities = arrived = numbers = 0
    for row in rows:
        text = row.whole if rule(row) else row.short
        if row.name not in utterances:
            numbers += 1
            arrived += re.sub(r"\D", "", text) == re.sub(r"\D", "", row.said)
            continue
        scored = scorer.score(_heard(row, text), utterances[row.name])
        errors, words = errors + scored.errors, words + scored.words
        right, entities = right + sum(ok for _, ok in scored.right), entities + len(scored.right)
    of_words, of_entities = 100 * errors / max(1, words), 100 * right / max(1, entities)
    return f"{of_words:.2f} | {of_entities:.1f} | {arrived} of {numbers}"


def _heard(row: Row, text: str) -> Heard:
    return Heard(
        key="", sound=row.name, voice=row.voice, profile=row.profile, model="", text=text, raw=text, rejected=None,
        audio_ms=0, decode_ms=0, cpu_ms=0,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=4, help="how often each utterance is said, 1 to 10")
    parser.add_argument("--numbers", type=int, default=60, help="sentences with a telephone number")
    parser.add_argument("--profiles", nargs="+", default=list(PROFILES))
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor() as pool:
        print(table(list(pool.map(decode, jobs(options.passes, options.numbers, options.profiles), chunksize=4))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
