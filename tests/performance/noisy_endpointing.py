"""Which turns each detector makes of a caller on a noisy line.

    python tests/performance/noisy_endpointing.py [--profiles NAME ...] [--seeds 5] [--utterances 12]
    python tests/performance/noisy_endpointing.py --silence-ms 360 400 440 500 --profiles ... [--voices all]

A seed draws utterances (of the set that `callm-voice line wer` uses), the pauses between them, and the line's noise.
They are said by the caller's voice of `pipelines/cpu.yaml`, go through the line as in a call, and into the endpointing
packet by packet; no recogniser and no model takes part, and what comes out is the same on every machine. Prints the
tables of docs/line.md: counts over all seeds, times over all utterances that were not missed. With `--silence-ms` the
columns are the pipeline `cpu` with other waits for the end of a turn.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from callm_voice.audio.pcm import Pcm, split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.bench.linewer.utterances import load_utterances
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.ids import derive_seed
from callm_voice.core.paths import cache_dir
from callm_voice.line.channel import Channel, rehearsed_level
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.probes.wire import speech_segments
from callm_voice.speech.endpointing import SpeechStarted, TurnEnded
from callm_voice.speech.factory import make_endpointer, make_tts, make_vad
from callm_voice.speech.settings import EndpointingSettings, VadSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts
from callm_voice.speech.voices import VOICES, CallerVoice, choose

PROFILES = (
    "pstn-g711u",
    *(f"noise-{place}-{snr_db}" for place in ("street", "cafe", "car") for snr_db in (20, 10, 5)),
)
PAUSE_MS = (3000, 6000)
"""The agent speaks for so long; the first and the last stretch of a stream are such pauses, too."""
EARLY_MS = 100
"""A turn that begins so little before the first sound is one of the utterance: a detector has windows, not samples."""


@dataclass(frozen=True)
class Detector:
    """A column of the table."""

    name: str
    vad: VadSettings
    endpointing: EndpointingSettings


@dataclass(frozen=True)
class Spoken:
    """Where one utterance lies in what the agent hears: its first and its last sound, ms."""

    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class Turn:
    """One that the endpointing made, ms."""

    speech_ms: float
    ended_ms: float
    """Infinite: it was still open when the stream ended."""


@dataclass
class Counted:
    """A cell of the table."""

    false: int = 0
    missed: int = 0
    cut: int = 0
    late_ms: list[float] = field(default_factory=list)

    def add(self, said: Sequence[Spoken], turns: Sequence[Turn]) -> None:
        """Count one stream."""
        self.false += sum(
            not any(one.start_ms - EARLY_MS <= turn.speech_ms < one.end_ms for one in said) for turn in turns
        )
        following_ms = [*(one.start_ms for one in said[1:]), float("inf")]
        for one, next_ms in zip(said, following_ms, strict=True):
            of_it = [t for t in turns if t.speech_ms < one.end_ms and one.start_ms < t.ended_ms < next_ms]
            if not of_it:
                self.missed += 1
                continue
            self.cut += sum(turn.ended_ms < one.end_ms for turn in of_it)
            self.late_ms.append(of_it[-1].ended_ms - one.end_ms)

    def cells(self) -> str:
        """False, missed, cut, end."""
        end = f"{statistics.median(self.late_ms):.0f}, {max(self.late_ms):.0f}" if self.late_ms else "-"
        return f"{self.false} | {self.missed} | {self.cut} | {end}"


def detectors() -> list[Detector]:
    """The two pipelines as they are, and between them Silero without what `cpu-noisy` asks of it."""
    quiet, noisy = load_pipeline("cpu"), load_pipeline("cpu-noisy")
    plain = EndpointingSettings()
    bare = noisy.endpointing.model_copy(update={"threshold": plain.threshold, "min_level_dbov": plain.min_level_dbov})
    return [
        Detector("`cpu`", quiet.vad, quiet.endpointing),
        Detector("Silero", noisy.vad, bare),
        Detector("`cpu-noisy`", noisy.vad, noisy.endpointing),
    ]


def waits(silence_ms: Sequence[int]) -> list[Detector]:
    """The pipeline `cpu` with other waits."""
    cpu = load_pipeline("cpu")
    return [
        Detector(f"{wait_ms} ms", cpu.vad, cpu.endpointing.model_copy(update={"silence_ms": wait_ms}))
        for wait_ms in silence_ms
    ]


class Caller:
    """Says utterances as a call's caller would, each at the line's rate.

    Args:
        voice: None: that of the pipeline `cpu`.
    """

    def __init__(self, voice: CallerVoice | None = None) -> None:
        drawn = voice or choose(load_pipeline("cpu").caller.tts, seed=1, task="noisy-endpointing")
        self._tts = CachedTts(make_tts(drawn.settings), cache_dir() / "caller-audio")

    def say(self, text: str, rate_hz: int) -> Pcm:
        """(samples,) int16."""
        pcm = shorten_pauses(self._tts.synthesise(to_spoken(text), seed=1), self._tts.rate_hz)
        return resample_whole(pcm, self._tts.rate_hz, rate_hz)


def stream(caller: Caller, profile: LineProfile, seed: int, utterances: int) -> tuple[Pcm, list[Spoken]]:
    """What the agent hears of one caller, (packets, samples) int16, and where the caller speaks in it."""
    rng = random.Random(seed)
    texts = rng.sample([utterance.text for utterance in load_utterances().utterances], utterances)
    lines = [caller.say(text, profile.rate_hz) for text in texts]
    per_ms = profile.rate_hz // 1000
    parts: list[Pcm] = []
    said: list[Spoken] = []
    at_ms = 0.0
    line_seed = derive_seed(seed, "line")
    channel = Channel(profile, line_seed, speech_dbov=rehearsed_level(lines, profile, line_seed))
    for line in lines:
        pause = np.zeros(rng.randint(*PAUSE_MS) * per_ms, np.int16)
        at_ms += pause.size / per_ms
        sounds = speech_segments(np.concatenate([pause, line]), profile.rate_hz)
        shift_ms = at_ms - pause.size / per_ms + channel.delay_ms
        said.append(Spoken(sounds[0].start_ms + shift_ms, sounds[-1].end_ms + shift_ms))
        parts += [pause, line]
        at_ms += line.size / per_ms
    parts.append(np.zeros(PAUSE_MS[1] * per_ms, np.int16))
    packets = split_frames(np.concatenate(parts), profile.frame_samples)
    return np.stack([channel.process(packet) for packet in packets]), said


def turns_of(detector: Detector, packets: Pcm, rate_hz: int) -> list[Turn]:
    """The turns that a detector makes of (packets, samples) int16."""
    endpointer = make_endpointer(detector.endpointing, make_vad(detector.vad), rate_hz=rate_hz)
    turns: list[Turn] = []
    started_ms = 0.0
    for n, packet in enumerate(packets, 1):
        for event in endpointer.push(packet, n * packet.size * 1000 / rate_hz):
            if isinstance(event, SpeechStarted):
                started_ms = event.speech_ms
            elif isinstance(event, TurnEnded):
                turns.append(Turn(started_ms, event.t_ms))
    if endpointer.in_turn:
        turns.append(Turn(started_ms, float("inf")))
    return turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="+", default=PROFILES, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5, help="how many; each is a stream of its own (default 5)")
    parser.add_argument("--utterances", type=int, default=12, help="per seed (default 12)")
    parser.add_argument("--silence-ms", nargs="+", type=int, metavar="MS", help="compare these waits instead")
    parser.add_argument("--voices", choices=["cpu", "all"], default="cpu", help="that of `cpu`, or all ten in turn")
    chosen = parser.parse_args()
    callers = [Caller()] if chosen.voices == "cpu" else [Caller(voice) for voice in VOICES]
    columns = waits(chosen.silence_ms) if chosen.silence_ms else detectors()
    rows: list[str] = []
    for name in chosen.profiles:
        profile = load_profile(name)
        counted = [Counted() for _ in columns]
        for caller, seed in itertools.product(callers, range(1, chosen.seeds + 1)):
            packets, said = stream(caller, profile, seed, chosen.utterances)
            for detector, cell in zip(columns, counted, strict=True):
                cell.add(said, turns_of(detector, packets, profile.rate_hz))
        print(f"{name}: done", file=sys.stderr)
        rows.append(f"| `{name}` | {' | '.join(cell.cells() for cell in counted)} |")
    print(f"{chosen.seeds} seeds, {len(callers) * chosen.seeds * chosen.utterances} utterances a line\n")
    print("| line | " + " | ".join(f"{detector.name}: false | missed | cut | end" for detector in columns) + " |")
    print("|---|" + "---:|" * 4 * len(columns))
    print("\n".join(rows))


if __name__ == "__main__":
    main()
