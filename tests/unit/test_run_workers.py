"""`--workers auto`: as many calls at once as do not make each other late."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.small_pack import small_pack

from callm_voice.bench.run.plan import RunArgs
from callm_voice.bench.run.planning import make_plan
from callm_voice.bench.run.session import auto_workers
from callm_voice.core.paths import installed_data_dir

pytestmark = pytest.mark.unit


def workers(folder: Path, **changes: object) -> int:
    fields = {"packs": (str(small_pack(folder)),), "models": ("oracle",), "lines": ("pstn-g711u",), "pipeline": "cpu"}
    args = RunArgs.model_validate(fields | changes)
    return auto_workers(make_plan(args, created_at="2026-01-31T09:30:00Z", on_warning=print))


def with_recogniser(folder: Path, **stt: object) -> str:
    """The default pipeline with another recogniser's settings."""
    spec = yaml.safe_load((installed_data_dir() / "pipelines" / "cpu.yaml").read_text("utf-8"))
    spec["stt"].update(stt)
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return str(file)


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    monkeypatch.setattr("callm_voice.bench.run.session._cores", lambda: request.param)
    return int(request.param)


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 1), (4, 3), (16, 12)], indirect=["cores"])
def test_calls_by_voice_leave_each_other_room(cores: int, expected: int, tmp_path: Path) -> None:
    assert workers(tmp_path) == expected


@pytest.mark.parametrize("cores", [16], indirect=True)
def test_a_recogniser_with_more_threads_takes_more_cores(cores: int, tmp_path: Path) -> None:
    assert workers(tmp_path, pipeline=with_recogniser(tmp_path, cpu_threads=4)) == 3


@pytest.mark.parametrize("cores", [16], indirect=True)
def test_a_recogniser_on_a_gpu_has_two_copies_at_most(cores: int, tmp_path: Path) -> None:
    assert workers(tmp_path, pipeline=with_recogniser(tmp_path, device="cuda", compute_type="float16")) == 2


@pytest.mark.parametrize("cores", [8], indirect=True)
def test_calls_by_text_take_a_core_each(cores: int, tmp_path: Path) -> None:
    assert workers(tmp_path, lines=("text",)) == cores


@pytest.mark.parametrize("cores", [8], indirect=True)
def test_scripted_engines_take_a_core_each(cores: int, tmp_path: Path) -> None:
    assert workers(tmp_path, pipeline="scripted") == cores


@pytest.mark.parametrize("cores", [8], indirect=True)
def test_an_embedded_model_is_alone(cores: int, tmp_path: Path) -> None:
    assert workers(tmp_path, models=("qwen2.5-coder-0.5b",), lines=("text",)) == 1
