"""Tables of the documentation that are made from the models: `python -m callm_voice.bench.doc_tables [--check]`.

A page holds a table between two comment lines, `<!-- table: NAME -->` and `<!-- end of table -->`. What stands between
them is written from the pydantic models: types, units, bounds, defaults, and as the meaning the docstring under the
field. Fields that mean the same wherever they stand are described once, in `doc_words`. A test compares the pages.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from callm_voice.bench.doc_words import COMMON, KINDS, OVERRIDES, UNITS
from callm_voice.bench.schemas import _field_docs
from callm_voice.core import agent_events, event_base, events, line_events
from callm_voice.line import profile, profile_parts
from callm_voice.llm import spec as llm_spec
from callm_voice.pipeline import spec as pipeline_spec
from callm_voice.speech import settings, voices

DOCS = Path("docs")
BEGIN, END = "<!-- table: {} -->", "<!-- end of table -->"
MODULES: tuple[ModuleType, ...] = (
    event_base,
    events,
    agent_events,
    line_events,
    profile,
    profile_parts,
    llm_spec,
    pipeline_spec,
    settings,
    voices,
)


def event_table() -> str:
    """Every kind of event with its fields."""
    rows = ["| event | field | type | default | meaning |", "|---|---|---|---|---|"]
    for kind in get_args(get_args(events.AnyEvent)[0]):
        name = get_args(kind.model_fields["type"].annotation)[0]
        meaning = KINDS.get(name) or _sentence(inspect.cleandoc(kind.__doc__ or ""))
        rows.append(f"| **`{name}`** | | | | {_cell(meaning)} |")
        for field, info in kind.model_fields.items():
            if field not in {"t_ms", "type"}:
                rows.append(f"| | `{field}` | {_type(info)} | {_default(info)} | {_cell(_meaning(kind, field))} |")
    return "\n".join(rows)


def key_table(*models: type[BaseModel], prefix: str = "") -> Callable[[], str]:
    """The keys of one or more models, those of nested mappings as dotted paths."""

    def table() -> str:
        rows = ["| key | type | unit | default | meaning |", "|---|---|---|---|---|"]
        for model in models:
            rows += [
                f"| `{key}` | {_type(info)} | {_unit(key)} | {_default(info)} | {_cell(_meaning(owner, field))} |"
                for key, owner, field, info in _keys(model, prefix)
            ]
        return "\n".join(rows)

    return table


def joined(*tables: Callable[[], str]) -> Callable[[], str]:
    """Several tables as one, under the head of the first."""

    def table() -> str:
        first, *rest = (t().splitlines() for t in tables)
        return "\n".join([*first, *(row for rows in rest for row in rows[2:])])

    return table


def _keys(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, type[BaseModel], str, FieldInfo]]:
    for field, info in model.model_fields.items():
        inner = info.annotation
        if inspect.isclass(inner) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", model, field, info


TABLES: dict[str, Callable[[], str]] = {
    "events": event_table,
    "pipeline": key_table(pipeline_spec.PipelineSpec),
    "stt-whisper": key_table(settings.WhisperSettings, prefix="stt."),
    "stt-scripted": key_table(settings.ScriptedSttSettings, prefix="stt."),
    "stt-service": key_table(settings.ForeignSttSettings, prefix="stt."),
    "tts-service": key_table(settings.ForeignTtsSettings, prefix="tts."),
    "vad": key_table(settings.WebrtcVadSettings, settings.SileroVadSettings, settings.EnergyVadSettings, prefix="vad."),
    "tts": key_table(
        settings.PiperSettings,
        settings.HibariSettings,
        settings.KokoroSettings,
        settings.ScriptedTtsSettings,
        prefix="tts.",
    ),
    "voices": key_table(voices.VoicesSettings, prefix="caller.tts."),
    "line": key_table(profile.LineProfile),
    "line-parts": joined(
        key_table(profile_parts.TandemCodec, prefix="tandem[]."),
        key_table(profile_parts.Microphone, prefix="microphone."),
        key_table(profile_parts.Noise, prefix="microphone.noise."),
        key_table(profile_parts.Speakerphone, prefix="microphone.speakerphone."),
        key_table(profile_parts.Network, prefix="network."),
        key_table(profile_parts.IndependentLoss, profile_parts.GilbertElliottLoss, prefix="network.loss."),
        key_table(profile_parts.GammaJitterSpec, profile_parts.UniformJitterSpec, prefix="network.jitter."),
        key_table(profile_parts.Spikes, prefix="network.spikes."),
        key_table(profile_parts.FixedBuffer, profile_parts.AdaptiveBuffer, prefix="network.buffer."),
    ),
    "openai": key_table(llm_spec.OpenAiSpec),
    "oracle": key_table(llm_spec.OracleSpec),
    "embedded": key_table(llm_spec.EmbeddedSpec),
    "price": key_table(llm_spec.Price, prefix="price."),
}


@cache
def _docs() -> dict[str, dict[str, str]]:
    return {name: fields for module in MODULES for name, fields in _field_docs(module)}


def _meaning(model: type[BaseModel], field: str) -> str:
    """What is said under the field in the class or its bases; else the common meaning of such a field; else nothing."""
    override = OVERRIDES.get((model.__name__, field))
    if override:
        return override
    docs = _docs()
    for base in inspect.getmro(model):
        if text := docs.get(base.__name__, {}).get(field):
            return text
    return COMMON.get(field, "")


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("None:", "null:").removesuffix(".")


def _unit(key: str) -> str:
    return next((unit for suffix, unit in UNITS if key.endswith(suffix)), "")


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True, validated_data={})
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value in ("", (), {}):
        return "empty"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _type(info: FieldInfo) -> str:
    return _named(info.annotation, info.metadata)


def _named(annotation: Any, metadata: Any = ()) -> str:
    """A type in the words of a YAML or JSON file, its bounds with it."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner = [m for extra in args[1:] for m in (extra.metadata if isinstance(extra, FieldInfo) else [extra])]
        return _named(args[0], [*metadata, *inner])
    if origin in (Union, UnionType):
        options = [_named(a, metadata) for a in args if a is not NoneType]
        if all(o == "mapping" for o in options):
            options = ["mapping"]
        return " or ".join([*options, "null"] if NoneType in args else options)
    if origin is Literal:
        return ", ".join(f"`{str(a).lower() if isinstance(a, bool) else a}`" for a in args)
    if origin is list:
        return "list of " + _named(args[0])
    if origin is tuple:
        return (
            "list of " + _named(args[0])
            if args[-1] is ...
            else f"list of {len(args)}: " + ", ".join(_named(a) for a in args)
        )
    if origin is dict or (inspect.isclass(annotation) and issubclass(annotation, (dict, BaseModel))):
        return "mapping"
    if annotation in (None, NoneType):
        return "null"
    plain = {bool: "true or false", int: "integer", float: "number", str: "text"}.get(annotation, "any")
    return plain + _bounds(metadata)


def _bounds(metadata: Any) -> str:
    signs = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
    found = [f"{sign} {getattr(m, name):g}" for name, sign in signs for m in metadata if hasattr(m, name)]
    return f" {', '.join(found)}" if found else ""


def filled(page: str) -> str:
    """A page with all its tables made anew.

    Raises:
        KeyError: it names a table that there is not.
    """
    pattern = re.compile(rf"({re.escape(BEGIN).replace(re.escape('{}'), '([a-z-]+)')}\n).*?({re.escape(END)})", re.S)
    return pattern.sub(lambda m: f"{m[1]}\n{TABLES[m[2]]()}\n\n{m[3]}", page)


def main(argv: list[str]) -> int:
    """Write the tables, or with `--check` say which pages differ; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m callm_voice.bench.doc_tables", description=filled.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page differs")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder (docs)")
    args = parser.parse_args(argv)
    stale = 0
    for path in sorted(args.docs.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        new = filled(page)
        if new != page:
            stale += 1
            if args.check:
                sys.stderr.write(f"{path}: not what the models say (run python -m callm_voice.bench.doc_tables)\n")
            else:
                path.write_text(new, encoding="utf-8")
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
