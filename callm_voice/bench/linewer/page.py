"""`python -m callm_voice.bench.linewer.page RESULTS [PAGE]`: the page of Whisper's errors by line profile.

Everything on it comes from the results; without PAGE it goes to docs/wer-by-profile.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from callm_voice.bench.linewer.results import Cell, Count, Rate, VoiceCell, WerResults, load_results
from callm_voice.bench.linewer.utterances import KINDS
from callm_voice.core.errors import CallmError

TARGET = Path("docs/wer-by-profile.md")
ENOUGH_UTTERANCES = 10
"""Of one voice, for a rate of its own."""
HEAD = """# Whisper's errors by line profile

Made by `python -m callm_voice.bench.linewer.page docs/wer-by-profile.json`; a test compares it. How a line works is in
[line.md](line.md), what the codecs are in [codecs.md](codecs.md).
"""
WORDS = {
    "name": "names", "date_of_birth": "dates of birth", "phone": "phone", "card_like": "card-like", "money": "money",
    "address": "addresses", "medical": "medical", "legal": "legal",
}  # fmt: skip
METHOD = """## How it was measured

- **What is said**: {utterances} caller turns written for this (`bench/linewer/utterances.yaml`), with {entities}
  entities. Voices: {voices}.
  Each line is synthesised in its spoken form, has 300 ms of silence before it and 500 ms after it, as an endpointer
  cuts it out, and goes through the whole chain of the profile. Seeds are the same for all profiles.
