"""`run.json` at the top of a run folder: what this run's calls were made with.

Single calls add to it; a planned run writes its plan there first. What two calls of one run disagree on (a pack that
was edited between them) stands in it as a list of hashes, so that it can be seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.core import paths
from callm_voice.core.errors import ConfigError
from callm_voice.core.ids import short_hash
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import disk_errors

RUN_FILE = "run.json"
RUN_VERSION = 1


def note_call(run_dir: Path, record: CallRecord, hashes: Mapping[str, str], *, plan: str | None = None) -> None:
    """Add what one finished call was made with; written whole under another name and put in place.

    Args:
        hashes: see `hashes_of`; the record's own weights are added.
        plan: name of the plan's file, in a planned run.

    Raises:
        ConfigError: there is a `run.json` that is none of ours.
        DiskError: the folder cannot be written.
    """
    path = run_dir / RUN_FILE
    run = _load(path) or {
        "run_version": RUN_VERSION,
        "started_at": record.started_at,
        "plan": plan,
        "product_versions": [],
        "hashes": {},
        "hosts": [],
    }
    before = json.dumps(run)
    run["plan"] = plan or run.get("plan")
    _add(run["product_versions"], record.product_version)
    _add(run["hosts"], record.host)
    for key, value in {**hashes, **_weights(record)}.items():
        _add(run["hashes"].setdefault(key, []), value)
    if path.is_file() and json.dumps(run) == before:
        return
    with disk_errors(path):
        temporary = path.with_name(f".{RUN_FILE}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)


def hashes_of(resolved: ResolvedCall) -> dict[str, str]:
    """`kind:name` → SHA-256, of the files of ours or the user's that shaped the call."""
    found = {f"pack:{resolved.pack.id}": resolved.pack.content_hash}
    found[f"pipeline:{resolved.pipeline.id}"] = file_hash(paths.find("pipelines", resolved.spec.pipeline))
    if resolved.profile is not None:
        found[f"line:{resolved.profile.id}"] = file_hash(paths.find("audio_profiles", resolved.spec.line))
    return found


def _weights(record: CallRecord) -> dict[str, str]:
    return {f"weight:{name}:{e.model}": e.sha256 for name, e in record.engines.items() if e.sha256}


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return short_hash(path.read_bytes(), 64)


def _add(values: list[Any], value: Any) -> None:
    if value not in values:
        values.append(value)


def _load(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(path, "", f"not valid JSON: {error}") from error
    if not isinstance(run, dict) or run.get("run_version") != RUN_VERSION:
        raise ConfigError(path, "run_version", f"expected a run file of version {RUN_VERSION}")
    return run
