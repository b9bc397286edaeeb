"""`callm-voice notebooks`: a copy of the notebooks to work in."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json
from callm_voice.core.errors import UsageError


def notebooks(
    out_dir: Path = typer.Option(..., "--out", help="Folder to copy them to; refused if one of them is there"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Copy the notebooks over finished calls into a folder of yours (docs/notebooks.md).

    They need `pip install 'callm-voice[notebooks]'`, and the run to read in `CALLM_VOICE_RUN` or in their first cell.

    Example: `callm-voice notebooks --out work`, then `CALLM_VOICE_RUN=$PWD/runs/night jupyter lab work`
    """
    from callm_voice.core.paths import installed_data_dir
    from callm_voice.core.runfolder import disk_errors

    sources = sorted((installed_data_dir() / "notebooks").glob("*.ipynb"))
    targets = [out_dir / source.name for source in sources]
    there = [path.name for path in targets if path.exists()]
    if there:
        raise UsageError(f"--out {out_dir}: {', '.join(there)} is there already and may hold work of yours")
    with disk_errors(out_dir):
        out_dir.mkdir(parents=True, exist_ok=True)
        for source, target in zip(sources, targets, strict=True):
            shutil.copyfile(source, target)
    if as_json:
        print_json({"files": [str(path) for path in targets]})
        return
    for path in targets:
        out.print(str(path), markup=False, soft_wrap=True)
