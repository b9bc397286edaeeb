"""What the notebooks share: the run they read, its exported tables, and a failed call at the moment it went wrong."""

from __future__ import annotations

import html
import importlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from callm_voice.audio.files import read_sound
from callm_voice.core.errors import MissingDependencyError, NotFoundError, UsageError
from callm_voice.core.record import TranscriptTurn
from callm_voice.core.score_format import RunScore
from callm_voice.report.export_tables import write_tables
from callm_voice.report.score import CallRow, filter_rows, load_calls, score_run
from callm_voice.report.score_pairs import trials_of
from callm_voice.report.score_rows import TEXT_LINE
from callm_voice.report.site.collect import LoadedCall, find_places, load_call
from callm_voice.report.site.moments import KINDS, Moment, moment_of
from callm_voice.report.text import clip, mm_ss, plain
from callm_voice.report.words import compare_words
from verifier.compare import TaskDifference, paired

PARAMETER = "CALLM_VOICE_RUN"
BEFORE_MS, AFTER_MS = 3_000.0, 7_000.0
"""What is played around a moment."""
NO_MATHEMATICS = "tex2jax_ignore mathjax_ignore"
"""Classes that keep a notebook from reading what stands between two prices as a formula."""


@dataclass(frozen=True)
class Clip:
    """A stretch of a recording."""

    channels: np.ndarray
    """(2, samples), float32 in -1 to 1: caller, agent."""
    rate_hz: int
    start_ms: float
    """On the line's clock."""


@dataclass(frozen=True)
class Failure:
    """One call that did not pass."""

    row: CallRow
    call: LoadedCall
    moment: Moment

    def clip(self, before_ms: float = BEFORE_MS, after_ms: float = AFTER_MS) -> Clip | None:
        """The sound around the moment; None where the call went without sound.

        Raises:
            ConfigError: the recording cannot be read.
        """
        if self.call.place.audio is None:
            return None
        sound = read_sound(self.call.place.audio)
        pcm = sound.pcm if sound.pcm.ndim == 2 else np.stack([sound.pcm, np.zeros_like(sound.pcm)], axis=1)
        start_ms = max(0.0, min(self.moment.t_ms - before_ms, sound.duration_ms - before_ms))
        first, last = (int(t_ms * sound.rate_hz / 1000) for t_ms in (start_ms, self.moment.t_ms + after_ms))
        return Clip(np.ascontiguousarray(pcm[first:last].T, dtype=np.float32) / 32768, sound.rate_hz, start_ms)

    def words_html(self, before_ms: float = BEFORE_MS, after_ms: float = AFTER_MS) -> str:
        """What was said around the moment, with what was heard otherwise below it. All text in it is escaped."""
        low, high = self.moment.t_ms - before_ms, self.moment.t_ms + after_ms
        turns = [turn for turn in self.call.record.transcript if turn.end_ms >= low and turn.start_ms <= high]
        title = f"{self.row.task}, {self.row.model}, {self.row.line}, trial {self.row.trial}"
        what = f"{KINDS[self.moment.kind]} at {mm_ss(self.moment.t_ms)}: {self.moment.what}"
        blame = f" (blame: {self.row.blame.blame})" if self.row.blame else ""
        return (
            f'<div class="{NO_MATHEMATICS}"><h4>{_escaped(title)}</h4><p><b>{_escaped(what)}</b>{_escaped(blame)}</p>'
            f"<table>{''.join(_turn_html(turn) for turn in turns)}</table></div>"
        )


