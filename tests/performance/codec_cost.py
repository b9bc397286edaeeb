"""What each codec costs, as a share of real time: processor time of 20 s of speech over 20 s.

    python tests/performance/codec_cost.py [--runs 7]

Every codec encodes and decodes the same speech-shaped sound some times over, all codecs in turn, so whatever else the
machine does is shared. A share is the sum over the seconds of the least processor time that each one took: other work
can only add to it, and it seldom adds to the same second each time. Opening the codec does not count. Prints the table
of docs/codecs.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.codecs import codec_catalogue, make_codec
from callm_voice.audio.pcm import Pcm, split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

PTIME_MS = 20
SOUND_S = 20
SAID = "I have an appointment with you soon, and I forgot when it is. Could you please look it up for me? "
Way = tuple[str, int, str | None]
"""Codec, Hz of the PCM, mode."""


def ways() -> list[Way]:
    """Every codec at each of its rates and in each of its modes."""
    return [
        (info.name, rate_hz, mode)
        for info in codec_catalogue()
        for rate_hz in info.rates_hz
        for mode in info.modes or (None,)
    ]


def speech(rate_hz: int) -> Pcm:
    """(seconds, packets, samples) int16, about a fifth of it pauses."""
    tts = ScriptedTts(ScriptedTtsSettings(rate_hz=16_000))
    sound = resample_whole(tts.synthesise(SAID * 4), tts.rate_hz, rate_hz)
    assert sound.size >= SOUND_S * rate_hz
    packets = split_frames(sound[: SOUND_S * rate_hz], rate_hz * PTIME_MS // 1000)
    return packets.reshape(SOUND_S, -1, packets.shape[1])


def one_run(way: Way, sound: Pcm) -> NDArray[np.float64]:
    """Processor seconds, (encode or decode, second of sound)."""
    name, rate_hz, mode = way
    codec = make_codec(name, rate_hz, mode=mode)
    taken_s = np.zeros((2, len(sound)))
    for second, packets in enumerate(sound):
        begun_s = time.process_time()
        payloads = [codec.encode(packet) for packet in packets]
        encoded_s = time.process_time()
        for payload in payloads:
            codec.decode(payload)
        taken_s[:, second] = encoded_s - begun_s, time.process_time() - encoded_s
    return taken_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="of each codec (default 7)")
    chosen = parser.parse_args()
    sounds = {rate_hz: speech(rate_hz) for rate_hz in (8000, 16_000)}
    taken: dict[Way, list[NDArray[np.float64]]] = {way: [] for way in ways()}
    for run in range(chosen.runs):
        for way, runs in taken.items():
            runs.append(one_run(way, sounds[way[1]]))
        print(f"run {run + 1} of {chosen.runs}", file=sys.stderr)
    shares = {way: np.min(runs, axis=0).sum(axis=1) / SOUND_S for way, runs in taken.items()}
    print("| codec | PCM rate, Hz | encode, % | decode, % |\n|---|---|---:|---:|")
    for (name, rate_hz), modes in groupby(shares, key=lambda way: way[:2]):
        encode, decode = np.transpose([shares[way] for way in modes])
        print(f"| `{name}` | {rate_hz} | {_range(encode)} | {_range(decode)} |")


def _range(shares: NDArray[np.float64]) -> str:
    """In percent; where there are modes, the cheapest and the dearest."""
    least, most = (f"{100 * share:.2f}" for share in (shares.min(), shares.max()))
    if most == "0.00":
        return "< 0.01"
    return least if least == most else f"{least} - {most}"


if __name__ == "__main__":
    main()
