"""`callm-voice call`: one whole call, live on the terminal."""

from __future__ import annotations

from pathlib import Path

import typer
from pydantic import ValidationError

from callm_voice.bench.agent_url import parse_agent
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.faults import FAULT_HELP
from callm_voice.cli.common import JSON_OPTION, err, out, print_json, say
from callm_voice.core.errors import UsageError
from callm_voice.core.record import CallRecord


def call(
    task: str = typer.Option(..., "--task", help="PACK/TASK, for example healthcare/C5-H1"),
    model: str | None = typer.Option(
        None,
        "--model",
        help="A model by name (`oracle`, `qwen2.5-coder-0.5b`, one of yours) or openai:BASE_URL#MODEL; with --agent a "
        "name for its results",
    ),
    pipeline: str = typer.Option("cpu", help="Pipeline by name or path"),
    line: str = typer.Option("pstn-g711u", help="Line profile by name or path; `text` goes without audio"),
    caller: str = typer.Option("scripted", help="`scripted`, or llm:MODEL to let a model play the caller"),
    seed: int = typer.Option(1, min=0, help="Same seed, same draws"),
    trial: int = typer.Option(1, min=1, help="Number of the attempt; names the folder"),
    pace: str = typer.Option("real", help="`real`: wall time. `fast`: skips dead air, measures the model for real"),
    out_dir: Path = typer.Option(Path("runs/single"), "--out", help="Run folder"),
    fault: str | None = typer.Option(None, help=FAULT_HELP),
    leg: str = typer.Option(
        "process",
        help="How our agent is reached: `process`, or `packets`: a real WebRTC connection in this machine",
    ),
    agent: str | None = typer.Option(
        None,
        help="An agent that runs elsewhere: ws://HOST:PORT/PATH (Twilio media stream), webrtc:http://HOST:PORT/PATH",
    ),
    tools: str = typer.Option("role", help="With --agent: offer the tools of the current `role`, or `all`"),
    tools_host: str = typer.Option("127.0.0.1", help="With --agent: address that the tools are served on"),
    tools_port: int = typer.Option(0, min=0, max=65535, help="With --agent: their port; 0: any free one"),
    tools_url: str | None = typer.Option(None, help="With --agent: what it is told instead, if a tunnel leads there"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make one phone call and score it.

    Examples:

    `callm-voice call --task healthcare/C5-H1 --model oracle`

    `callm-voice call --task healthcare/C5-H1 --model openai:http://127.0.0.1:8000/v1#my-model --line pstn-g711a --json`

    `callm-voice call --task healthcare/C5-H1 --model oracle --pipeline scripted --pace fast --fault llm-429@3`

    `callm-voice call --task healthcare/C5-H1 --model oracle --leg packets`

    `callm-voice call --task healthcare/C5-H1 --agent webrtc:http://127.0.0.1:7860/api/offer`

    Exits with 0 if the call passed, 1 if it failed, 3 if it is invalid.
    """
    spec = call_spec(
        task=task, model=_model_name(model, agent), pipeline=pipeline, line=line, caller=caller, seed=seed, trial=trial,
        pace=pace, run_dir=out_dir, fault=fault, leg=leg, agent=agent,
        tools={"offer": tools, "host": tools_host, "port": tools_port, "public_url": tools_url},
    )  # fmt: skip
    record, folder = make_call(spec)
    if as_json:
        print_json(record.model_dump(mode="json"))
        say(f"call folder: {folder}")
    else:
        show_result(record, folder)
    raise typer.Exit(exit_code(record))


def _model_name(model: str | None, agent: str | None) -> str:
    """What the user said, or for an agent that runs elsewhere a name made from its host.

    Raises:
        UsageError: neither a model nor an agent was given.
    """
    if model is not None:
        return model
    if agent is None:
        raise UsageError("--model: which model is to be called?", hint="--model NAME, or --agent URL for one elsewhere")
    return parse_agent(agent).name


def call_spec(**fields: object) -> CallSpec:
    """A checked spec.

    Raises:
        UsageError: names the option and what was expected.
    """
    try:
        return CallSpec.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{_option(first['loc'])}: {first['msg']}") from error


def _option(loc: tuple[int | str, ...]) -> str:
    """The option behind a field: `tools.port` is `tools-port`."""
    parts = [{"offer": "", "public_url": "url"}.get(str(part), str(part)) for part in loc]
    return "-".join(part for part in parts if part)


def make_call(spec: CallSpec) -> tuple[CallRecord, Path]:
    """Run one call with live progress on stderr."""
    from callm_voice.bench.run_call import run_call
    from callm_voice.report.progress import LiveProgress

    progress = LiveProgress(err)
    return run_call(spec, on_event=progress, on_progress=say)


def show_result(record: CallRecord, folder: Path) -> None:
    """The call's result on stdout."""
    from callm_voice.report.terminal import latency_table, verdict_view

    if record.verdict is not None:
        out.print(verdict_view(record))
    if record.latency is not None:
        out.print(latency_table(record.latency))
    detail = f": {record.outcome.detail}" if record.outcome.detail else ""
    out.print(f"{record.outcome.status.upper()} ({record.outcome.end_reason}{detail})", markup=False, soft_wrap=True)
    out.print(f"call folder: {folder}", markup=False, soft_wrap=True)
    if record.rate_hz:
        out.print(f"listen:      {folder / 'call.flac'}", markup=False, soft_wrap=True)


def exit_code(record: CallRecord) -> int:
    """0 passed (or nothing was expected), 1 failed, 3 invalid."""
    return {"pass": 0, "unscored": 0, "fail": 1, "invalid": 3}[record.outcome.status]
