"""Which model is asked, and how. A spec is plain data: it names environment variables, never keys."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from callm_voice.core import paths
from callm_voice.core.errors import NotFoundError, UsageError
from callm_voice.core.yamlfile import first_problem, load_model

EMBEDDED_MODEL = "qwen2.5-coder-0.5b"
MODELS_FILE = "models.yaml"
DEFAULT_KEY_ENVS = ("CALLM_API_KEY", "OPENAI_API_KEY")
"""Where `openai:BASE_URL#MODEL` takes its key from, the first that is set."""
Seconds = Annotated[float, Field(gt=0, le=3600)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Timeouts(_Strict):
    """Limits of one inference. Nothing is retried when one is exceeded."""

    connect_s: Seconds = 5
    """TCP and TLS."""
    first_token_s: Seconds = 30
    """From the sent request to the first answer token. Thinking does not extend it."""
    stall_s: Seconds = 15
    """Between two pieces of an answer. Keep-alive comments and empty deltas are no progress."""


class Price(_Strict):
    """US dollars for a million tokens. Unknown is not zero: leave out what is not known."""

    input_usd: float = Field(ge=0)
    cached_usd: float | None = Field(default=None, ge=0)
    """For prompt tokens that the server read from its cache."""
    output_usd: float = Field(ge=0)


class _Sampling(_Strict):
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    recover_json_tool_calls: bool = False
    """A tool call that arrives as JSON text in the content is taken for a call, and the record says so."""
    timeouts: Timeouts = Timeouts()
    price: Price | None = None


class OpenAiSpec(_Sampling):
    """Any server that speaks OpenAI's streaming chat completions: vLLM, llama.cpp, a vendor."""

    kind: Literal["openai"] = "openai"
    base_url: str
    """With the version part, without `/chat/completions`: `http://127.0.0.1:8000/v1`."""
    model: str = Field(min_length=1)
    api_key_env: str | None = None
    """Name of the environment variable that holds the key. None: no key is sent."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further request headers; `${NAME}` in a value is replaced by that environment variable."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Merged over the request body: vendor fields such as `chat_template_kwargs`."""
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    supports_developer_role: bool = False
    """False: messages of role `developer` are sent as `system`."""

    @field_validator("base_url")
    @classmethod
    def _http_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected http://HOST[:PORT]/PATH or https://...")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong into the URL; name an environment variable in api_key_env")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _variable_name(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError("expected the name of an environment variable, not a key")  # the value is not repeated
        return value

    @field_validator("headers")
    @classmethod
    def _no_literal_key(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if name.lower() in {"authorization", "api-key", "x-api-key", "cookie"} and "${" not in text:
                raise ValueError(f"the header {name} must take its value from the environment: ${{NAME}}")
        return value


class OracleSpec(_Strict):
    """The scripted server that plays a task's gold dialogue. Its times are set, so the truth is known."""

    kind: Literal["oracle"] = "oracle"
    ttft_ms: float = Field(default=250, ge=0, le=10_000)
    """From the received request to the first token sent; exact, without jitter."""
    tokens_per_s: float = Field(default=60, gt=0, le=10_000)
    timeouts: Timeouts = Timeouts()
    recover_json_tool_calls: Literal[False] = False
    price: None = None


class EmbeddedSpec(_Sampling):
    """A GGUF weight, run by llama.cpp in a process of its own on this machine."""

    kind: Literal["embedded"] = "embedded"
    weight: str
    """Name in the list of weights."""
    context_tokens: int = Field(default=8192, ge=512, le=131_072)
    """For each slot; there is one slot per role."""
    threads: int = Field(default=1, ge=1)
    """For decoding. More than one collapses as soon as a speech engine runs beside it."""
    threads_batch: int = Field(default=0, ge=0)
    """For reading a prompt; 0: all cores."""


class OutsideSpec(_Strict):
    """Whatever thinks in an agent that runs elsewhere: nobody here asks it, or knows what it costs."""

    kind: Literal["outside"] = "outside"
    price: None = None


ModelSpec = Annotated[OpenAiSpec | OracleSpec | EmbeddedSpec, Field(discriminator="kind")]
MODEL_SPEC: TypeAdapter[OpenAiSpec | OracleSpec | EmbeddedSpec] = TypeAdapter(ModelSpec)


class ModelsFile(_Strict):
    """`models.yaml` in the user's folder, and the `models:` part of a pipeline."""

    models: dict[str, ModelSpec] = Field(default_factory=dict)


class NamedSpec(NamedTuple):
    """A spec and the name under which its results are shown."""

    name: str
    spec: ModelSpec | OutsideSpec


BUILT_IN: dict[str, ModelSpec] = {
    "oracle": OracleSpec(),
    EMBEDDED_MODEL: EmbeddedSpec(
        weight=EMBEDDED_MODEL,
        temperature=0,
        seed=1,
        max_tokens=160,
        recover_json_tool_calls=True,
        timeouts=Timeouts(first_token_s=120, stall_s=30),
    ),
}


def user_models(home: Path | None = None) -> dict[str, ModelSpec]:
    """The specs of the user's `models.yaml`; empty if there is no such file.

    Raises:
        ConfigError: the file is wrong; names line and key.
    """
    path = (home or paths.home_dir()) / MODELS_FILE
    return dict(load_model(path, ModelsFile).models) if path.is_file() else {}


def known_models(pipeline_models: Mapping[str, ModelSpec] | None = None) -> dict[str, ModelSpec]:
    """Name to spec: built in, overridden by the user's file, overridden by the pipeline's."""
    return {**BUILT_IN, **user_models(), **(pipeline_models or {})}


def parse_model_arg(text: str, pipeline_models: Mapping[str, ModelSpec] | None = None) -> NamedSpec:
    """The model that a `--model` argument means.

    `NAME` is looked up in the pipeline's `models:`, the user's `models.yaml` and the built-in ones.
    `oracle?ttft_ms=900&tokens_per_s=50` changes fields of an oracle. `openai:BASE_URL#MODEL` is any server; its key is
    taken from `CALLM_API_KEY`, else `OPENAI_API_KEY`, and none is sent if neither is set.

    Raises:
        UsageError: the form is wrong, the name unknown (lists the known ones) or a value out of range.
    """
    text = text.strip()
    if text.startswith("openai:"):
        return _from_url(text)
    name, _, query = text.partition("?")
    known = known_models(pipeline_models)
    if name not in known:
        raise NotFoundError("model", name, [*known, "openai:BASE_URL#MODEL"])
    spec = known[name]
    return NamedSpec(text, _overridden(spec, query, text)) if query else NamedSpec(name, spec)


def _from_url(text: str) -> NamedSpec:
    url, _, model = text.removeprefix("openai:").rpartition("#")
    if not url or not model:
        raise UsageError(f"{_shown(text)}: expected openai:BASE_URL#MODEL", hint="openai:http://127.0.0.1:8000/v1#qwen")
    try:
        return NamedSpec(text, OpenAiSpec(base_url=url, model=model, api_key_env=_default_key_env()))
    except ValidationError as error:
        raise UsageError(f"{_shown(text)}: {_first(error)}") from None


def _default_key_env() -> str | None:
    return next((name for name in DEFAULT_KEY_ENVS if os.environ.get(name)), None)


def _overridden(spec: ModelSpec, query: str, text: str) -> ModelSpec:
    if not isinstance(spec, OracleSpec):
        raise UsageError(f"{text}: only an oracle takes ?key=value; this model is of kind {spec.kind}")
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True)
        return OracleSpec.model_validate({**spec.model_dump(), **dict(pairs)})
    except ValidationError as error:
        raise UsageError(f"{text}: {_first(error)}") from None
    except ValueError:
        raise UsageError(f"{text}: expected oracle?ttft_ms=900&tokens_per_s=50") from None


def _first(error: ValidationError) -> str:
    problem = first_problem(Path("-"), error)
    return f"{problem.key}: {problem.expected}" if problem.key else problem.expected


def _shown(text: str) -> str:
    """The argument without credentials that somebody put into its URL."""
    return re.sub(r"(?<=://)[^/@\s]*@", "***@", text)
