"""What a call's record says of its line: plain values, by name."""

from __future__ import annotations

from typing import Any

from callm_voice.audio.codecs import codec_catalogue
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import LineProfile

_COUNTS = ("sent", "lost", "late", "played", "concealed", "skipped", "stretched")


def line_settings(profile: LineProfile, line: PhoneLine) -> dict[str, Any]:
    """What the line is: profile, codecs with their modes, delay; and, only where it has one, its microphone with what
    the speech was brought to and the error that was drawn, and its network. Times in ms, ratios in dB, levels in dBov;
    keys as in a profile's file."""
    told: dict[str, Any] = {
        "profile": profile.id,
        "rate_hz": profile.rate_hz,
        "codec_mode": _mode(profile.codec, profile.codec_mode),
        "tandem": [{"codec": t.codec, "codec_mode": _mode(t.codec, t.codec_mode)} for t in profile.tandem],
        "band_hz": profile.band_hz,
        "one_way_delay_ms": round(line.delay_ms, 3),
    }
    if profile.microphone is not None:
        told["microphone"] = profile.microphone.model_dump(mode="json", exclude_none=True)
        told["gain_error_drawn_db"] = None if line.gain_error_db is None else round(line.gain_error_db, 3)
        told["speech_level"] = "measured on the way" if line.speech_dbov is None else "rehearsed"
    if profile.network is not None:
        told["network"] = profile.network.model_dump(mode="json", exclude_none=True)
        told["concealed_by"] = {way: counts.concealed_by for way, counts in line.packet_counts.items()}
    return told


def line_work(line: PhoneLine) -> dict[str, float]:
    """What became of the packets, for example `to_agent_lost`, and the mean burst where there was one; empty: the line
    has no network."""
    work: dict[str, float] = {}
    for way, counts in line.packet_counts.items():
        work |= {f"{way}_{name}": float(getattr(counts, name)) for name in _COUNTS}
        if counts.mean_burst_packets is not None:
            work[f"{way}_mean_burst_packets"] = counts.mean_burst_packets
    return work


def _mode(codec: str, mode: str | None) -> str | None:
    """The mode that a codec really has; None: it has none."""
    return mode or next((info.default_mode for info in codec_catalogue() if info.name == codec), None)
