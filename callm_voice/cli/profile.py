"""`callm-voice profile`: how fast a model answers, without a whole benchmark."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.cli.main import INTERRUPTED
from callm_voice.core.errors import MissingDependencyError, UsageError
from callm_voice.core.latency_profile import MEASUREMENTS_FILE, LatencyProfile

SIZES, QUICK_SIZES = (500, 1000, 2000, 4000, 8000, 16000), (500, 1000, 2000)
LEVELS, QUICK_LEVELS = (1, 2, 4, 8), (1, 2, 4)
REPEATS, QUICK_REPEATS = 10, 3
SIZE_RANGE = (200, 1_000_000)
LEVEL_RANGE = (1, 16)


def profile(
    model: str = typer.Option(..., "--model", help="A model by name, or openai:BASE_URL#MODEL"),
    repeats: int | None = typer.Option(
        None, min=1, help=f"Rounds; each asks everything once. Default {REPEATS}, with --quick {QUICK_REPEATS}"
    ),
    sizes: str | None = typer.Option(
        None, help=f"Prompt tokens, with commas. Default {','.join(map(str, SIZES))}; quick {QUICK_SIZES[-1]} at most"
    ),
    concurrency: str | None = typer.Option(
        None,
        help=f"Callers at once, with commas. Default {','.join(map(str, LEVELS))}; quick {QUICK_LEVELS[-1]} at most",
    ),
    quick: bool = typer.Option(False, "--quick", help="Few rounds of short prompts: a first look"),
    max_tokens: int | None = typer.Option(
        None, min=SIZE_RANGE[0], help="The longest prompt, for a server with a small context"
    ),
    seed: int = typer.Option(1, min=0, help="Same seed, same prompts and order"),
    out_dir: Path | None = typer.Option(None, "--out", help="Folder; runs/profiles/NAME-STAMP if not given"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Measure the latency of a model the way calls ask it, and say whether it is in the category.

    Examples:

    `callm-voice profile --model qwen2.5-coder-0.5b --quick`

    `callm-voice profile --model openai:http://127.0.0.1:8000/v1#my-model --repeats 20`

    Exits with 0 if the median time to first token is at most 1,000 ms, 1 if it is more, 3 if the model cannot be asked.
    """
    from callm_voice.bench.profile.run import ProfilePlan, run_profile
    from callm_voice.llm.spec import parse_model_arg

    plan = ProfilePlan(
        model=parse_model_arg(model),
        sizes=numbers("--sizes", sizes, SIZE_RANGE, QUICK_SIZES if quick else SIZES),
        concurrency=numbers("--concurrency", concurrency, LEVEL_RANGE, QUICK_LEVELS if quick else LEVELS),
        repeats=repeats or (QUICK_REPEATS if quick else REPEATS),
        seed=seed,
        max_tokens=max_tokens,
        out=out_dir,
    )
    try:
        measured, folder = run_profile(plan, say)
    except KeyboardInterrupt:
        say(f"callm-voice: interrupted; what was measured stands in {MEASUREMENTS_FILE} of the profile folder")
        raise typer.Exit(INTERRUPTED) from None
    plots = draw_plots(measured, folder)
    if as_json:
        print_json(measured.model_dump(mode="json"))
        say(f"profile folder: {folder}")
    else:
        from callm_voice.report.profile_view import profile_view

        out.print(profile_view(measured))
        out.print(f"profile folder: {folder}", markup=False, soft_wrap=True)
        if plots:
            out.print(f"plots: {', '.join(path.name for path in plots)}", markup=False, soft_wrap=True)
    raise typer.Exit(exit_code(measured))


def exit_code(measured: LatencyProfile) -> int:
    """0 in the category, 1 out of it, 3 no caller turn was answered."""
    return {True: 0, False: 1, None: 3}[measured.summary.in_category]


def numbers(option: str, text: str | None, within: tuple[int, int], default: tuple[int, ...]) -> tuple[int, ...]:
    """`500,1000` as ascending numbers, each once.

    Raises:
        UsageError: something else stands there, or a number is out of range.
    """
    if text is None:
        return default
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"{option} {text}: expected whole numbers with commas between them") from None
    if found[0] < within[0] or found[-1] > within[1]:
        raise UsageError(f"{option} {text}: expected numbers from {within[0]:,} to {within[1]:,}")
    return tuple(found)


def draw_plots(measured: LatencyProfile, folder: Path) -> list[Path]:
    """The plots; without matplotlib a line says how to get them."""
    from callm_voice.report.plots import write_plots

    try:
        return write_plots(measured, folder)
    except MissingDependencyError as error:
        say(f"no plots: {error.one_line()}")
        return []
