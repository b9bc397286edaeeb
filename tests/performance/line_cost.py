"""What the heaviest line costs: processor time of one direction over the time of its sound."""

from __future__ import annotations

import time

import numpy as np

from callm_voice.audio.pcm import Pcm, round_to_int16
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile

PROFILE = "worst"
SOUND_S = 60
RUNS = 5
SEED = 0


def line_worst_cpu_share() -> dict[str, float]:
    """The same minute some times over: the sum over its seconds of the least that each one took, and of the least that
    opening the channel took. What else the machine does shares caches and a core's units, so it can only add to a
    second's processor time, and it seldom adds to the same second each time."""
    profile = load_profile(PROFILE)
    packets = _speech(profile.rate_hz).reshape(SOUND_S, -1, profile.frame_samples)
    taken_s = np.array([_one_run(packets) for _ in range(RUNS)])
    shares = taken_s.sum(axis=1) / SOUND_S
    share = float(taken_s.min(axis=0).sum()) / SOUND_S
    print(
        f"  {PROFILE}, {SOUND_S} s of sound: {share:.2%};",
        f"of which opening {taken_s[:, 0].min() / SOUND_S:.2%}; whole runs:",
        [f"{whole:.2%}" for whole in shares],
    )
    return {"line_worst_cpu_share": share}


def _one_run(packets: Pcm) -> list[float]:
    """Processor seconds for opening the channel, then for each second of sound."""
    profile = load_profile(PROFILE)
    marks_s = [time.process_time()]
    channel = Channel(profile, SEED)
    marks_s.append(time.process_time())
    for second in packets:
        for packet in second:
            channel.process(packet, far=packet)
        marks_s.append(time.process_time())
    return np.diff(marks_s).tolist()


def _speech(rate_hz: int) -> Pcm:
    """A minute of buzzes with pauses, talking half of the time."""
    t = np.arange(SOUND_S * rate_hz) / rate_hz
    buzz = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 12))
    talking = (t % 8 < 4) * (1 + np.sin(2 * np.pi * 4 * t))
    return round_to_int16(2500 * buzz * talking)


if __name__ == "__main__":
    line_worst_cpu_share()
