"""Where foreign engines enter: their packages are loaded when an engine is made, their errors become ours once."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from callm_voice.core.errors import CallmError, EngineError, MissingDependencyError


def load(module: str, *, package: str, extra: str) -> Any:
    """The module.

    Raises:
        MissingDependencyError: it is not installed, or something that it needs is not.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, extra) from error


@contextmanager
def engine_errors(what: str, stage: Literal["stt", "tts", "vad"]) -> Iterator[None]:
    """Whatever an engine raises inside becomes one `EngineError` that begins with `what`.

    ONNX Runtime, CTranslate2 and the voices share no base class of errors, so everything is caught here.
    """
    try:
        yield
    except CallmError:
        raise
    except Exception as error:  # foreign code without a base class of its errors
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EngineError(f"{what}: {first_line[:300]}", stage=stage) from error
