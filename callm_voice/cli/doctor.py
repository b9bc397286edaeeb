"""`callm-voice doctor`: what is installed, weights, GPU, codecs, disk."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
from dataclasses import asdict, dataclass
from typing import Literal

import typer

from callm_voice import __version__
from callm_voice.cli.common import JSON_OPTION, out, print_json
from callm_voice.core import paths, weights


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    what: str
    state: Literal["ok", "missing", "note"]
    detail: str


KINDS: tuple[paths.Kind, ...] = ("packs", "pipelines", "audio_profiles")
PACKAGES = {
    "pipecat-ai": ("pipecat", "always"),
    "av": ("av", "always"),
    "webrtcvad-wheels": ("webrtcvad", "always"),
    "faster-whisper": ("faster_whisper", "cpu"),
    "piper-tts": ("piper", "cpu"),
    "hibari-tts": ("hibari", "cpu"),
    "xllamacpp": ("xllamacpp", "cpu"),
}


def doctor(as_json: bool = JSON_OPTION) -> None:
    """Say what this machine has and lacks; exits with 3 if the default pipeline cannot run here."""
    findings = [*_machine(), *_packages(), *_weights(), *_data(), _gpu()]
    lacking = [f for f in findings if f.state == "missing"]
    if as_json:
        print_json({"ok": not lacking, "findings": [asdict(f) for f in findings]})
    else:
        for finding in findings:
            out.print(f"{finding.state:8}{finding.what:32}{finding.detail}", markup=False, soft_wrap=True)
    if lacking:
        raise typer.Exit(3)


def _machine() -> list[Finding]:
    free_gb = shutil.disk_usage(_existing(paths.cache_dir())).free / 1e9
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [
        Finding("callm-voice", "ok", f"{__version__}, Python {platform.python_version()}, {platform.platform()}"),
        Finding("processors", "ok", f"{cores} cores"),
        Finding("cache", "ok" if free_gb > 2 else "note", f"{paths.cache_dir()} ({free_gb:,.0f} GB free)"),
    ]


def _packages() -> list[Finding]:
    findings = []
    for package, (module, extra) in PACKAGES.items():
        if importlib.util.find_spec(module) is None:
            hint = "reinstall callm-voice" if extra == "always" else f"pip install 'callm-voice[{extra}]'"
            findings.append(Finding(package, "missing", hint))
        else:
            findings.append(Finding(package, "ok", importlib.metadata.version(package)))
    return findings


def _weights() -> list[Finding]:
    findings = []
    for status in weights.listing():
        if status.state == "present":
            findings.append(Finding(f"weight {status.name}", "ok", str(status.path)))
        elif status.default:
            hint = status.detail or f"callm-voice models pull {status.name}"
            findings.append(Finding(f"weight {status.name}", "missing", hint))
    return findings


def _data() -> list[Finding]:
    return [
        Finding(kind.replace("_", " "), "ok" if names else "missing", ", ".join(names) or "none found")
        for kind in KINDS
        for names in [paths.known_names(kind)]
    ]


def _gpu() -> Finding:
    if importlib.util.find_spec("ctranslate2") is None:
        return Finding("GPU", "note", "not looked for: faster-whisper is not installed")
    import ctranslate2

    count = ctranslate2.get_cuda_device_count()
    return Finding(
        "GPU", "ok" if count else "note", f"{count} CUDA devices" if count else "none; engines run on the CPU"
    )


def _existing(folder: os.PathLike[str]) -> str:
    here = os.path.abspath(folder)
    while not os.path.exists(here):
        here = os.path.dirname(here)
    return here
