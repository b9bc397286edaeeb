"""Plots of a line: what a profile does to a sound, and when packets were not there. matplotlib is the extra `plots`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import signal

from callm_voice.audio.pcm import FULL_SCALE, Pcm
from callm_voice.core.errors import MissingDependencyError
from callm_voice.core.runfolder import disk_errors
from callm_voice.line.apply import Applied, apply_profile, response
from callm_voice.line.leg import PTIME_MS
from callm_voice.line.profile import LineProfile

DPI = 120
WIDTH_INCHES = 9.0
WINDOW_MS = 20
FLOOR_DB = -80.0
"""Colours end this far below the loudest point."""
LOST_COLOUR, LATE_COLOUR = "#b00020", "#d17a00"


def write_line_plots(
    pcm: Pcm, rate_hz: int, profiles: Sequence[LineProfile], folder: Path, seed: int = 1
) -> list[Path]:
    """`ID.png` for each profile: the spectrogram of what comes out and, below it, the packets that were not there; and
    `bands.png`, the response of all bands.

    Args:
        pcm: (samples,) int16 at `rate_hz`: some seconds of speech.
        folder: exists.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        DiskError: a file cannot be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError("matplotlib", "plots")
    written = []
    for profile in profiles:
        done = apply_profile(pcm, rate_hz, profile, seed)
        lossy = profile.network is not None
        figure = _figure(4.2 if lossy else 3.4)
        axes = figure.subplots(2, 1, sharex=True, height_ratios=(6, 1)) if lossy else np.array([figure.add_subplot()])
        draw_spectrogram(done.pcm, done.rate_hz, axes[0])
        axes[0].set_title(f"{profile.id}: {profile.title}", loc="left", fontsize=10)
        if lossy:
            draw_losses(done, axes[1])
        axes[-1].set_xlabel("s")
        written.append(_save(figure, folder / f"{profile.id}.png"))
    figure = _figure(3.6)
    draw_bands(profiles, figure.add_subplot())
    written.append(_save(figure, folder / "bands.png"))
    return written


def draw_spectrogram(pcm: Pcm, rate_hz: int, axes: Any, *, bar: bool = True) -> None:
    """Level in dB below the loudest point, over time (s) and frequency (kHz); with `bar` the scale beside it."""
    size = rate_hz * WINDOW_MS // 1000
    hz, at_s, power = signal.spectrogram(
        pcm.astype(np.float64) / FULL_SCALE, rate_hz, window="hann", nperseg=size, noverlap=3 * size // 4, nfft=1024
    )
    level_db = 10 * np.log10(power + 1e-14)
    top_db = float(level_db.max())
    mesh = axes.pcolormesh(
        at_s, hz / 1000, level_db, vmin=top_db + FLOOR_DB, vmax=top_db, cmap="magma", shading="auto", rasterized=True
    )
    axes.set_ylabel("kHz")
    if bar:
        axes.figure.colorbar(mesh, ax=axes, label="dB", pad=0.01)


def draw_losses(done: Applied, axes: Any) -> None:
    """One bar per burst, at the time at which its packets should have been heard: red lost, orange late."""
    for burst in done.bursts:
        begin_s, step_s = burst.first_tick * PTIME_MS / 1000, PTIME_MS / 1000
        late = burst.packets - burst.lost
        axes.axvspan(begin_s, begin_s + step_s * burst.lost, color=LOST_COLOUR, lw=0)
        axes.axvspan(begin_s + step_s * burst.lost, begin_s + step_s * (burst.lost + late), color=LATE_COLOUR, lw=0)
    axes.set_yticks([])
    axes.set_ylabel("missing", fontsize=8)
    counts = done.counts
    if counts is not None:
        share = counts.concealed / max(1, counts.played + counts.concealed + counts.skipped)
        burst_text = (
            "" if counts.mean_burst_packets is None else f", mean burst {counts.mean_burst_packets:.1f} packets"
        )
        text = f"{share:.1%} concealed by {counts.concealed_by} ({counts.lost} lost, {counts.late} late){burst_text}"
        axes.set_title(text, loc="left", fontsize=8)


def draw_bands(profiles: Sequence[LineProfile], axes: Any) -> None:
    """Response of each band, from a swept sine, with the edges that the profiles state."""
    bands = {(profile.band_hz, profile.rate_hz): profile for profile in reversed(profiles)}
    for (band_hz, rate_hz), profile in sorted(bands.items(), key=lambda item: (item[0][1], item[0][0] or (0.0, 0.0))):
        hz, gain_db = response(profile)
        edges = "no filter" if band_hz is None else f"{band_hz[0]:g}-{band_hz[1]:g} Hz"
        (line,) = axes.semilogx(hz, gain_db, label=f"{edges} at {rate_hz / 1000:g} kHz")
        for edge_hz in band_hz or ():
            axes.axvline(edge_hz, color=line.get_color(), lw=0.6, ls=":")
    axes.set(xlabel="Hz", ylabel="dB", ylim=(-50, 5), xlim=(40, 8000))
    axes.grid(visible=True, which="both", lw=0.3)
    axes.legend(fontsize=8)


def _figure(height_inches: float) -> Any:
    figure_module = importlib.import_module("matplotlib.figure")
    return figure_module.Figure(figsize=(WIDTH_INCHES, height_inches), dpi=DPI, layout="constrained")


def _save(figure: Any, path: Path) -> Path:
    with disk_errors(path):
        figure.savefig(path, metadata={"Software": None})
    return path
