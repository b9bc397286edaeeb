"""What the heaviest line costs: processor time of one direction over the time of its sound."""

from __future__ import annotations

import time

import numpy as np

from callm_voice.audio.pcm import Pcm, round_to_int16
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile

PROFILE = "worst"
SOUND_S = 60
RUNS = 3


def line_worst_cpu_share() -> dict[str, float]:
    """The least of some runs: what else the machine does can only add to it. Opening the channel counts."""
    profile = load_profile(PROFILE)
    packets = _speech(profile.rate_hz).reshape(-1, profile.frame_samples)
    shares = []
    for seed in range(RUNS):
        begin_s = time.process_time()
        channel = Channel(profile, seed)
        for packet in packets:
            channel.process(packet, far=packet)
        shares.append((time.process_time() - begin_s) / SOUND_S)
    print(f"  {PROFILE}, {SOUND_S} s of sound, {RUNS} runs:", [f"{share:.2%}" for share in shares])
    return {"line_worst_cpu_share": min(shares)}


def _speech(rate_hz: int) -> Pcm:
    """A minute of buzzes with pauses, talking half of the time."""
    t = np.arange(SOUND_S * rate_hz) / rate_hz
    buzz = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 12))
    talking = (t % 8 < 4) * (1 + np.sin(2 * np.pi * 4 * t))
    return round_to_int16(2500 * buzz * talking)


if __name__ == "__main__":
    line_worst_cpu_share()
