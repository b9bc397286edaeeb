"""`callm-voice export`: finished calls as tables and as logs for other tools."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json
from callm_voice.core.errors import UsageError

FORMATS = ("parquet", "inspect")


def export(
    runs: list[Path] = typer.Argument(..., help="Run folders, or any folders with calls below them"),
    out_dir: Path = typer.Option(..., "--out", help="Folder to write to: tables in it, logs in `inspect/`"),
    formats: str = typer.Option("parquet,inspect", "--format", help="`parquet`, `inspect`, or both with a comma"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write the calls of some runs as Parquet tables and as logs that `inspect view` opens.

    docs/exports.md lists every column. Parquet needs `pip install 'callm-voice[tables]'`; the logs need nothing more.

    Examples:

    `callm-voice export runs/night --out tables --format parquet`

    `callm-voice export runs/night --out exported`, then `inspect view --log-dir exported/inspect`
    """
    from callm_voice.report.export_inspect import write_inspect_logs
    from callm_voice.report.export_tables import write_tables
    from callm_voice.report.score import load_calls

    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown or not wanted:
        raise UsageError(f"--format {formats!r}: expected {' or '.join(FORMATS)}, or both with a comma")
    rows = load_calls(runs)
    files: list[Path] = []
    if "parquet" in wanted:
        files += write_tables(rows, out_dir)
    if "inspect" in wanted:
        files += write_inspect_logs(rows, out_dir / "inspect")
    if as_json:
        print_json({"calls": len(rows), "files": [str(path) for path in files]})
        return
    for path in files:
        out.print(str(path), markup=False, soft_wrap=True)
