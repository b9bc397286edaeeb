"""Scores in pairs: model against model, voice against text; and the blame for failed voice calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from callm_voice.core.score_format import BlamedCall, MisheardWords, ModelBlame, ModelComparison, VoiceCost
from callm_voice.report.blame import BLAMES
from callm_voice.report.score_figures import tallies
from callm_voice.report.score_rows import TEXT_LINE, CallRow
from verifier.compare import Trials, compare, holm
from verifier.scores import score

SIGNIFICANT = 0.05
ALL_LINES = "all"


def comparisons(by_model: Mapping[str, Sequence[CallRow]]) -> tuple[ModelComparison, ...]:
    """Every pair of models with a common task over a common line, sorted by name.

    Args:
        by_model: model → the rows that are to be compared.
    """
    sides = {model: trials_of(rows) for model, rows in by_model.items()}
    found = [(a, b, compare(sides[a], sides[b])) for a, b in combinations(sorted(sides), 2)]
    tested = [(a, b, c) for a, b, c in found if c.test is not None]
    adjusted = dict(
        zip([(a, b) for a, b, _ in tested], holm([c.test.p_value for _, _, c in tested if c.test]), strict=True)
    )
    result = []
    for a, b, c in found:
        p_holm = adjusted.get((a, b))
        better = None
        if p_holm is not None and p_holm <= SIGNIFICANT and c.mean_difference:
            better = a if c.mean_difference > 0 else b
        result.append(
            ModelComparison(
                first=a, second=b, tasks=c.tasks, trials=c.trials, mean_difference=c.mean_difference,
                interval=c.interval, p_value=c.test.p_value if c.test else None, p_holm=p_holm,
                exact=c.test.exact if c.test else None, better=better,
            )
        )  # fmt: skip
    return tuple(result)


def voice_costs(model: str, rows: Sequence[CallRow]) -> tuple[VoiceCost, ...]:
    """One model by each voice line, and by all of them, against text. Empty if it was not called by both."""
    lines = sorted({row.line for row in rows} - {TEXT_LINE})
    text = [row for row in rows if row.line == TEXT_LINE]
    if not lines or not text:
        return ()
    chosen = [(line, [line]) for line in lines]
    if len(lines) > 1:
        chosen.append((ALL_LINES, lines))
    return tuple(_voice_cost(model, name, of, rows, text) for name, of in chosen)


def trials_of(rows: Sequence[CallRow], *, line: str | None = None) -> list[Trials]:
    """The valid trials by task and line, named by number and seed. `line`: call them all that."""
    cells: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    for row in sorted(rows, key=lambda r: (r.trial, r.seed, r.started_at, r.status)):
        if row.scored:
            of_cell = cells[row.pack, row.task_id, row.line if line is None else line]
            name = f"{row.trial}/{row.seed}"
            while name in of_cell:  # the same trial of several runs
                name += "+"
            of_cell[name] = row.status == "pass"
    return [Trials(pack=p, task=t, line=over, passed=passed) for (p, t, over), passed in sorted(cells.items())]


def blame_of(model: str, rows: Sequence[CallRow]) -> ModelBlame:
    """Who lost the failed voice calls of a model."""
    blamed = [
        (row, row.blame)
        for row in sorted(rows, key=lambda r: (r.task, r.line, r.trial, r.seed))
        if row.scored and row.line != TEXT_LINE and row.blame is not None
    ]
    words: Counter[tuple[str, str]] = Counter()
    for _, blame in blamed:
        args = [arg for missed in blame.missed for arg in missed.args if arg.blame == "recogniser"]
        words.update({pair for arg in args for pair in arg.words})
    of_calls = Counter(blame.blame for _, blame in blamed)
    of_tools = Counter(missed.blame for _, blame in blamed for missed in blame.missed)
    return ModelBlame(
        model=model,
        failed=len(blamed),
        calls={name: of_calls[name] for name in BLAMES},
        missed_tools={name: of_tools[name] for name in BLAMES},
        words=tuple(
            MisheardWords(said=said, heard=heard, calls=n)
            for (said, heard), n in sorted(words.items(), key=lambda item: (-item[1], item[0]))
        ),
        detail=tuple(
            BlamedCall(task=row.task, line=row.line, trial=row.trial, blame=blame.blame, because=blame.because)
            for row, blame in blamed
        ),
    )


def _voice_cost(
    model: str, name: str, lines: Sequence[str], rows: Sequence[CallRow], text: Sequence[CallRow]
) -> VoiceCost:
    voice = [row for row in rows if row.line in lines]
    common = {r.task for r in voice if r.scored} & {r.task for r in text if r.scored}
    voice, text = ([row for row in side if row.task in common] for side in (voice, text))
    # Trials of text and voice have seeds of their own, so tasks are paired and trials are not.
    by_line = [trials for line in lines for trials in trials_of(text, line=line)]
    found = compare(trials_of(voice), by_line, same_trials=False)
    return VoiceCost(
        model=model, line=name, tasks=found.tasks,
        pass_at_1_text=score(tallies(text), 1).value, pass_at_1_voice=score(tallies(voice), 1).value,
        mean_difference=found.mean_difference, interval=found.interval,
        p_value=found.test.p_value if found.test else None, exact=found.test.exact if found.test else None,
    )  # fmt: skip
