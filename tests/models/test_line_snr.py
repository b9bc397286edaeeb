"""The ratio of speech to noise on real synthesised speech, in a file and as it comes in a call."""

from __future__ import annotations

import numpy as np
import pytest
from support.speech_levels import active_level

from callm_voice.audio.pcm import Pcm, level_dbov, split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.line.apply import measure
from callm_voice.line.channel import Channel, rehearsed_level
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.speech.factory import make_tts
from callm_voice.speech.settings import HibariSettings, PiperSettings
from callm_voice.speech.spoken import to_spoken

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]

LINES = (
    "Hello, my name is Maria Hernandez and I'd like to move an appointment.",
    "My date of birth is March 14th, 1979, and my phone number is 212-555-0133.",
    "It was for a blood test with Doctor Keller.",
    "The amount was $1,246.18, and I can't pay that right now.",
    "No, that's not what I said. It's fifteen, not fifty.",
    "Thank you very much, goodbye.",
)
RATE_HZ = 8000


@pytest.fixture(scope="module", params=[HibariSettings, PiperSettings], ids=["hibari", "piper"])
def caller(request: pytest.FixtureRequest) -> Pcm:
    """A caller's side of a call: its lines with pauses of 3 s."""
    voice = make_tts(request.param())
    parts = [np.zeros(RATE_HZ, np.int16)]
    for line in LINES:
        spoken = voice.synthesise(to_spoken(line), seed=1)
        parts += [resample_whole(spoken, voice.rate_hz, RATE_HZ), np.zeros(3 * RATE_HZ, np.int16)]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", ["noise-street-10", "noise-cafe-10", "noise-car-10"])
def test_10_db_are_10_db_on_a_whole_file(caller: Pcm, name: str) -> None:
    found = measure(caller, RATE_HZ, load_profile(name))
    assert found.snr_db == pytest.approx(10, abs=0.5)
    assert found.peak_out_dbov is not None
    assert found.peak_out_dbov < -1


@pytest.mark.parametrize("name", ["noise-street-10", "noise-cafe-10"])
def test_they_are_10_db_within_1_as_the_caller_speaks(caller: Pcm, name: str) -> None:
    """The level is measured on the way, by a meter that has heard nothing yet when the first word comes."""
    linear = load_profile(name).model_copy(update={"codec": "l16"})
    assert linear.microphone is not None
    quiet = linear.model_copy(update={"microphone": linear.microphone.model_copy(update={"noise": None})})
    loud_pcm, quiet_pcm = (_live(profile, caller) for profile in (linear, quiet))
    noise = (loud_pcm.astype(int) - quiet_pcm).astype(np.int16)
    assert active_level(quiet_pcm, RATE_HZ)[0] - level_dbov(noise) == pytest.approx(10, abs=1.0)


@pytest.mark.parametrize("name", ["noise-street-10", "noise-cafe-10"])
def test_they_are_10_db_within_half_a_db_where_the_lines_are_rehearsed(caller: Pcm, name: str) -> None:
    """As in a call with a scripted caller."""
    linear = load_profile(name).model_copy(update={"codec": "l16"})
    assert linear.microphone is not None
    quiet = linear.model_copy(update={"microphone": linear.microphone.model_copy(update={"noise": None})})
    level = rehearsed_level([caller], linear, 1)
    loud_pcm, quiet_pcm = (_live(profile, caller, level) for profile in (linear, quiet))
    noise = (loud_pcm.astype(int) - quiet_pcm).astype(np.int16)
    assert active_level(quiet_pcm, RATE_HZ)[0] - level_dbov(noise) == pytest.approx(10, abs=0.5)


def _live(profile: LineProfile, pcm: Pcm, speech_dbov: float | None = None) -> Pcm:
    channel = Channel(profile, seed=1, speech_dbov=speech_dbov)
    return np.concatenate([channel.process(frame) for frame in split_frames(pcm, profile.frame_samples)])
