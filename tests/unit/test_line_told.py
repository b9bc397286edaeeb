"""What a call's record says of its line: codecs with their modes, noise, network, and what became of the packets."""

from __future__ import annotations

import json

import numpy as np
import pytest

from callm_voice.core.events import EventLog
from callm_voice.core.fastloop import FastClock, run
from callm_voice.line.leg import Frame
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import load_profile
from callm_voice.line.told import line_settings, line_work

pytestmark = pytest.mark.unit


class Buzz:
    """A leg that buzzes and does not listen."""

    def pull(self) -> Frame | None:
        return (3000 * np.sin(np.arange(160))).astype(np.int16)

    def push(self, frame: Frame) -> None: ...

    def clear(self) -> None: ...


def a_call(name: str, *, speech_dbov: float | None = None, seconds: float = 4.0) -> PhoneLine:
    clock = FastClock()
    try:
        line = PhoneLine(
            Buzz(), Buzz(), load_profile(name), clock, EventLog(clock), 3, max_duration_s=seconds,
            speech_dbov=speech_dbov,
        )  # fmt: skip
        run(line.run, clock)
        return line
    finally:
        clock.close()


def test_the_worst_line_is_told_with_all_that_is_wrong_with_it() -> None:
    line = a_call("worst", speech_dbov=-19.0)
    told = json.loads(json.dumps(line_settings(load_profile("worst"), line)))
    assert (told["profile"], told["codec_mode"]) == ("worst", "4.75")
    assert told["tandem"] == [{"codec": "pcmu", "codec_mode": None}]
    assert told["microphone"]["noise"] == {"kind": "cafe", "snr_db": 5.0}
    assert told["speech_level"] == "rehearsed"
    assert 0 < abs(told["gain_error_drawn_db"]) <= 6
    assert told["network"]["loss"] == {"kind": "gilbert_elliott", "rate_percent": 10.0, "mean_burst_packets": 3.0}
    assert told["network"]["jitter"] == {"kind": "gamma", "mean_ms": 20.0, "sd_ms": 20.0}
    assert told["network"]["buffer"] == {"kind": "adaptive", "min_ms": 40, "max_ms": 160}
    assert told["concealed_by"] == {"to_agent": "codec", "to_caller": "codec"}


def test_the_counts_of_both_directions_are_the_lines_own() -> None:
    line = a_call("worst")
    work = line_work(line)
    for way, counts in line.packet_counts.items():
        assert work[f"{way}_sent"] == counts.sent == line.ticks
        assert work[f"{way}_lost"] == counts.lost > 0
        assert work[f"{way}_concealed"] == counts.concealed
        assert work[f"{way}_mean_burst_packets"] == counts.mean_burst_packets
    assert set(line.packet_counts) == {"to_agent", "to_caller"}
    assert all(isinstance(value, float) for value in work.values())


def test_a_plain_line_tells_nothing_that_it_has_not() -> None:
    line = a_call("pstn-g711u", seconds=0.1)
    told = line_settings(load_profile("pstn-g711u"), line)
    assert line_work(line) == {}
    assert not set(told) & {"microphone", "network", "speech_level", "concealed_by", "gain_error_drawn_db"}
    assert told["codec_mode"] is None
    assert told["tandem"] == []


def test_a_codec_of_which_no_mode_was_asked_for_names_its_default() -> None:
    profile = load_profile("mobile-amr-12k2").model_copy(update={"codec_mode": None})
    assert line_settings(profile, a_call("mobile-amr-12k2", seconds=0.1))["codec_mode"] == "12.2"


def test_a_level_that_nobody_knows_is_told_as_measured() -> None:
    profile = load_profile("noise-street-10")
    assert line_settings(profile, a_call("noise-street-10", seconds=0.1))["speech_level"] == "measured on the way"
