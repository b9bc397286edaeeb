"""A recogniser that is too slow for a telephone call: its calls are nobody's failures, and the run says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.small_pack import small_pack
from support.whole_run import AT_ONCE, board, run_json

from callm_voice.core.paths import installed_data_dir
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]


def slow_pipeline(folder: Path, delay_ms: int) -> str:
    """The scripted pipeline with a recogniser that takes so long, whatever is said."""
    spec = yaml.safe_load((installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    file = folder / f"slow-{delay_ms}.yaml"
    spec["stt"]["delay_ms"] = delay_ms
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return str(file)


def test_a_call_that_waited_for_its_recogniser_is_made_again_and_never_scored(tmp_path: Path) -> None:
    pack = small_pack(tmp_path)
    ran = run_json(
        tmp_path / "run", pack, AT_ONCE, "--trials", "1", "--workers", "1", "--invalid-cap", "2", "--lines",
        "pstn-g711u", "--pipeline", slow_pipeline(tmp_path, 9000),
    )  # fmt: skip
    assert ran.code == 1, ran.err
    [model] = ran.json["models"]
    assert (model["done"], model["used_up"]) == (0, 1)
    assert model["invalid"] == {"harness": 2, "infrastructure": 0, "caller": 0}
    assert list(board(tmp_path / "run").values()) == [{"pass": 0, "fail": 0, "open": 1}]
    for folder in find_calls(tmp_path / "run" / "invalid"):
        record = load_record(folder)
        assert (record.outcome.invalid_kind, record.verdict) == ("harness", None)
        assert (
            "s of it for the recogniser and the voice; run fewer workers, or smaller engines" in record.outcome.detail
        )
        assert record.latency is not None


def test_a_recogniser_that_is_only_slow_leaves_the_verdict(tmp_path: Path) -> None:
    """Three seconds a turn are bad, and no reason for a caller to speak up."""
    pack = small_pack(tmp_path)
    ran = run_json(
        tmp_path / "run", pack, AT_ONCE, "--trials", "1", "--workers", "1", "--lines", "pstn-g711u",
        "--pipeline", slow_pipeline(tmp_path, 3000),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["models"][0]["passed"] == 1
