"""What a line did, for a terminal and as JSON. `python -m callm_voice.report.line_view FOLDER` draws docs/img."""

from __future__ import annotations

import importlib
import importlib.util
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Column, Table

from callm_voice.audio.pcm import FULL_SCALE, Pcm
from callm_voice.audio.resample import resample_whole
from callm_voice.core.errors import CallmError, MissingDependencyError
from callm_voice.core.runfolder import disk_errors
from callm_voice.line.apply import Applied, apply_profile, measure
from callm_voice.line.channel import Channel
from callm_voice.line.delay import measured_delay_ms
from callm_voice.line.profile import LineProfile, all_profiles, load_profile
from callm_voice.line.profile_parts import AdaptiveBuffer
from callm_voice.report.line_plots import draw_losses, draw_spectrogram

SAMPLE_TEXT = "Hi, this is Maria Navarro. My number is 212-555-0133, and I need to move Tuesday's appointment."
"""What `callm-voice line hear` says, and what the plots show."""
DPI = 85
COLOURS = 40
PANELS_ACROSS = 5
LOSSES = ("loss-mobile", "loss-bad", "loss-awful", "worst")


def profile_row(profile: LineProfile) -> dict[str, Any]:
    """One profile as `line list --json` has it; None: it has no such thing."""
    network, microphone = profile.network, profile.microphone

    def dumped(part: Any) -> Any:
        return None if part is None else part.model_dump(mode="json", exclude_none=True)

    return {
        "id": profile.id,
        "title": profile.title,
        "codec": profile.codec,
        "mode": profile.codec_mode,
        "tandem": [dumped(codec) for codec in profile.tandem],
        "rate_hz": profile.rate_hz,
        "band_hz": None if profile.band_hz is None else list(profile.band_hz),
        "loss": dumped(network and network.loss),
        "jitter": dumped(network and network.jitter),
        "buffer": dumped(network and network.buffer),
        "noise": dumped(microphone and microphone.noise),
        "speakerphone": dumped(microphone and microphone.speakerphone),
        "delay_ms": round(Channel(profile).delay_ms, 3),
    }


def profiles_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The rows of `profile_row`."""
    table = Table(
        Column("profile", no_wrap=True), "codec", "kHz", "loss", "noise", "delay", "what", box=None, pad_edge=False
    )
    for row in rows:
        codecs = [f"{row['codec']} {row['mode'] or ''}".strip(), *(c["codec"] for c in row["tandem"])]
        loss, noise = row["loss"], row["noise"]
        table.add_row(
            row["id"],
            ", ".join(codecs),
            f"{row['rate_hz'] / 1000:g}",
            "" if loss is None else f"{loss['rate_percent']:g} %",
            "" if noise is None else f"{noise['kind']} {noise['snr_db']:g} dB",
            f"{row['delay_ms']:.0f} ms",
            row["title"],
        )
    return table


def applied_report(pcm: Pcm, rate_hz: int, profile: LineProfile, seed: int, done: Applied) -> dict[str, Any]:
    """What the line did to a sound; None: not to be said of this profile or this sound.

    Args:
        pcm: (samples,) int16 at `rate_hz`, what went in.
        done: what `apply_profile` made of it with this seed.
    """
    found = measure(pcm, rate_hz, profile, seed)
    counts = done.counts
    return {
        "level_in_dbov": found.level_in_dbov,
        "level_out_dbov": found.level_out_dbov,
        "peak_out_dbov": found.peak_out_dbov,
        "gain_error_db": done.gain_error_db,
        "noise_dbov": found.noise_dbov,
        "snr_db": found.snr_db,
        "band_hz": list(found.band_hz),
        "delay_stated_ms": _stated_delay_ms(profile, done),
        "delay_measured_ms": measured_delay_ms(resample_whole(pcm, rate_hz, done.rate_hz), done.pcm, done.rate_hz),
        "packets": None if counts is None else counts.model_dump(mode="json"),
    }


def _stated_delay_ms(profile: LineProfile, done: Applied) -> list[float]:
    """Least and greatest one-way delay of this profile: they differ where the jitter buffer adapts."""
    if profile.network is None or done.counts is None:
        return [done.delay_ms, done.delay_ms]
    spec = profile.network.buffer
    depths = (spec.min_ms, spec.max_ms) if isinstance(spec, AdaptiveBuffer) else (spec.depth_ms, spec.depth_ms)
    return [round(done.delay_ms - done.counts.buffer_ms + depth, 3) for depth in depths]


def applied_table(report: dict[str, Any]) -> Table:
    """The report of `applied_report`."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for label, text in _lines(report):
        table.add_row(label, text)
    return table


