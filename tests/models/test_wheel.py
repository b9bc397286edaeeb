"""The built wheel, installed away from the checkout, does what the checkout does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from support.cli import LIMIT_S

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.models,
    pytest.mark.timeout(6 * LIMIT_S),
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="builds the wheel from a checkout"),
]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=5 * LIMIT_S
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder away from the checkout with a fresh environment that holds the wheel."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ROOT, cwd=folder)
    wheel = next((folder / "dist").glob("*.whl"))
    venv.create(folder / "env", with_pip=True)
    pip = [folder / "env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", ROOT / "constraints.txt", f"{wheel}[cpu,dev,otel,plots]", cwd=folder)
    return folder


def test_the_wheel_carries_packs_pipelines_and_profiles(elsewhere: Path) -> None:
    said = run(elsewhere / "env/bin/callm-voice", "doctor", "--json", cwd=elsewhere).stdout
    for folder, pattern in (("packs", "*/pack.yaml"), ("pipelines", "*.yaml"), ("audio_profiles", "*.yaml")):
        names = sorted(p.parent.name if folder == "packs" else p.stem for p in (ROOT / folder).glob(pattern))
        assert ", ".join(names) in said
    assert str(ROOT / "packs") not in said


def test_the_demo_runs_from_the_wheel(elsewhere: Path) -> None:
    out = run(elsewhere / "env/bin/callm-voice", "demo", cwd=elsewhere).stdout
    assert "oracle: pass" in out
    assert "qwen2.5-coder-0.5b: " in out
    for model in ("oracle", "qwen2.5-coder-0.5b"):
        call = elsewhere / f"runs/demo/calls/healthcare/C5-H1/{model}/pstn-g711u/t1"
        own = {"oracle.jsonl"} if model == "oracle" else set()
        files = {"call.json", "call.flac", "events.jsonl", "state.json", "gold.json"}
        assert {p.name for p in call.iterdir()} == files | own


def test_the_tests_pass_against_the_wheel(elsewhere: Path) -> None:
    shutil.copytree(ROOT / "tests", elsewhere / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", elsewhere / "docs")  # some tests compare its pages with the product
    shutil.copy(ROOT / "pyproject.toml", elsewhere)
    # Those of the parts that read data files and of a whole call; all of them would take as long as in the checkout.
    unit = sorted((elsewhere / "tests/unit").glob("test_[cdv]*.py"))
    parts = [elsewhere / "tests/golden", elsewhere / "tests/conversation/test_whole_call.py", *unit]
    out = run(elsewhere / "env/bin/python", "-m", "pytest", "-q", *parts, cwd=elsewhere).stdout
    assert " passed" in out.splitlines()[-1]