- **Recogniser**: Whisper greedy, a window of 15 s and one of 30 s where it is unsure, guards against loops and against
  text on noise. What the guards threw away is not in the text. Unsure is `retry_logprob: -0.7` here; the default is
  -0.4 by now, which makes 0.03 points of WER over [three lines](pipelines-and-lines.md#the-short-window).
- **WER**: substitutions, deletions and insertions over the words said, both texts after Whisper's English normaliser
  (`whisper-normalizer`), aligned by `jiwer`. A sum over all words, not a mean over utterances.
- **Entities**: looked for in the text as the recogniser wrote it. A telephone or card-like number needs the same digits
  in the same order, leading zeros included; money the same amount; a date of birth the same day, month and year; the
  others the same words in a row (spelling counts: a name that sounds right and is written otherwise is wrong).
- **Invented**: {sounds} sounds without speech a profile (silence, hiss, hum, noises of places, tones of the network,
  keys, music, coughs); counted is for how many of them text came back.
- **Intervals**: {level:.0%}. Of WER and entities the percentiles of {resamples:,} resamples of *utterances* with a
  fixed seed: all that was heard of one utterance stays together, so they say how much another set of utterances would
  change. Of *invented*, Wilson's, in the JSON.
- **CPU**: processor time of the decoding over the length of the sound, median, one thread, {host}.
  The machine had other work to do, which makes it greater than it would be alone. Wall time is in the JSON.
"""


def page(results: WerResults) -> str:
    """The whole page."""
    parts = [HEAD, *_coverage(results)]
    for model in results.models:
        cells = [cell for cell in results.cells if cell.model == model and cell.wer is not None]
        parts += [
            f"## Whisper {model}",
            _main_table(cells, results),
            f"### By kind of entity, {model}",
            _kinds_table(cells),
        ]
        voices = [cell for cell in results.by_voice if cell.model == model and cell.heard]
        parts += [f"### By voice, {model}", _voices(voices, results)]
    parts += ["## What it says", *_findings(results), _method(results), "## Again", _again()]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _coverage(results: WerResults) -> Iterator[str]:
    whole = results.heard == results.planned
    yield (
        f"{results.heard:,} of {results.planned:,} listenings of the plan ({results.utterances} utterances × "
        f"{len(results.voices)} voices × {len(results.profiles)} profiles, and the sounds without speech) "
        + ("were made." if whole else "were made; **the rest was not run**.")
    )
    if whole:
        return
    most = max((cell.heard for cell in results.cells), default=0)
    lines = [f"What was not run, at {results.utterances} × {len(results.voices)} = {_planned(results)} a profile:", ""]
    silent = [cell for cell in results.cells if cell.heard == 0]
    heard = [cell for cell in results.cells if cell.heard]
    if heard:
        low, high = min(cell.heard for cell in heard), most
        each = f"{low}" if low == high else f"{low} to {high}"
        voices = min(cell.voices for cell in heard)
        lines.append(
            f"- {len(heard)} profiles heard {each} of these, in at least {voices} voices: an utterance is said in "
            "another voice in each pass, the same for every profile. So profiles can be compared, voices cannot."
        )
        if low < results.utterances:
            lines.append(
                f"- **That is less than one pass of {results.utterances} utterances**: a start. The intervals are "
                "wide, and only great differences show."
            )
    if silent:
        lines.append(f"- Not run at all: {', '.join(f'`{cell.profile}`' for cell in silent)}.")
    quiet = [cell for cell in heard if cell.non_speech.heard < cell.non_speech.planned]
    if quiet:
        fewest, most_ = (f(cell.non_speech.heard for cell in quiet) for f in (min, max))
        number = f"{fewest}" if fewest == most_ else f"{fewest} to {most_}"
        lines.append(f"- Sounds without speech: {number} of {quiet[0].non_speech.planned} on {len(quiet)} profiles.")
    yield "\n".join(lines)


def _planned(results: WerResults) -> int:
    return results.utterances * len(results.voices)


def _main_table(cells: Sequence[Cell], results: WerResults) -> str:
    against = f"over `{results.reference}`" if results.reference else "over the reference"
    head = ["profile", "what", "heard", "WER %", f"{against}, points", "entities right %", "no text", "invented", "CPU"]
    rows = [
        [
            f"`{cell.profile}`",
            cell.title,
            str(cell.heard),
            percent(cell.wer),
            _points(cell.over_reference),
            percent(cell.entity_accuracy),
            str(cell.empty),
            f"{cell.non_speech.with_text} of {cell.non_speech.heard}" if cell.non_speech.heard else "not run",
            "" if cell.cpu_per_audio is None else f"{cell.cpu_per_audio:.2f}",
        ]
        for cell in cells
    ]
    return _table(head, rows, right={2, 6, 7, 8})


def _kinds_table(cells: Sequence[Cell]) -> str:
    rows = [[f"`{cell.profile}`", *(_of(cell.entities.get(kind)) for kind in KINDS)] for cell in cells]
    return _table(["profile", *(WORDS[kind] for kind in KINDS)], rows, right=set(range(1, 9)))


def _voices(voices: Sequence[VoiceCell], results: WerResults) -> str:
    """A table of the voices that have said enough; they cannot be ranked unless all said the same."""
    enough = [cell for cell in voices if cell.utterances >= ENOUGH_UTTERANCES]
    if not enough:
        return f"No voice has said {ENOUGH_UTTERANCES} utterances yet: too few for a rate. The counts are in the JSON."
    note = "Over all profiles above."
    if any(cell.utterances < results.utterances for cell in voices):
        note += " The voices did not all say the same utterances, so they cannot be ranked by this."
    rows = [
        [
            f"`{cell.voice}`", f"{cell.sex}, {cell.accent}", str(cell.heard), str(cell.utterances), percent(cell.wer),
            percent(cell.entity_accuracy),
        ]
        for cell in enough
    ]  # fmt: skip
    head = ["voice", "what", "heard", "utterances", "WER %", "entities right %"]
    return f"{note}\n\n{_table(head, rows, right={2, 3})}"


def _findings(results: WerResults) -> Iterator[str]:
    """Which profiles are worse than the reference by more than chance, and which are not: from the intervals alone."""
    for model in results.models:
        worse, same, better = _compared(results, model)
        lines = [f"Against `{results.reference}`, by the interval of the difference, with Whisper {model}:", ""]
        for label, found in (
            ("more errors", worse),
            ("no difference that this set shows", same),
            ("fewer errors", better),
        ):
            if found:
                lines.append(f"- {label}: {', '.join(f'`{cell.profile}`' for cell in found)}")
        if worse or same or better:
            yield "\n".join(lines)
        texts = [
            f"- `{cell.profile}`, {sound}: “{_clip(text)}”"
            for cell in results.cells
            if cell.model == model
            for sound, text in sorted(cell.non_speech.texts.items())
        ]
        if texts:
            yield "Text that came back where nobody spoke (at most twelve are shown):"
            yield "\n".join(texts[:12])


def _compared(results: WerResults, model: str) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Profiles with more errors than the reference, with none that the interval shows, with fewer."""
    found: tuple[list[Cell], list[Cell], list[Cell]] = ([], [], [])
    for cell in results.cells:
        rate = cell.over_reference
        if cell.model != model or rate is None or rate.low is None or rate.high is None:
            continue
        found[0 if rate.low > 0 else 2 if rate.high < 0 else 1].append(cell)
    return found


def _method(results: WerResults) -> str:
    host = results.host
    sounds = max((cell.non_speech.planned for cell in results.cells), default=0)
    return METHOD.format(
        utterances=results.utterances,
        entities=sum(results.entities.values()),
        voices=", ".join(results.voices),
        sounds=sounds,
        level=results.level,
        resamples=results.resamples,
        host=f"{host.get('cores')} cores, {host.get('machine')}",
    )


def _again() -> str:
    return (
        "```\n"
        "callm-voice line wer --out runs/wer                    # all of it, on every core; stop it and go on at will\n"
        "callm-voice line wer --profiles pstn-g711u,worst --voices joe --limit 5 --out runs/wer-small\n"
        "cp runs/wer/results.json docs/wer-by-profile.json\n"
        "gzip -9nc runs/wer/results.jsonl > docs/wer-by-profile.jsonl.gz\n"
        "python -m callm_voice.bench.linewer.page docs/wer-by-profile.json\n"
        "```\n\n"
        "What was heard in each listening stands in wer-by-profile.jsonl.gz. To go on from there, or to look at it:\n\n"
        "```\n"
        "mkdir -p runs/wer && gzip -dc docs/wer-by-profile.jsonl.gz > runs/wer/results.jsonl\n"
        "callm-voice line wer --out runs/wer\n"
        "```\n\n"
        "A larger model, with a GPU: `--models hub:large-v3 --device cuda`, or the folder of one in CTranslate2's form."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: set[int]) -> str:
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "\n".join("| " + " | ".join(_cell(text) for text in row) + " |" for row in (head, rule, *rows))


def _cell(text: str) -> str:
    return text.replace("|", "/")


def percent(rate: Rate | None) -> str:
    """`12.3 [9.9, 14.7]`; empty for None."""
    if rate is None:
        return ""
    if rate.low is None or rate.high is None:
        return f"{100 * rate.value:.1f}"
    return f"{100 * rate.value:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def _points(rate: Rate | None) -> str:
    if rate is None:
        return ""
    if rate.low is None or rate.high is None:
        return f"{100 * rate.value:+.1f}"
    return f"{100 * rate.value:+.1f} [{100 * rate.low:+.1f}, {100 * rate.high:+.1f}]"


def _of(count: Count | None) -> str:
    return "" if count is None or not count.of else f"{count.count}/{count.of}"


def _clip(text: str) -> str:
    """A recogniser's text as plain text: it is data, and must not become markup."""
    plain = "".join(c if c.isalnum() or c in " .,'?!$%-" else " " for c in text)
    return plain if len(plain) <= 80 else plain[:79] + "…"


def main(arguments: Sequence[str]) -> int:
    """Write the page; 2 on wrong arguments or a file that is no results."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write("python -m callm_voice.bench.linewer.page RESULTS [PAGE]\n")
        return 2
    try:
        results = load_results(Path(arguments[0]))
    except CallmError as error:
        sys.stderr.write(f"{error.one_line()}\n")
        return error.exit_code
    target = Path(arguments[1]) if len(arguments) == 2 else TARGET
    target.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
