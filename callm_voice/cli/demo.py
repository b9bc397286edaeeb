"""`callm-voice demo`: the same task by voice with the oracle and with a small real model."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.call import call_spec, make_call, show_result
from callm_voice.cli.common import JSON_OPTION, out, print_json, say

DEMO_TASK = "healthcare/C5-H1"
DEMO_MODELS = ("oracle", "qwen2.5-coder-0.5b")


def demo(
    line: str = typer.Option("pstn-g711u", help="Line profile"),
    pace: str = typer.Option("fast", help="`fast` skips dead air and measures the model for real; `real`: wall time"),
    out_dir: Path = typer.Option(Path("runs/demo"), "--out", help="Run folder"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make two real calls by voice and score them.

    The oracle plays the task's gold path and must pass: it proves that the task can be passed and that the line, the
    recogniser and the desk work. The small model is a real one and scores what it scores. The first time, it reads the
    prompts of all roles of the desk before its call: minutes on a slow machine, said role by role. The last line is the
    path of a site of both calls, to be opened in a browser.

    Exits with 1 if the oracle did not pass, 3 if a call is invalid.
    """
    from callm_voice.report.site.build import build_site

    results = []
    for model in DEMO_MODELS:
        say(f"\n=== {DEMO_TASK} by voice over {line}, model {model} ===")
        record, folder = make_call(call_spec(task=DEMO_TASK, model=model, line=line, pace=pace, run_dir=out_dir))
        results.append((model, record, folder))
        if not as_json:
            show_result(record, folder)
    index = build_site([folder for _, _, folder in results], out_dir / "site").index
    if as_json:
        calls = [{"folder": str(f), "record": r.model_dump(mode="json")} for _, r, f in results]
        print_json({"calls": calls, "site": str(index)})
    else:
        out.print()
        for model, record, folder in results:
            out.print(f"{model}: {record.outcome.status}; listen: {folder / 'call.flac'}", markup=False, soft_wrap=True)
        out.print(str(index), markup=False, soft_wrap=True)
    if results[0][1].outcome.status != "pass":
        say("the oracle did not pass: something is wrong with this installation or this machine")
        raise typer.Exit(1)
    if any(record.outcome.status == "invalid" for _, record, _ in results):
        raise typer.Exit(3)
