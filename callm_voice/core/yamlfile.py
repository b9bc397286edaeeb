"""YAML of a user's: safe-loaded, size-limited, validated, with errors that name file, line and key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from callm_voice.core.errors import ConfigError

MAX_BYTES = 1_000_000
M = TypeVar("M", bound=BaseModel)


def load_yaml(path: Path) -> Any:
    """Plain data of one YAML file.

    Raises:
        ConfigError: unreadable, larger than `MAX_BYTES`, not UTF-8, not YAML, or a key stands twice.
    """
    return load_yaml_text(_read(path), path)


def load_yaml_text(text: str, path: Path) -> Any:
    """As `load_yaml`, for text that stands in (part of) `path`."""
    try:
        return yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a subclass of SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigError(path, "", f"not valid YAML: {error.problem}", line=mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise ConfigError(path, "", f"not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ConfigError(path, "", "not valid YAML: nested too deeply") from error


def load_model(path: Path, model: type[M], data: Any = None) -> M:
    """Validate the file (or `data`, already taken from it) against a pydantic model.

    Raises:
        ConfigError: names the first wrong key, its line and what was expected.
    """
    content = load_yaml(path) if data is None else data
    if not isinstance(content, dict):
        found = "nothing" if content is None else type(content).__name__
        raise ConfigError(path, "", f"expected a mapping of keys, found {found}")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise first_problem(path, error) from error


def first_problem(path: Path, error: ValidationError) -> ConfigError:
    """The first finding of a pydantic error as a ConfigError with its line in the file."""
    finding = error.errors(include_url=False)[0]
    keys = [str(part) for part in finding["loc"]]
    message = finding["msg"]
    if finding["type"] == "extra_forbidden":
        message = "unknown key"
    if finding["type"] == "missing":
        message = "this key is required and missing"
    return ConfigError(path, ".".join(keys), message, line=line_of(path, keys))


def line_of(path: Path, keys: list[str]) -> int | None:
    """1-based line of the deepest part of `keys` that the file has, or None."""
    try:
        node = yaml.compose(_read(path), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ConfigError, RecursionError):
        return None
    line: int | None = None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == key), None)
            if pair is None:
                continue  # a tag of a pydantic union stands in `loc` without standing in the file
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(path, "", f"larger than {MAX_BYTES:,} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(path, "", "not UTF-8 text") from error


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader with the plain scalars of YAML 1.2 that refuses a key that stands twice.

    PyYAML reads YAML 1.1, in which 10:30 is the number 630, 02134 is 1116 and `no` is false: traps for times, zip codes
    and answers. Here `true`, `false`, `null`, decimal and hexadecimal integers and floats are what they seem
    (YAML 1.2.2 §10.3.2), and all else is text; dates too, a schema decides their type.
    """

    yaml_implicit_resolvers = {}  # noqa: RUF012 - the base class' own attribute

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be plain text", key_node.start_mark)
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"(?:[-+]?(?:0|[1-9][0-9]{0,300})|0x[0-9a-fA-F]{1,64})", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?=.*[.eE])(?:\.[0-9]{1,99}|(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{0,99})?)(?:[eE][-+]?[0-9]{1,2})?",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _UniqueKeys.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"{_pattern}\\Z"), _first)
