"""The notebooks, executed: on a made run with sound, on a real scripted call, and without a run."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from support.cli import LIMIT_S, scripted_call
from support.run_builder import MadeCall, make_record, sample_calls, write_run

from callm_voice.core.paths import installed_data_dir

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(2 * LIMIT_S)]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample run with sound, and some calls whose prompts grew, not all of them from the cache."""
    return write_run(tmp_path_factory.mktemp("run"), [*sample_calls(), *grown_prompts()], audio=True)


def grown_prompts() -> list[MadeCall]:
    made = []
    for trial in range(6, 12):
        latency = make_record(MadeCall(trial=trial))[0].latency
        assert latency is not None
        inferences = tuple(
            i.model_copy(
                update={
                    "prompt_tokens": 900 * n + 100 * trial, "ttft_ms": 40 * n + (250 if n % 4 == 1 else 90),
                    "cached_tokens": (None if trial == 11 else 0 if n % 4 == 1 else 900 * n),
                    "cause": "handoff" if n % 4 == 1 and n > 1 else i.cause,
                }
            )
            for n, i in enumerate(latency.inferences, start=1)
        )  # fmt: skip
        made.append(MadeCall(trial=trial, changes={"latency": latency.model_copy(update={"inferences": inferences})}))
    return made


def execute(name: str, run: Path | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outputs of all cells."""
    for variable in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.setenv("CALLM_VOICE_RUN", str(run))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    book = nbformat.read(installed_data_dir() / "notebooks" / f"{name}.ipynb", 4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=LIMIT_S, kernel_name="python3", resources=resources).execute()
    return [output for cell in book.cells for output in cell.get("outputs", [])]


def of_type(outputs: list[Any], kind: str) -> list[str]:
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def printed(outputs: list[Any]) -> str:
    assert [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"] == []
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_the_latency_profile_of_the_sample(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = execute("latency-profile", sample, tmp_path, monkeypatch)
    plots = [base64.b64decode(plot) for plot in of_type(outputs, "image/png")]
    assert len(plots) == 4
    assert all(plot.startswith(PNG) and len(plot) > 10_000 for plot in plots)
    assert "in the category (median" in printed(outputs)
    assert "what it had cached for 9 of" in printed(outputs)
    (table,) = of_type(outputs, "text/html")
    assert "after a handoff" in table


def test_the_latency_profile_of_a_real_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = scripted_call(tmp_path / "run")
    assert ran.code == 0, ran.err
    outputs = execute("latency-profile", tmp_path / "run", tmp_path, monkeypatch)
    latency = ran.json["latency"]
    taken = [i for i in latency["inferences"] if i["ttft_ms"] is not None and not i["interrupted"] and not i["failed"]]
    counted = len(taken) if latency["valid"] else 0  # on a busy machine the harness may have lagged
    assert f"{len(latency['inferences'])} requests, {counted} count in the scores" in printed(outputs)
    assert ("scored calls are left out" in printed(outputs)) == (not latency["valid"])
    assert len(of_type(outputs, "image/png")) == 4


def test_ten_failures_can_be_listened_to(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = execute("listen-to-the-failures", sample, tmp_path, monkeypatch)
    pages = of_type(outputs, "text/html")
    players = [page for page in pages if "<audio" in page]
    assert len(players) == 10
    assert all("data:audio/wav;base64," in player for player in players)
    assert sum("heard" in page and "<mark>" in page for page in pages) >= 8
    assert len(of_type(outputs, "image/png")) == 1 + 10
    assert "53 of 101 calls did not pass" in printed(outputs)


def test_two_models_compared(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = execute("compare-two-models", sample, tmp_path, monkeypatch)
    assert len(of_type(outputs, "image/png")) == 3
    assert "first: alpha\nsecond: beta?temperature=0" in printed(outputs)
    assert "mean difference +0.192, p = 0.5000 (all sign patterns counted)" in printed(outputs)


def test_without_a_run_the_notebook_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CellExecutionError, match="RUN is empty: name the folder of a run in the first cell"):
        execute("compare-two-models", "", tmp_path, monkeypatch)
