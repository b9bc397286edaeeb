"""From rows to rates. Word errors after Whisper's own English normaliser; intervals resample utterances, never rows."""

from __future__ import annotations

import importlib
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from callm_voice.bench.linewer.entities import arrived
from callm_voice.bench.linewer.listen import Heard
from callm_voice.bench.linewer.plan import WerPlan
from callm_voice.bench.linewer.results import Cell, Count, NonSpeech, Rate, VoiceCell, WerResults
from callm_voice.bench.linewer.utterances import KINDS, EntityKind, Utterance
from callm_voice.core.errors import MissingDependencyError
from callm_voice.core.ids import derive_seed
from callm_voice.line.profile import LineProfile

LEVEL = 0.95
RESAMPLES = 2000
FEWEST = 5
"""Utterances that resampling needs: of one it would make a point."""
REFERENCE = "clean-16k"


@dataclass(frozen=True)
class Scored:
    """One row of speech."""

    row: Heard
    words: int
    substitutions: int
    deletions: int
    insertions: int
    right: tuple[tuple[EntityKind, bool], ...]

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions


class Scorer:
    """Scores transcripts against what was said.

    Raises:
        MissingDependencyError: jiwer or whisper-normalizer is not installed.
    """

    def __init__(self) -> None:
        self._jiwer = _package("jiwer", "jiwer")
        self._normalise: Callable[[str], str] = _package(
            "whisper_normalizer.english", "whisper-normalizer"
        ).EnglishTextNormalizer()

    def score(self, row: Heard, utterance: Utterance) -> Scored:
        """One row."""
        found = self._jiwer.process_words(self._normalise(utterance.text), self._normalise(row.text))
        return Scored(
            row=row,
            words=found.hits + found.substitutions + found.deletions,
            substitutions=found.substitutions,
            deletions=found.deletions,
            insertions=found.insertions,
            right=tuple((entity.kind, arrived(entity, row.text)) for entity in utterance.entities),
        )


def score_rows(
    plan: WerPlan, rows: Sequence[Heard], *, scorer: Scorer, version: str, made_at: str, host: dict[str, object]
) -> WerResults:
    """The results of what there is of a plan.

    Args:
        rows: of the plan, from `run_plan`.
    """
    utterances = {utterance.id: utterance for utterance in plan.utterances.utterances}
    scored = [scorer.score(row, utterances[row.sound]) for row in rows if row.voice is not None]
    quiet = [row for row in rows if row.voice is None]
    cells = _Cells(plan, scored, quiet)
    return WerResults(
        product_version=version,
        made_at=made_at,
        utterance_set=plan.utterances.id,
        utterances=len(utterances),
        entities={kind: sum(e.kind == kind for u in utterances.values() for e in u.entities) for kind in KINDS},
        voices=tuple(voice.id for voice in plan.voices),
        profiles=tuple(profile.id for profile in plan.profiles),
        models=tuple(stt.model for stt in plan.models),
        reference=REFERENCE if any(profile.id == REFERENCE for profile in plan.profiles) else None,
        seed=plan.seed,
        level=LEVEL,
        resamples=RESAMPLES,
        planned=sum(1 for _ in plan.listenings()),
        heard=len(rows),
        host=host,
        cells=tuple(cells.cell(profile, stt.model) for stt in plan.models for profile in plan.profiles),
        by_voice=tuple(cells.voice(voice.id, stt.model) for stt in plan.models for voice in plan.voices),
    )


