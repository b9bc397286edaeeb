"""How pip's and the hub's failures are told, and that the installed table is well-formed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from callm_voice.core import weight_sources
from callm_voice.core.errors import BadWeightError, ConfigError, DiskError, MissingWeightError
from callm_voice.core.weight_sources import hub_file, member_blocks, pip_wheel
from callm_voice.core.weight_table import default_names, parse_table, table

pytestmark = pytest.mark.unit


def pip_that(monkeypatch: pytest.MonkeyPatch, code: int, stderr: str) -> list[list[str]]:
    commands: list[list[str]] = []

    def run(command: list[str], **kwargs: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, code, "", stderr)

    monkeypatch.setattr(weight_sources.subprocess, "run", run)
    return commands


def test_pip_is_told_to_bring_wheels_only_and_to_install_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = pip_that(monkeypatch, 0, "")
    (tmp_path / "demo-1.0-py3-none-any.whl").touch()
    pip_wheel("demo==1.0", tmp_path)
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(commands[0])
    assert "install" not in commands[0]


def test_pips_last_error_line_is_what_the_user_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_that(monkeypatch, 1, "WARNING: x\nERROR: first\nERROR: No matching distribution found for demo==1.0\n")
    with pytest.raises(MissingWeightError, match=r"demo==1\.0 cannot be downloaded: No matching distribution"):
        pip_wheel("demo==1.0", tmp_path)


def test_pips_full_disk_is_a_disk_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_that(monkeypatch, 1, "ERROR: Could not install: [Errno 28] No space left on device\n")
    with pytest.raises(DiskError):
        pip_wheel("demo==1.0", tmp_path)


def test_a_python_without_pip_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_sources.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingWeightError) as caught:
        pip_wheel("demo==1.0", tmp_path)
    assert "ensurepip" in caught.value.hint


def test_the_hub_is_left_alone_when_it_is_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(httpx, "head", lambda *a, **k: pytest.fail("the hub was asked"))
    assert hub_file("owner/repo@main", "model.bin", tmp_path) is None


def test_an_unreachable_hub_falls_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> httpx.Response:
        raise httpx.ConnectError("no route")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(httpx, "head", refuse)
    assert hub_file("owner/repo@main", "model.bin", tmp_path) is None


def test_a_file_that_is_no_zip_is_named(tmp_path: Path) -> None:
    wheel = tmp_path / "broken.whl"
    wheel.write_bytes(b"<html>captive portal</html>")
    with pytest.raises(BadWeightError, match=r"broken\.whl"):
        list(member_blocks(wheel, "a/b"))


def test_every_weight_of_the_table_can_come_from_somewhere() -> None:
    for name, entry in table().items():
        for file in entry.files:
            assert file.parts or file.package_path, f"{name}/{file.name} has no source that always works"


def test_the_default_weights_make_a_whole_cpu_pipeline() -> None:
    assert default_names() == ["whisper-base", "piper-en_US-joe-medium", "hibari-af_heart", "qwen2.5-coder-0.5b"]


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", ""])
def test_a_file_name_that_could_leave_its_folder_is_refused(name: str) -> None:
    text = f'[w]\ntitle="t"\nlicence="l"\nis="file"\n[[w.files]]\nname="{name}"\nbytes=1\nsha256="{"0" * 64}"\n'
    with pytest.raises(ConfigError, match="name"):
        parse_table(text, Path("weights.toml"))
