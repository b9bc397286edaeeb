"""What the record says of a service, and the check of a pipeline that names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callm_voice.core.errors import ConfigError
from callm_voice.core.record import EngineInfo
from callm_voice.core.yamlfile import line_of
from callm_voice.llm.secrets import Secret, redact
from callm_voice.pipeline.foreign_class import Kind, Unfit, arguments, find_class, refuse_plain_secrets
from callm_voice.speech.settings import AgentSttSettings, AgentTtsSettings, ForeignSttSettings, ForeignTtsSettings


def check_engines(path: Path, stt: AgentSttSettings, tts: AgentTtsSettings) -> None:
    """See that each class that is named exists, is such a service and takes its settings.

    Raises:
        ConfigError: it does not; with file, line and key.
        SetupError: its package cannot be imported.
    """
    if isinstance(stt, ForeignSttSettings):
        _check(path, "stt", stt)
    if isinstance(tts, ForeignTtsSettings):
        _check(path, "tts", tts)


def _check(path: Path, kind: Kind, settings: ForeignSttSettings | ForeignTtsSettings) -> None:
    try:
        refuse_plain_secrets(settings.settings)
        arguments(find_class(settings.engine, kind), settings.settings)
    except Unfit as error:
        keys = [kind, *error.key.split(".")]
        raise ConfigError(path, ".".join(keys), error.expected, line=line_of(path, keys)) from error


def engine_info(
    settings: ForeignSttSettings | ForeignTtsSettings, service: Any, secrets: Sequence[Secret]
) -> EngineInfo:
    """The service as an engine of the record: its settings as the pipeline has them, so without any secret.

    The model is what the service itself says: its voice or model.
    """
    said = [getattr(service.settings, name, None) for name in ("voice", "model")]
    model = next((name for name in said if isinstance(name, str) and name), "")
    return EngineInfo(
        engine=settings.engine,
        model=redact(model, secrets),
        settings=_shown(settings.model_dump(exclude={"engine", "counted"})),
        counted=settings.counted,
    )


def _shown(value: Any) -> Any:
    """Credentials in URLs masked; everything else that is secret stands there as `env:NAME`."""
    if isinstance(value, Mapping):
        return {name: _shown(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(inner) for inner in value]
    return redact(value, ()) if isinstance(value, str) else value
