"""`callm-voice line`: the line profiles, what they do to a sound, and what a recogniser makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core.errors import UsageError

if TYPE_CHECKING:
    from callm_voice.bench.linewer.results import WerResults

app = typer.Typer(no_args_is_help=True, help="List, hear and measure line profiles.")
WRITTEN = (".wav", ".flac")
VOICE = "heart"
PROFILE_OPTION = typer.Option(..., "--profile", help="A profile by name (`callm-voice line list`) or path")
SEED_OPTION = typer.Option(1, "--seed", min=0, help="Of the line: the same seed loses the same packets")


@app.command("list")
def list_profiles(as_json: bool = JSON_OPTION) -> None:
    """List the line profiles: codec, losses, noise, one-way delay.

    The delay is that of band, codecs and jitter buffer when a call begins. Your own profiles are among them.

    Example: `callm-voice line list --json`
    """
    from callm_voice.line.profile import all_profiles
    from callm_voice.report.line_view import profile_row, profiles_table

    rows = [profile_row(profile) for profile in all_profiles()]
    if as_json:
        print_json({"profiles": rows})
    else:
        out.print(profiles_table(rows))


@app.command()
def apply(
    source: Path = typer.Argument(..., metavar="IN", help="A sound file: WAV, FLAC, MP3, Ogg, M4A, AMR, ..."),
    target: Path = typer.Argument(..., metavar="OUT", help="The file to write: .wav or .flac"),
    profile: str = PROFILE_OPTION,
    seed: int = SEED_OPTION,
    report: bool = typer.Option(False, "--report", help="Say what was measured: levels, band, packets, delay"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Send a sound file through a line, as the caller speaks: what the agent hears goes to OUT.

    Any rate, any number of channels (they are averaged). OUT has the line's rate and is longer by the line's delay.

    Examples:

    `callm-voice line apply --profile mobile-gsm hello.wav gsm.wav`

    `callm-voice line apply --profile worst --seed 7 --report --json meeting.m4a worst.wav`
    """
    from callm_voice.audio.anyfile import read_any
    from callm_voice.line.apply import apply_profile
    from callm_voice.line.profile import load_profile

    line = load_profile(profile)
    check_target(target)
    if target.exists() and source.exists() and target.samefile(source):
        raise UsageError(f"{target} is the file that is read", hint="name another file to write")
    sound = read_any(source)
    done = apply_profile(sound.pcm, sound.rate_hz, line, seed)
    write(target, done.pcm, done.rate_hz)
    measured = None
    if report:
        from callm_voice.report.line_view import applied_report

        measured = applied_report(sound.pcm, sound.rate_hz, line, seed, done)
    document: dict[str, Any] = {
        "profile": line.id, "seed": seed, "in": str(source), "in_rate_hz": sound.rate_hz, "out": str(target),
        "rate_hz": done.rate_hz, "duration_ms": round(sound.duration_ms, 1), "report": measured,
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    if measured is not None:
        from callm_voice.report.line_view import applied_table

        out.print(applied_table(measured))
    out.print(str(target), markup=False, soft_wrap=True)


@app.command()
def hear(
    profile: str | None = typer.Option(None, "--profile", help="A profile by name or path"),
    every: bool = typer.Option(False, "--all", help="One file for each profile"),
    target: Path | None = typer.Option(
        None, "--out", help="The file, default hear-PROFILE.wav; with --all the folder, default line-samples"
    ),
    text: str | None = typer.Option(
        None, "--text", help="What is said; a sentence with a name and a number if not given"
    ),
    voice: str = typer.Option(VOICE, "--voice", help="Who says it: a name of `callm-voice voices`"),
    seed: int = SEED_OPTION,
    as_json: bool = JSON_OPTION,
) -> None:
    """Write a sentence as it sounds through a line, to listen to it.

    Examples:

    `callm-voice line hear --profile mobile-amr-4k75`

    `callm-voice line hear --all --out samples --text "I can hardly hear you."`
    """
    from callm_voice.bench.linewer.listen import Speaker
    from callm_voice.bench.linewer.plan import voice_named
    from callm_voice.line.apply import apply_profile
    from callm_voice.line.profile import all_profiles, load_profile
    from callm_voice.report.line_view import SAMPLE_TEXT

    if (profile is None) != every:
        raise UsageError("give either --profile or --all", hint="callm-voice line hear --profile pstn-g711u")
    profiles = all_profiles() if profile is None else [load_profile(profile)]
    if every:
        files = {line.id: (target or Path("line-samples")) / f"{line.id}.wav" for line in profiles}
    else:
        files = {line.id: target or Path(f"hear-{line.id}.wav") for line in profiles}
    for file in files.values():
        check_target(file)
    if text is not None and not any(character.isalnum() for character in text):
        raise UsageError("--text: there is nothing to say in it")
    sound = Speaker().say(text or SAMPLE_TEXT, voice_named(voice))
    for line in profiles:
        done = apply_profile(sound.pcm, sound.rate_hz, line, seed)
        write(files[line.id], done.pcm, done.rate_hz)
    if as_json:
        rows = [{"profile": line.id, "title": line.title, "file": str(files[line.id])} for line in profiles]
        print_json({"text": text or SAMPLE_TEXT, "voice": voice, "seed": seed, "files": rows})
        return
    for line in profiles:
        out.print(f"{files[line.id]}  {line.title}", markup=False, soft_wrap=True)


@app.command()
def wer(
    profiles: str | None = typer.Option(None, help="Profiles, with commas; all if not given"),
    voices: str | None = typer.Option(None, help="Voices, with commas; all of `callm-voice voices` if not given"),
    models: str = typer.Option("base", help="Whisper models, with commas: base, a folder, or hub:NAME"),
    limit: int | None = typer.Option(None, min=1, help="Only the first so many utterances"),
    sounds: int | None = typer.Option(None, min=0, help="Only the first so many sounds without speech; 0: none"),
    utterances: Path | None = typer.Option(None, help="Your own utterances, in the form of the shipped file"),
    device: str = typer.Option("cpu", help="cpu or cuda"),
    workers: int | None = typer.Option(None, min=1, help="Processes; one for each core if not given"),
    stop_after_min: float | None = typer.Option(
        None, min=0, help="Begin nothing more after so many minutes; 0: only count what was heard before"
    ),
    seed: int = SEED_OPTION,
    folder: Path = typer.Option(Path("runs/wer"), "--out", help="Folder of results.jsonl and results.json"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Measure Whisper's word errors by line profile, which entities arrive, and what it invents where nobody speaks.

    All utterances × voices × profiles × models. Every row is kept as soon as it is there: stop it and start it again
    at will. In each pass every utterance is said in another voice over every profile, so a part is balanced too. Needs
    `pip install 'callm-voice[wer]'`.

    Examples:

    `callm-voice line wer --profiles clean-16k,pstn-g711u,worst --voices joe,bf_emma --limit 10`

    `callm-voice line wer --out runs/wer --stop-after-min 60 --json`
    """
    from callm_voice import __version__
    from callm_voice.bench.assemble import host
    from callm_voice.bench.linewer.plan import make_plan
    from callm_voice.bench.linewer.results import RESULTS_FILE
    from callm_voice.bench.linewer.run import run_plan
    from callm_voice.bench.linewer.score import Scorer, score_rows
    from callm_voice.bench.linewer.utterances import SHIPPED, load_utterances
    from callm_voice.core.clock import RealClock, utc_stamp
    from callm_voice.core.runfolder import disk_errors

    if device not in ("cpu", "cuda"):
        raise UsageError(f"--device {device}: expected cpu or cuda")
    plan = make_plan(
        load_utterances(utterances or SHIPPED),
        profiles=names("--profiles", profiles),
        voices=names("--voices", voices),
        models=names("--models", models),
        limit=limit,
        sounds=sounds,
        device=device,
        seed=seed,
    )
    scorer = Scorer()  # what scoring needs is missed before the hours, not after them
    rows = run_plan(
        plan, folder, say, workers=workers, stop_after_s=None if stop_after_min is None else 60 * stop_after_min
    )
    clock = RealClock()
    results = score_rows(plan, rows, scorer=scorer, version=__version__, made_at=utc_stamp(clock.unix_s()), host=host())
    clock.close()
    path = folder / RESULTS_FILE
    with disk_errors(path):
        path.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(results.model_dump(mode="json"))
    else:
        _show(results)
    say(f"results: {path}; a page of them: python -m callm_voice.bench.linewer.page {path} PAGE.md")


def _show(results: WerResults) -> None:
    from rich.table import Table

    from callm_voice.bench.linewer.page import percent

    table = Table("profile", "model", "heard", "WER %", "entities %", "invented", box=None, pad_edge=False)
    for cell in results.cells:
        quiet = cell.non_speech
        heard, invented = f"{cell.heard} of {cell.planned}", f"{quiet.with_text} of {quiet.heard}"
        rates = percent(cell.wer), percent(cell.entity_accuracy)
        table.add_row(cell.profile, cell.model, heard, *rates, invented)
    out.print(table)
    out.print(f"{results.heard:,} of {results.planned:,} listenings; intervals: {results.level:.0%}, by utterance")


def names(option: str, text: str | None) -> list[str] | None:
    """`a,b` as a list; None as it is.

    Raises:
        UsageError: there is no name in it.
    """
    if text is None:
        return None
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise UsageError(f"{option}: expected names with commas between them")
    return found


def check_target(path: Path) -> None:
    """Refuse a file that could not be written at the end.

    Raises:
        UsageError: its suffix is none of `WRITTEN`, or a folder has its name.
    """
    if path.suffix.lower() not in WRITTEN:
        raise UsageError(f"{path}: sound is written as .wav or .flac")
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it")


def write(path: Path, pcm: Any, rate_hz: int) -> None:
    """Write a sound; its folder is made if it is not there.

    Raises:
        DiskError: the path cannot be written.
    """
    from callm_voice.audio.files import write_sound
    from callm_voice.core.runfolder import disk_errors

    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_sound(path, pcm, rate_hz)
