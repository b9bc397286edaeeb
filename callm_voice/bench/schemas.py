"""JSON Schemas of everything that is written or read: `python -m callm_voice.bench.schemas [--check] [--out DIR]`.

They are made from the models. The docstrings under the fields become the descriptions, so the schemas are the
reference of the formats with their units. A test compares the committed ones.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from callm_voice.bench import gold as bench_gold
from callm_voice.bench.linewer import results as wer_results
from callm_voice.core import (
    agent_events,
    brief,
    event_base,
    events,
    latency,
    latency_profile,
    line_events,
    record,
    score_format,
)
from callm_voice.desk import formats
from verifier import gold, scores, trace, verdict

DEFAULT_DIR = Path("docs/schema")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODULES: tuple[ModuleType, ...] = (
    agent_events,
    bench_gold,
    brief,
    event_base,
    line_events,
    events,
    latency,
    latency_profile,
    record,
    formats,
    gold,
    trace,
    verdict,
    score_format,
    scores,
    wer_results,
)


class Task(formats.TaskFile):
    """`packs/PACK/tasks/ID.yaml`: the part that may be seen while a call runs, and the gold part."""

    gold: bench_gold.GoldPart


_Mode = Literal["validation", "serialization"]
_FORMATS: dict[str, tuple[Any, _Mode, str]] = {
    "record": (record.CallRecord, "serialization", "call.json of a call folder"),
    "event": (events.AnyEvent, "serialization", "One line of events.jsonl of a call folder"),
    "profile": (latency_profile.LatencyProfile, "serialization", "profile.json of a latency profile"),
    "verdict": (verdict.Verdict, "serialization", "What `python -m verifier` prints"),
    "gold": (gold.GoldFile, "validation", "gold.json of a call folder"),
    "score": (score_format.RunScore, "serialization", "What `callm-voice score --json` prints"),
    "wer": (wer_results.WerResults, "serialization", "results.json of `callm-voice line wer`"),
    "pack": (formats.PackFile, "validation", "pack.yaml of a pack"),
    "task": (Task, "validation", "tasks/ID.yaml of a pack"),
}
"""File stem → model, whether it is what we read or what we write, and its title."""


def schema_texts() -> dict[str, str]:
    """File name (`record.schema.json`) → its text, for all formats."""
    documented = {name: fields for module in _MODULES for name, fields in _field_docs(module)}
    texts = {}
    for stem, (model, mode, title) in _FORMATS.items():
        schema: dict[str, Any] = TypeAdapter(model).json_schema(mode=mode)
        for name, definition in [*schema.get("$defs", {}).items(), (getattr(model, "__name__", ""), schema)]:
            _describe(definition, _inherited_docs(name, documented))
        schema |= {"$schema": DIALECT, "title": title}
        texts[f"{stem}.schema.json"] = json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return texts


def differing(folder: Path) -> list[str]:
    """Names of the schemas in `folder` that are not what the models say, sorted; absent ones too."""
    return sorted(
        name
        for name, text in schema_texts().items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    )


def write(folder: Path) -> None:
    """Write all schemas."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schema_texts().items():
        (folder / name).write_text(text, encoding="utf-8")


def _field_docs(module: ModuleType) -> Iterator[tuple[str, dict[str, str]]]:
    """Class name and field → the docstring under the field, for each class of a module."""
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        docs = {}
        for field, after in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
                text = after.value.value if isinstance(after.value, ast.Constant) else None
                if isinstance(text, str):
                    docs[field.target.id] = " ".join(textwrap.dedent(text).split())
        yield node.name, docs


def _inherited_docs(name: str, documented: dict[str, dict[str, str]]) -> dict[str, str]:
    """Field docs of a class and of its bases, its own first."""
    models = {cls.__name__: cls for module in _MODULES for cls in vars(module).values() if inspect.isclass(cls)}
    cls = Task if name == "Task" else models.get(name)
    bases = [base.__name__ for base in inspect.getmro(cls) if issubclass(base, BaseModel)] if cls else []
    return {field: text for base in reversed(bases) for field, text in documented.get(base, {}).items()}


def _describe(definition: dict[str, Any], docs: dict[str, str]) -> None:
    for field, schema in definition.get("properties", {}).items():
        if field in docs:
            schema["description"] = docs[field]


def main(argv: list[str]) -> int:
    """Write the schemas, or with `--check` say which ones differ; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m callm_voice.bench.schemas", description="Write the JSON Schemas.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if one differs")
    parser.add_argument("--out", type=Path, default=DEFAULT_DIR, help="folder (docs/schema)")
    args = parser.parse_args(argv)
    if not args.check:
        write(args.out)
        return 0
    names = differing(args.out)
    for name in names:
        sys.stderr.write(f"{args.out / name}: not what the models say (run make schemas)\n")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
