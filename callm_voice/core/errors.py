"""The one error tree.

    CallmError                      stage + fault + message + hint
    ├── UsageError        exit 2    the user's input is wrong
    │   ├── ConfigError             a YAML or JSON file: which file, line, key, what was expected
    │   └── NotFoundError           a name that is not known; lists what is
    ├── SetupError        exit 3    this machine lacks something
    │   ├── MissingDependencyError  a Python package (which extra brings it)
    │   ├── MissingWeightError      a model file that is not in the cache and cannot be had
    │   ├── BadWeightError          a file whose SHA-256 is not the listed one; it is not kept
    │   └── DiskError               full or unwritable
    ├── ModelError        exit 3    the model server; fault is infrastructure
    │   ├── ModelConnectError       refused, DNS, TLS
    │   ├── ModelStatusError        an HTTP status other than 200
    │   ├── ModelTimeoutError       nothing within the connect, first-token or stall limit
    │   └── ModelProtocolError      what came back is not an OpenAI-compatible stream
    ├── EngineError       exit 3    a speech engine failed
    └── HarnessError      exit 3    our own fault: an invariant broke

Foreign exceptions are mapped into this tree at the boundary where they enter (the client, the engine wrapper, the
file writer), once, with the context that only that place knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Stage = Literal["config", "setup", "weights", "line", "vad", "stt", "llm", "desk", "tts", "caller", "probe", "record"]
Fault = Literal["user", "infrastructure", "harness", "caller"]


class CallmError(Exception):
    """Base of everything this product raises on purpose.

    Args:
        message: one line: what was wrong and where.
        hint: what to do about it, one line, or empty.
        stage: the step that failed.
    """

    exit_code: int = 3
    fault: Fault = "harness"
    default_stage: Stage = "config"

    retry_after_s: float | None = None
    """How long the server that failed asked to be left alone."""

    def __init__(self, message: str, *, hint: str = "", stage: Stage | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.stage: Stage = stage or self.default_stage

    def one_line(self) -> str:
        """Message and hint as the CLI prints them."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(CallmError):
    """The user's input is wrong."""

    exit_code = 2
    fault: Fault = "user"


class ConfigError(UsageError):
    """A file of the user's does not have the expected form."""

    def __init__(self, path: str | Path, key: str, expected: str, *, line: int | None = None) -> None:
        where = f"{path}:{line}" if line else str(path)
        super().__init__(f"{where}: {key}: {expected}" if key else f"{where}: {expected}")
        self.path, self.key, self.expected, self.line = str(path), key, expected, line


class NotFoundError(UsageError):
    """A name that is not known."""

    def __init__(self, kind: str, name: str, known: list[str] | tuple[str, ...]) -> None:
        listed = ", ".join(sorted(known)) or "none"
        super().__init__(f"no {kind} named {name!r}; known: {listed}")
        self.kind, self.name, self.known = kind, name, tuple(known)


class SetupError(CallmError):
    """This machine lacks something."""

    fault: Fault = "infrastructure"
    default_stage: Stage = "setup"


class MissingDependencyError(SetupError):
    """A Python package that an engine needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the Python package {package!r} is not installed", hint=f"pip install 'callm-voice[{extra}]'")


class MissingWeightError(SetupError):
    """A model file is not in the cache and cannot be had from any of its sources."""

    default_stage: Stage = "weights"


class BadWeightError(SetupError):
    """A file does not have the listed SHA-256; it is not kept."""

    default_stage: Stage = "weights"


class DiskError(SetupError):
    """The disk is full or the folder cannot be written."""

    default_stage: Stage = "record"


class ModelError(CallmError):
    """The model server failed."""

    fault: Fault = "infrastructure"
    default_stage: Stage = "llm"


class ModelConnectError(ModelError):
    """The server cannot be reached."""


class ModelStatusError(ModelError):
    """The server answered with an HTTP status other than 200."""

    def __init__(self, status: int, body: str, *, url: str, retry_after_s: float | None = None) -> None:
        hint = {401: "check the API key variable", 404: "check the model name and base URL", 429: "rate limited"}
        super().__init__(f"{url} answered HTTP {status}: {body[:200].strip()}", hint=hint.get(status, ""))
        self.status, self.retry_after_s = status, retry_after_s


class ModelTimeoutError(ModelError):
    """Nothing came within the limit named in the message."""


class ModelProtocolError(ModelError):
    """What came back is not an OpenAI-compatible stream."""


class EngineError(CallmError):
    """A speech engine failed; `stage` says which."""

    fault: Fault = "infrastructure"
    default_stage: Stage = "tts"


class HarnessError(CallmError):
    """An invariant of our own broke."""
