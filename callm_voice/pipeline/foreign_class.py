"""A Pipecat service class by its dotted path, and what it is made with: found and checked before anything starts."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import typing
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from loguru import logger
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError

from callm_voice.core.errors import SetupError, UsageError
from callm_voice.llm.secrets import Secret, read_env

Kind = Literal["stt", "tts"]
SESSION = "aiohttp_session"
"""What Pipecat's HTTP services call the client session that they are given; ours, if they want one."""
_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_SECRET_NAME = re.compile(r"(?:^|_)(?:api_?key|key|token|secret|password|credentials?|authorization)$", re.IGNORECASE)


class Unfit(UsageError):
    """A class or a setting that cannot be used. `key` is relative to the engine's own mapping."""

    def __init__(self, key: str, expected: str) -> None:
        super().__init__(f"{key}: {expected}")
        self.key, self.expected = key, expected


def find_class(dotted: str, kind: Kind) -> type:
    """The class.

    Raises:
        Unfit: no such module or class, or not a service of this kind.
        SetupError: the module cannot be imported, mostly for want of a package.
    """
    module_name, _, class_name = dotted.rpartition(".")
    logger.disable("pipecat")  # its banner goes to stderr on import
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Pipecat's own and the module's are not the user's doing
        base, method = _base(kind)
        found = getattr(_module(module_name), class_name, None)
    if found is None:
        raise Unfit("engine", f"the module {module_name} has no {class_name}")
    if not (inspect.isclass(found) and issubclass(found, base)):
        raise Unfit("engine", f"{dotted} is not a Pipecat {kind.upper()} service (a subclass of {base.__name__})")
    if getattr(found, method) is getattr(base, method):
        raise Unfit("engine", f"{dotted} has no {method} of its own")
    return found


def _base(kind: Kind) -> tuple[type, str]:
    if kind == "stt":
        from pipecat.services.stt_service import STTService

        return STTService, "run_stt"
    from pipecat.services.tts_service import TTSService

    return TTSService, "run_tts"


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise Unfit("engine", f"there is no module {error.name}") from error
        raise _not_importable(name, error) from error
    except Exception as error:  # whatever a module does while it is loaded
        raise _not_importable(name, error) from error


def _not_importable(name: str, error: Exception) -> SetupError:
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return SetupError(f"{name} cannot be imported: {first_line[:200]}", hint="install what the service needs")


def arguments(service: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The constructor's arguments: a setting that is a field of the class' own `Settings` goes there.

    Pipecat's constructors take any further name in silence, so names and types are held against the signatures.

    Raises:
        Unfit: an unknown name, a value of the wrong type, a required one that is missing.
    """
    known = parameters(service)
    tuning = getattr(service, "Settings", None) if "settings" in known else None
    fields = {f.name for f in dataclasses.fields(tuning)} if dataclasses.is_dataclass(tuning) else set()
    field_types, made_with, tuned = _hints(tuning), {}, {}
    for name, value in settings.items():
        key = f"settings.{name}"
        if name in fields:
            tuned[name] = _fitting(field_types.get(name, Any), value, key)
        elif name in known and name != "settings":
            made_with[name] = _fitting(known[name], value, key)
        else:
            raise Unfit(key, f"unknown to {service.__name__}; known: {', '.join(sorted((fields | set(known)) - _OWN))}")
    for name in _required(service) - set(made_with) - {SESSION}:
        raise Unfit(f"settings.{name}", f"{service.__name__} needs it")
    if tuned and isinstance(tuning, type):
        made_with["settings"] = tuning(**tuned)
    return made_with


_OWN = {"settings", "extra", SESSION}


def parameters(service: type) -> dict[str, Any]:
    """Name → type of all that the constructors along the line of bases take, as far as they pass names on."""
    found: dict[str, Any] = {}
    for init in _constructors(service):
        hints = _hints(init)
        for parameter in inspect.signature(init).parameters.values():
            if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY} and parameter.name != "self":
                found.setdefault(parameter.name, hints.get(parameter.name, Any))
    return found


def _constructors(service: type) -> Iterator[Any]:
    for base in service.__mro__:
        init = vars(base).get("__init__")
        if init is None:
            continue
        yield init
        if not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(init).parameters.values()):
            return


def _required(service: type) -> set[str]:
    init = next(_constructors(service), None)
    if init is None:
        return set()
    named = [p for p in inspect.signature(init).parameters.values() if p.kind not in {p.VAR_KEYWORD, p.VAR_POSITIONAL}]
    return {p.name for p in named if p.default is p.empty and p.name != "self"}


def _hints(of: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(of) if of is not None else {}
    except (NameError, TypeError, AttributeError):
        return {}  # names that exist for type checkers only: nothing is known then


def _fitting(hint: Any, value: Any, key: str) -> Any:
    """`value` as the type that is asked for: YAML has no paths, enumerations or models."""
    adapter = _adapter(hint)
    try:
        return value if adapter is None else adapter.validate_python(value)
    except ValidationError as error:
        raise Unfit(key, error.errors(include_url=False)[0]["msg"]) from None


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    for config in (ConfigDict(arbitrary_types_allowed=True), None):  # a pydantic model refuses any config but its own
        try:
            return TypeAdapter(hint, config=config)
        except (PydanticUserError, PydanticSchemaGenerationError, PydanticUndefinedAnnotation):
            continue
    return None


def refuse_plain_secrets(settings: Mapping[str, Any], key: str = "settings") -> None:
    """See that what is named like a secret comes from the environment; the value is not repeated.

    Raises:
        Unfit: it stands in the file.
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            refuse_plain_secrets(value, f"{key}.{name}")
        elif _SECRET_NAME.search(str(name)) and value is not None and not _REFERENCE.fullmatch(str(value)):
            raise Unfit(f"{key}.{name}", "must come from the environment: env:NAME")


def from_environment(value: Any, *, what: str) -> tuple[Any, tuple[Secret, ...]]:
    """`value` with every `env:NAME` in it replaced, and the secrets that went in.

    Raises:
        UsageError: a variable is not set.
    """
    secrets: list[Secret] = []

    def put(of: Any) -> Any:
        if isinstance(of, Mapping):
            return {name: put(inner) for name, inner in of.items()}
        if isinstance(of, list):
            return [put(inner) for inner in of]
        reference = _REFERENCE.fullmatch(of) if isinstance(of, str) else None
        if reference is None:
            return of
        secrets.append(read_env(reference[1], what=what))
        return secrets[-1].reveal()

    return put(value), tuple(secrets)