def _lines(report: dict[str, Any]) -> list[tuple[str, str]]:
    def level(key: str, unit: str = "dBov") -> str:
        return "none" if report[key] is None else f"{report[key]:.1f} {unit}"

    low_hz, high_hz = report["band_hz"]
    least_ms, greatest_ms = report["delay_stated_ms"]
    stated = f"{least_ms:.1f} ms" if least_ms == greatest_ms else f"{least_ms:.1f} to {greatest_ms:.1f} ms, adaptive"
    measured = report["delay_measured_ms"]
    lines = [
        ("active speech level in", level("level_in_dbov")),
        ("active speech level out", f"{level('level_out_dbov')}, noise and losses left out"),
        ("highest sample out", level("peak_out_dbov")),
        ("noise", level("noise_dbov")),
        ("signal to noise", level("snr_db", "dB")),
        ("band, 3 dB down", f"{low_hz:,.0f} to {high_hz:,.0f} Hz"),
        ("one way delay, stated", stated),
        ("one way delay, measured", "nothing alike came out" if measured is None else f"{measured:.1f} ms"),
    ]
    if report["gain_error_db"] is not None:
        lines.append(("gain error drawn", level("gain_error_db", "dB")))
    packets = report["packets"]
    if packets is None:
        return [*lines, ("packets", "none: this profile has no network")]
    burst = packets["mean_burst_packets"]
    return [
        *lines,
        ("packets sent", f"{packets['sent']:,}"),
        ("lost", f"{packets['lost']:,}"),
        ("late", f"{packets['late']:,}"),
        ("concealed", f"{packets['concealed']:,}, by {packets['concealed_by']}"),
        ("mean burst", "none" if burst is None else f"{burst:.2f} packets"),
        ("jitter buffer at the end", f"{packets['buffer_ms']:.0f} ms"),
    ]


def write_doc_plots(
    pcm: Pcm, rate_hz: int, folder: Path, seed: int = 1, profiles: Sequence[LineProfile] | None = None
) -> list[Path]:
    """`line-spectrograms.png`, one small spectrogram for each profile, and `line-losses.png`.

    Args:
        pcm: (samples,) int16 at `rate_hz`: a sentence.
        folder: made if it is not there.
        profiles: of the spectrograms; None: all.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        DiskError: a file cannot be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError("matplotlib", "plots")
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    chosen = all_profiles() if profiles is None else profiles
    lossy = [profile for profile in map(load_profile, LOSSES) if profiles is None or profile in profiles]
    written = [_save(_spectrograms(pcm, rate_hz, chosen, seed), folder / "line-spectrograms.png")]
    if lossy:
        written.append(_save(_losses(pcm, rate_hz, lossy, seed), folder / "line-losses.png"))
    return written


def _spectrograms(pcm: Pcm, rate_hz: int, profiles: Sequence[LineProfile], seed: int) -> Any:
    down = -(-len(profiles) // PANELS_ACROSS)
    figure = _figure((11.5, 1.5 * down))
    panels = figure.subplots(down, PANELS_ACROSS, sharex=True, sharey=True, squeeze=False).ravel()
    for profile, axes in zip(profiles, panels, strict=False):
        done = apply_profile(pcm, rate_hz, profile, seed)
        draw_spectrogram(done.pcm, done.rate_hz, axes, bar=False)
        axes.set(ylim=(0, 8), title=profile.id, facecolor="#d9d9d9")
        axes.title.set_fontsize(9)
        axes.tick_params(labelsize=7)
        axes.set_ylabel("kHz" if axes.get_subplotspec().is_first_col() else "", fontsize=8)
    for axes in panels[len(profiles) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(profiles) - PANELS_ACROSS) : len(profiles)]:
        axes.set_xlabel("s", fontsize=8)
    return figure


def _losses(pcm: Pcm, rate_hz: int, profiles: Sequence[LineProfile], seed: int) -> Any:
    """Four times the sentence, so that bursts are seen."""
    figure = _figure((9, 1.3 * len(profiles)))
    panels = figure.subplots(len(profiles), 1, sharex=True, squeeze=False).ravel()
    for profile, axes in zip(profiles, panels, strict=True):
        done = apply_profile(np.tile(pcm, 4), rate_hz, profile, seed)
        axes.plot(np.arange(done.pcm.size) / done.rate_hz, done.pcm / FULL_SCALE, lw=0.3, color="#1f3b73")
        draw_losses(done, axes)
        axes.set_title(f"{profile.id}: {axes.get_title(loc='left')}", loc="left", fontsize=8)
        axes.set(ylim=(-0.8, 0.8), ylabel="")
    panels[-1].set_xlabel("s; red: lost, orange: late")
    return figure


def _figure(size_inches: tuple[float, float]) -> Any:
    figure_module = importlib.import_module("matplotlib.figure")
    return figure_module.Figure(figsize=size_inches, dpi=DPI, layout="constrained")


def _save(figure: Any, path: Path) -> Path:
    """As PNG with a palette: noise has no other compression."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    image = importlib.import_module("PIL.Image").open(drawn).convert("RGB")
    with disk_errors(path):
        image.quantize(COLOURS).save(path, optimize=True)
    return path


def main(arguments: Sequence[str]) -> int:
    """Say the sample sentence and draw; 2 on wrong arguments."""
    from callm_voice.speech.factory import make_tts
    from callm_voice.speech.settings import HibariSettings
    from callm_voice.speech.spoken import to_spoken

    if len(arguments) != 1:
        sys.stderr.write("python -m callm_voice.report.line_view FOLDER\n")
        return 2
    try:
        voice = make_tts(HibariSettings())
        write_doc_plots(voice.synthesise(to_spoken(SAMPLE_TEXT)), voice.rate_hz, Path(arguments[0]))
    except CallmError as error:
        sys.stderr.write(f"{error.one_line()}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
