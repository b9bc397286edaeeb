"""The tools of a pack: found in its `tools.py`, described to the model. `dispatch.py` runs them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import docstring_parser

from callm_voice.core.errors import ConfigError
from callm_voice.desk.arguments import Kind, kind_of, shown
from callm_voice.desk.formats import TransferSpec
from callm_voice.desk.toolkit import ToolContext, sql_value
from callm_voice.llm.types import ToolSchema

TRANSFER_PREFIX = "transfer_to_"
_TOOL_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


@dataclass(frozen=True)
class Argument:
    """One argument of a tool."""

    name: str
    kind: Kind
    description: str
    required: bool
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """JSON schema of the argument."""
        stated = {} if self.required or self.default is None else {"default": _json_default(self.default)}
        form = f" ({self.kind.form})" if self.kind.form else ""
        return {**self.kind.schema, "description": self.description + form, **stated}


class BadArguments(ValueError):
    """The model's arguments do not fit; the message names each and what was expected."""


@dataclass(frozen=True)
class Tool:
    """One function of `tools.py`."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    function: Callable[..., Any]

    def schema(self) -> ToolSchema:
        """The tool as the model sees it."""
        return function_schema(
            self.name,
            self.description,
            {a.name: a.schema() for a in self.arguments},
            [a.name for a in self.arguments if a.required],
        )

    def convert(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The model's JSON arguments as the function takes them; null for an optional one means that it is not given.

        Arguments that the tool does not have are ignored, as the verifier ignores them: a superfluous one does no harm.

        Raises:
            BadArguments: an argument is missing or of another kind.
        """
        problems: list[str] = []
        values: dict[str, Any] = {}
        for argument in self.arguments:
            value = args.get(argument.name)
            if value is None:
                if argument.required:
                    problems.append(f"{argument.name}: expected {argument.kind.expected}, but it is missing")
                continue
            try:
                values[argument.name] = argument.kind.convert(value)
            except ValueError:
                problems.append(f"{argument.name}: expected {argument.kind.expected}, got {shown(value)}")
        if problems:
            raise BadArguments("; ".join(problems))
        return values


def function_schema(name: str, description: str, properties: dict[str, Any], required: list[str]) -> ToolSchema:
    """One entry of a request's `tools`."""
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def transfer_schema(transfer: TransferSpec) -> ToolSchema:
    """The tool `transfer_to_ROLE`; all its parameters are optional strings."""
    properties = {n: {"type": "string", "description": text} for n, text in transfer.params.items()}
    return function_schema(TRANSFER_PREFIX + transfer.role, transfer.when, properties, [])


def find_tools(module: ModuleType) -> dict[str, Tool]:
    """The tools of an imported `tools.py`, in the order of the file: those it defines and those it imports from parts.

    Raises:
        ConfigError: a tool lacks its docstring or the description of a parameter, or has a type that is not allowed.
    """
    own = f"{module.__name__}."
    functions = [f for f in vars(module).values() if inspect.isfunction(f) and f"{f.__module__}.".startswith(own)]
    found = (_tool(f) for f in functions if not f.__name__.startswith("_"))
    return {tool.name: tool for tool in found if tool is not None}


def _tool(function: Callable[..., Any]) -> Tool | None:
    """The tool that a function is, or None if its first parameter is not a ToolContext."""
    code = inspect.unwrap(function).__code__
    name, path, line = function.__name__, Path(code.co_filename), code.co_firstlineno
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise ConfigError(path, name, f"an annotation cannot be read: {error}", line=line) from error
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or hints.get(parameters[0].name) is not ToolContext:
        return None
    if not _TOOL_NAME.fullmatch(name) or name.startswith(TRANSFER_PREFIX):
        raise ConfigError(path, name, f"a tool's name is snake_case, without {TRANSFER_PREFIX}", line=line)
    if inspect.iscoroutinefunction(function):
        raise ConfigError(path, name, "a tool is a plain function, not async", line=line)
    parsed = docstring_parser.parse_from_object(function)
    described = {p.arg_name: " ".join((p.description or "").split()) for p in parsed.params}
    summary = "\n".join(part.strip() for part in (parsed.short_description, parsed.long_description) if part)
    if not summary:
        raise ConfigError(path, name, "this tool has no docstring; the model needs one", line=line)
    if unknown := sorted(set(described) - {p.name for p in parameters}):
        raise ConfigError(
            path, f"{name}.{unknown[0]}", "described in the docstring, but there is no such parameter", line=line
        )
    arguments: list[Argument] = []
    for parameter in parameters[1:]:
        where = f"{name}.{parameter.name}"
        if not described.get(parameter.name):
            raise ConfigError(path, where, "this parameter is not described in the docstring's Args", line=line)
        try:
            arguments.append(_argument(parameter, hints.get(parameter.name), described[parameter.name]))
        except TypeError as error:
            raise ConfigError(path, where, str(error), line=line) from error
    return Tool(name, summary, tuple(arguments), function)


def _argument(parameter: inspect.Parameter, annotation: Any, description: str) -> Argument:
    """One parameter; TypeError says what is wrong with it."""
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise TypeError("a tool takes named parameters only")
    if annotation is None:
        raise TypeError("this parameter has no type")
    kind = kind_of(annotation)
    required = parameter.default is inspect.Parameter.empty
    if required and kind.nullable:
        raise TypeError("a parameter that may be None needs a default")
    return Argument(parameter.name, kind, description, required, None if required else parameter.default)


def _json_default(value: Any) -> Any:
    return sql_value(value) if not isinstance(value, bool) else value