@dataclass(frozen=True)
class OpenRun:
    """The finished calls below one folder."""

    folder: Path
    rows: tuple[CallRow, ...]

    @cached_property
    def board(self) -> RunScore:
        """The scoreboard, as `callm-voice score` prints it."""
        return score_run(self.rows)

    @cached_property
    def tables(self) -> dict[str, Any]:
        """`calls turns inferences tool_calls` as pandas frames, read back from what `callm-voice export` writes.

        Raises:
            MissingDependencyError: pandas or pyarrow is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise MissingDependencyError("pandas", "notebooks") from error
        with tempfile.TemporaryDirectory(prefix="callm-tables-") as folder:
            return {path.stem: pandas.read_parquet(path) for path in write_tables(self.rows, Path(folder))}

    def model(self, name: str = "") -> str:
        """A model of the run: the one named, or the best one.

        Raises:
            NotFoundError: the run has no such model.
        """
        models = [found.model for found in self.board.models]
        if name and name not in models:
            raise NotFoundError("model", name, models)
        return name or models[0]

    def two_models(self, first: str = "", second: str = "") -> tuple[str, str]:
        """Two models of the run; those that are not named are the best ones left.

        Raises:
            NotFoundError: the run has no such model.
            UsageError: it has only one.
        """
        a = self.model(first or next((m.model for m in self.board.models if m.model != second), ""))
        left = [m.model for m in self.board.models if m.model != a]
        if not left:
            raise UsageError(f"RUN: {self.folder} has calls of one model only, {a}; two are needed to compare")
        b = self.model(second) if second else left[0]
        if a == b:
            raise UsageError(f"FIRST and SECOND are both {a}; two models are needed to compare")
        return a, b

    def headline(self, model: str) -> list[CallRow]:
        """The rows that a model's headline is computed from: its voice calls, or its text calls if it has no others."""
        rows = filter_rows(self.rows, models=[model])
        return [row for row in rows if row.line != TEXT_LINE] or rows

    def task_differences(self, first: str, second: str) -> list[TaskDifference]:
        """One difference a common task, first minus second; `score_run` compares the same way."""
        return paired(trials_of(self.headline(first)), trials_of(self.headline(second)), same_trials=True)

    def failures(self, *, model: str = "", kind: str = "") -> list[Failure]:
        """The calls that did not pass, in the order of the site's failures page.

        Args:
            model: of this model only; empty: of all.
            kind: a key of `moments.KINDS`; empty: all.

        Raises:
            NotFoundError: there is no such model or kind.
        """
        if kind and kind not in KINDS:
            raise NotFoundError("kind of failure", kind, list(KINDS))
        rows = filter_rows(self.rows, models=[model] if model else [])
        found = []
        for row in rows:
            if row.status != "pass" and not row.superseded:
                call = load_call(find_places([row.folder])[0])
                moment = moment_of(call.record, row.blame, call.events)
                if moment is not None and kind in ("", moment.kind):
                    found.append(Failure(row, call, moment))
        return sorted(found, key=lambda failure: list(KINDS).index(failure.moment.kind))


def open_run(folder: str | Path) -> OpenRun:
    """The finished calls at or below a folder.

    Raises:
        UsageError: no folder is named, or there is none of that name.
        NotFoundError: it holds no finished call.
    """
    if not str(folder):
        raise UsageError(f"RUN is empty: name the folder of a run in the first cell, or in the variable {PARAMETER}")
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise UsageError(f"RUN: {path} is not a folder (the kernel's own folder is {Path.cwd()})")
    return OpenRun(path, tuple(load_calls([path])))


def label(text: str, width: int = 40) -> str:
    """Text of a model or task for a plot: one line, clipped, no mathematics."""
    return clip(plain(text), width).replace("$", "\\$")


def _turn_html(turn: TranscriptTurn) -> str:
    rows: list[tuple[str, str, str]] = [(mm_ss(turn.start_ms), turn.party, _escaped(turn.said))]
    other = turn.played if turn.party == "agent" else turn.heard
    if other is not None and other.split() != turn.said.split():
        rows.append(("", "played" if turn.party == "agent" else "heard", _marked(turn.said, other)))
    return "".join(
        f'<tr><td>{when}</td><td>{who}</td><td style="text-align:left">{words}</td></tr>' for when, who, words in rows
    )


def _marked(said: str, other: str) -> str:
    """The other side's words; those that differ are marked, struck out where they are missing."""
    parts: Sequence[str] = [
        _escaped(piece.heard)
        if piece.same
        else " ".join(
            tag
            for tag in (
                f"<del>{_escaped(piece.said)}</del>" if piece.said else "",
                f"<mark>{_escaped(piece.heard)}</mark>" if piece.heard else "",
            )
            if tag
        )
        for piece in compare_words(said, other)
    ]
    return " ".join(parts) or "<em>nothing</em>"


def _escaped(text: str) -> str:
    return html.escape(plain(text))