def bootstrap(groups: Iterable[tuple[float, float]], seed: int) -> Rate | None:
    """The ratio of two sums over groups, with the percentile interval of resampled groups if there are `FEWEST`; None
    without a denominator.

    Args:
        groups: (numerator, denominator) of each utterance.
    """
    table = np.array(list(groups), dtype=np.float64).reshape(-1, 2)
    total = table.sum(axis=0)
    if total[1] == 0:
        return None
    if len(table) < FEWEST:
        return Rate(value=_round(total[0] / total[1]), low=None, high=None)
    drawn = np.random.default_rng(seed).integers(0, len(table), (RESAMPLES, len(table)))
    sums = table[drawn].sum(axis=1)
    ratios = sums[:, 0] / np.maximum(sums[:, 1], 1e-9)
    low, high = np.quantile(ratios, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Rate(value=_round(total[0] / total[1]), low=_round(low), high=_round(high))


def wilson(count: int, of: int) -> Rate | None:
    """Wilson's score interval of a share: unlike resampling, it is no point where nothing was counted."""
    if of == 0:
        return None
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    share = count / of
    centre = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Rate(value=_round(share), low=_round(max(0.0, centre - half)), high=_round(min(1.0, centre + half)))


class _Cells:
    """The rows of a plan by profile, model and voice."""

    def __init__(self, plan: WerPlan, scored: Sequence[Scored], quiet: Sequence[Heard]) -> None:
        self._plan, self._scored, self._quiet = plan, scored, quiet
        self._seed = derive_seed(plan.seed, "linewer", "bootstrap")

    @cached_property
    def _reference(self) -> dict[tuple[str, str, str | None], Scored]:
        return {_who(s.row): s for s in self._scored if s.row.profile == REFERENCE}

    def cell(self, profile: LineProfile, model: str) -> Cell:
        mine = [s for s in self._scored if s.row.profile == profile.id and s.row.model == model]
        quiet = [row for row in self._quiet if row.profile == profile.id and row.model == model]
        kinds: dict[EntityKind, list[bool]] = defaultdict(list)
        for kind, right in (pair for s in mine for pair in s.right):
            kinds[kind].append(right)
        return Cell(
            profile=profile.id,
            title=profile.title,
            rate_hz=profile.rate_hz,
            model=model,
            planned=len(self._plan.utterances.utterances) * len(self._plan.voices),
            heard=len(mine),
            utterances=len({s.row.sound for s in mine}),
            voices=len({s.row.voice for s in mine}),
            words=sum(s.words for s in mine),
            substitutions=sum(s.substitutions for s in mine),
            deletions=sum(s.deletions for s in mine),
            insertions=sum(s.insertions for s in mine),
            wer=self._wer(mine),
            over_reference=None if profile.id == REFERENCE else self._over_reference(mine),
            entities={kind: Count(of=len(kinds[kind]), count=sum(kinds[kind])) for kind in KINDS if kinds[kind]},
            entity_accuracy=self._accuracy(mine),
            empty=sum(not s.row.text for s in mine),
            non_speech=_non_speech(quiet, len(self._plan.sounds)),
            cpu_per_audio=_median(s.row.cpu_ms / s.row.audio_ms for s in mine),
            wall_per_audio=_median(s.row.decode_ms / s.row.audio_ms for s in mine),
        )

    def voice(self, voice: str, model: str) -> VoiceCell:
        mine = [s for s in self._scored if s.row.voice == voice and s.row.model == model]
        who = next(v for v in self._plan.voices if v.id == voice)
        return VoiceCell(
            voice=voice,
            sex=who.sex,
            accent=who.accent,
            model=model,
            heard=len(mine),
            utterances=len({s.row.sound for s in mine}),
            wer=self._wer(mine),
            entity_accuracy=self._accuracy(mine),
        )

    def _wer(self, mine: Sequence[Scored]) -> Rate | None:
        return self._by_utterance((s.row.sound, s.errors, s.words) for s in mine)

    def _accuracy(self, mine: Sequence[Scored]) -> Rate | None:
        return self._by_utterance((s.row.sound, sum(ok for _, ok in s.right), len(s.right)) for s in mine)

    def _over_reference(self, mine: Sequence[Scored]) -> Rate | None:
        pairs = [(s, self._reference[_who(s.row)]) for s in mine if _who(s.row) in self._reference]
        return self._by_utterance((s.row.sound, s.errors - other.errors, s.words) for s, other in pairs)

    def _by_utterance(self, rows: Iterable[tuple[str, int, int]]) -> Rate | None:
        groups: dict[str, tuple[int, int]] = {}
        for sound, count, of in rows:
            before = groups.get(sound, (0, 0))
            groups[sound] = (before[0] + count, before[1] + of)
        return bootstrap(groups.values(), self._seed)


def _non_speech(rows: Sequence[Heard], planned: int) -> NonSpeech:
    texts = {row.sound: row.text for row in rows if row.text}
    return NonSpeech(
        planned=planned,
        heard=len(rows),
        with_text=len(texts),
        with_raw_text=sum(bool(row.raw) for row in rows),
        rate=wilson(len(texts), len(rows)),
        words=sum(len(text.split()) for text in texts.values()),
        texts=texts,
    )


def _who(row: Heard) -> tuple[str, str, str | None]:
    return row.model, row.sound, row.voice


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(statistics.median(found), 3) if found else None


def _round(value: float) -> float:
    return round(float(value), 4)


def _package(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, "wer") from error
