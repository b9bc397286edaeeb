"""The pipelines that ship load, and the one for a GPU box is what its page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.core import paths
from callm_voice.llm.spec import OpenAiSpec, parse_model_arg
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.settings import SileroVadSettings, WhisperSettings

pytestmark = pytest.mark.unit
FOLDER = paths.installed_data_dir() / "pipelines"
PAGE = Path(__file__).parents[2] / "docs" / "gpu-box.md"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda p: p.stem)
def test_a_pipeline_that_ships_loads_under_its_own_name(file: Path) -> None:
    assert load_pipeline(file.stem).id == file.stem
    assert load_pipeline(str(file)).title


def test_the_gpu_pipeline_recognises_on_the_gpu_in_float16() -> None:
    pipeline = load_pipeline("gpu")
    assert isinstance(pipeline.stt, WhisperSettings)
    assert pipeline.stt.model == "hub:large-v3-turbo"
    assert (pipeline.stt.device, pipeline.stt.compute_type) == ("cuda", "float16")
    assert isinstance(pipeline.vad, SileroVadSettings)


def test_the_gpu_pipeline_names_a_model_on_a_local_server() -> None:
    pipeline = load_pipeline("gpu")
    spec = parse_model_arg("qwen2.5-7b-instruct", pipeline.models).spec
    assert isinstance(spec, OpenAiSpec)
    assert spec.base_url == "http://127.0.0.1:8000/v1"
    assert spec.api_key_env is None


def test_the_page_starts_the_server_under_the_name_that_the_pipeline_asks_for() -> None:
    page = PAGE.read_text(encoding="utf-8")
    (spec,) = load_pipeline("gpu").models.values()
    assert isinstance(spec, OpenAiSpec)
    assert f"--served-model-name {spec.model} " in page
    assert "--port 8000" in page
