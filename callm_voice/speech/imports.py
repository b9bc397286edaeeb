"""Loading an engine's package, at the moment an engine is made."""

from __future__ import annotations

import importlib
from typing import Any

from callm_voice.core.errors import MissingDependencyError


def load(module: str, *, package: str, extra: str) -> Any:
    """The module.

    Raises:
        MissingDependencyError: it is not installed, or something that it needs is not.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, extra) from error
