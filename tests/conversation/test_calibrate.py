"""`callm-voice calibrate --quick`: real calls by voice with scripted engines, compared with their two truths.

A busy machine may miss a bar, so no bar is asserted here: that every inference, turn and barge-in was compared is.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.cli import Ran, callm

from callm_voice.bench.calibrate_format import Calibration
from callm_voice.cli.calibrate import show

pytestmark = pytest.mark.conversation


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    out = tmp_path_factory.mktemp("calibrate")
    return callm("calibrate", "--quick", "--ttft-ms", "50", "--ttft-ms", "900", "--json", "--out", str(out))


@pytest.fixture(scope="module")
def found(ran: Ran) -> dict[str, Any]:
    assert ran.code in (0, 1), ran.err
    found: dict[str, Any] = ran.json
    return found


def test_the_exit_code_says_whether_a_bar_was_missed(ran: Ran, found: dict[str, Any]) -> None:
    assert ran.code == (0 if found["passed"] else 1)
    assert found["passed"] == (found["missed"] == [])


def test_every_call_passed_and_nothing_lacks_a_truth(found: dict[str, Any]) -> None:
    assert [(c["pipeline"], c["ttft_ms"], c["outcome"]) for c in found["cases"]] == [
        ("scripted", 50.0, "pass"), ("scripted", 900.0, "pass"),
    ]  # fmt: skip
    assert [c["missing"] for c in found["cases"]] == [[], []]


def test_every_inference_with_a_first_token_was_compared_with_the_server_s_log(found: dict[str, Any]) -> None:
    for case in found["cases"]:
        assert case["inferences"] >= len(case["ttft"]) >= case["inferences"] - case["interrupted"] > 5
        causes = {c["what"].split("(")[1].rstrip(")") for c in case["ttft"]}
        assert causes == {"greeting", "caller_turn", "tool_result", "handoff"}


def test_the_server_s_log_knows_the_time_that_it_was_set_to(found: dict[str, Any]) -> None:
    for case in found["cases"]:
        assert min(c["truth_ms"] for c in case["ttft"]) == pytest.approx(case["ttft_ms"], abs=1)


def test_every_turn_and_every_barge_in_was_compared_with_the_recording(found: dict[str, Any]) -> None:
    for case in found["cases"]:
        assert len(case["v2v"]) == case["turns"] > 5
        assert len(case["barge_in"]) == case["barge_ins"] == 2
        assert all(c["truth_ms"] > 0 for c in [*case["v2v"], *case["barge_in"]])


def test_wire_and_independent_detector_agree_whatever_the_machine_does(found: dict[str, Any]) -> None:
    """Both look at the same samples, so no load can move them apart."""
    assert found["v2v_probe_error_ms_p95"] <= found["bars_ms"]["v2v"]
    assert found["barge_in_probe_error_ms_p95"] <= found["bars_ms"]["v2v"]


def test_spans_sum_and_interrupted_inferences_are_counted_but_in_no_statistic(found: dict[str, Any]) -> None:
    assert found["spans_sum_error_ms"] <= found["bars_ms"]["spans_sum"]
    assert all(c["interrupted"] >= 1 and c["interrupted_in_statistics"] == 0 for c in found["cases"])


def test_the_table_is_for_people(found: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show(Calibration.model_validate(found))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Time to first token, server's log") for line in lines)
    assert [line for line in lines if line.startswith("MISSED")] == [f"MISSED  {reason}" for reason in found["missed"]]
    assert lines[-1] == ("CALIBRATED" if found["passed"] else "NOT CALIBRATED")


@pytest.mark.parametrize("wrong", [("--pace", "slow"), ("--ttft-ms", "99999"), ("--line", "no-such-line")])
def test_a_mistake_is_one_line_and_exit_code_2(wrong: tuple[str, str]) -> None:
    ran = callm("calibrate", "--quick", *wrong)
    assert (ran.code, ran.out, len(ran.error_lines)) == (2, "", 1)
