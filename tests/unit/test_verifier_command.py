"""`python -m verifier`: exit status, what is printed where, and that pydantic alone is enough."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.verifier_cases import GOLD_FILE, perfect_state, perfect_trace

import verifier
from verifier.__main__ import main

pytestmark = pytest.mark.unit

ROOT = Path(verifier.__file__).parents[1]
PYDANTIC_AND_WHAT_IT_NEEDS = ("pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection")


@pytest.fixture
def call(tmp_path: Path) -> Path:
    """A call folder that passes. The record has keys that this room knows nothing of."""
    record = {"later": [1], "trace": perfect_trace().model_dump(mode="json")}
    (tmp_path / "call.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "state.json").write_text(json.dumps(perfect_state()), encoding="utf-8")
    (tmp_path / "gold.json").write_text(GOLD_FILE.model_dump_json(), encoding="utf-8")
    return tmp_path


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(list(argv), out, err), out.getvalue(), err.getvalue()


def test_a_call_that_passes_exits_0_with_the_verdict_on_stdout_and_one_line_on_stderr(call: Path) -> None:
    status, out, err = run(str(call))
    assert (status, err) == (0, "passed: tools ok, path ok, state ok\n")
    assert json.loads(out)["passed"] is True


def test_the_record_may_be_named_by_its_file(call: Path) -> None:
    assert run(str(call / "call.json")) == run(str(call))


def test_a_call_that_fails_exits_1_and_says_which_gates(call: Path) -> None:
    (call / "state.json").write_text("{}", encoding="utf-8")
    status, out, err = run(str(call))
    assert (status, err) == (1, "failed: tools ok, path ok, state 6 rows differ\n")
    assert json.loads(out)["passed"] is False


@pytest.mark.parametrize("argv", [(), ("a", "b"), ("--wat",)])
def test_bad_usage_exits_2_with_the_usage_line(argv: tuple[str, ...]) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("usage: ")


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("call.json", None, "call.json: cannot be read: No such file"),
        ("call.json", "{", "call.json: not JSON text"),
        ("call.json", "[" * 100_000, "call.json: not JSON text"),
        ("call.json", "[]", "call.json: not a call record: it has no `trace`"),
        ("call.json", '{"trace": {"calls": []}}', "call.json: trace.start_role: Field required"),
        ("state.json", None, "state.json: cannot be read"),
        ("state.json", '{"t": 1}', "state.json: t: Input should be a valid list"),
        ("state.json", "\udcff", "state.json: not JSON text"),
        ("gold.json", '{"task": 1}', "gold.json: task: Input should be a valid string"),
    ],
)
def test_bad_input_exits_2_with_one_line_that_names_the_file(
    call: Path, file: str, text: str | None, says: str
) -> None:
    (call / file).unlink()
    if text is not None:
        (call / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    status, out, err = run(str(call))
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_gold_that_does_not_fit_its_seed_is_bad_input_not_a_failed_call(call: Path) -> None:
    gold = json.loads((call / "gold.json").read_text(encoding="utf-8"))
    gold["gold"]["state"]["appointments"]["changed"][0]["where"] = {"id": 99}
    (call / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    status, _, err = run(str(call))
    assert status == 2
    assert "state.appointments.changed.0.where: id = 99 picks 0 rows" in err


def test_it_runs_where_only_pydantic_is_installed(call: Path, tmp_path: Path) -> None:
    """No site-packages (`-S`), a folder that holds pydantic and what it needs, and this package: nothing else."""
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copytree(ROOT / "verifier", alone / "verifier")
    for name in PYDANTIC_AND_WHAT_IT_NEEDS:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (alone / source.name).symlink_to(source)
    done = subprocess.run(
        [sys.executable, "-S", "-m", "verifier", str(call)],
        cwd=tmp_path, env={"PYTHONPATH": str(alone)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "passed: tools ok, path ok, state ok\n")
