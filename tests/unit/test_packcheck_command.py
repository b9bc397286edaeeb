"""`callm-voice packs check`: the document it prints, its exit code, what it says of whole packs."""

from __future__ import annotations

import json

import pytest
from support.small_pack import TASK, small_pack
from typer.testing import CliRunner

from callm_voice.bench.packcheck.run import benchmark_packs, check_packs
from callm_voice.cli.commands import app
from callm_voice.core.errors import ConfigError, UsageError

pytestmark = pytest.mark.unit
COUNTS = (
    "id", "tasks", "roles", "tools", "tables", "prompt_tokens_min", "prompt_tokens_max", "gold_pass", "noop_fail",
    "mutations", "mutations_caught", "oracle_complete", "ambiguous",
)  # fmt: skip


def run(*args):
    return CliRunner().invoke(app, ["packs", *args])


def whole(folder, **options):
    return [problem.one_line() for problem in check_packs([folder], **options)[0].problems]


def test_the_document_has_the_counts_and_the_problems(tmp_path):
    result = run("check", str(small_pack(tmp_path)), "--json")
    pack = json.loads(result.stdout)["packs"][0]
    assert result.exit_code == 0
    assert tuple(pack) == (*COUNTS, "token_method", "problems")
    assert [pack[key] for key in ("id", "tasks", "roles", "tools", "tables")] == ["bike_shop", 1, 2, 3, 3]
    assert pack["problems"] == []


def test_a_problem_has_its_place_and_the_command_exits_with_1(tmp_path):
    folder = small_pack(tmp_path, (TASK, "difficulty: easy", "difficulty: hard"))
    result = run("check", str(folder), "--json")
    problem = json.loads(result.stdout)["packs"][0]["problems"][0]
    assert result.exit_code == 1
    assert (problem["task"], problem["file"], problem["line"], problem["key"]) == ("C1-E1", TASK, 4, "difficulty")


def test_the_table_names_each_problem_in_a_line(tmp_path):
    result = run("check", str(small_pack(tmp_path, (TASK, "difficulty: easy", "difficulty: hard"))))
    assert "bike_shop/tasks/C1-E1.yaml:4: difficulty: the id C1-E1 says otherwise" in result.stdout


def test_origins_are_shown_when_asked_for(tmp_path):
    result = run("check", str(small_pack(tmp_path)), "--json", "--origins", "--task", "C1-E1")
    assert json.loads(result.stdout)["packs"][0]["origins"]["C1-E1"][0]["origin"] == "trait full_name"


def test_one_task_of_two_packs_is_refused(tmp_path):
    result = run("check", "healthcare", str(small_pack(tmp_path)), "--task", "C1-E1")
    assert isinstance(result.exception, UsageError)


def test_a_pack_that_cannot_be_loaded_is_a_usage_error(tmp_path):
    with pytest.raises(ConfigError, match=r"tools\.py"):
        check_packs([small_pack(tmp_path, ("tools.py", "import Annotated", "import Annotate"))])


RING = 'def ring(ctx: ToolContext) -> Envelope:\n    """Ring."""\n    return ctx.ok()\n\n\ndef _not_found_yet'


def test_a_tool_that_no_role_has_is_told(tmp_path):
    folder = small_pack(tmp_path, ("tools.py", "def _not_found_yet", RING))
    assert whole(folder) == ["tools.py: ring: no role has this tool"]


def test_a_tool_that_no_task_uses_is_told(tmp_path):
    folder = small_pack(
        tmp_path,
        ("tools.py", "def _not_found_yet", RING),
        ("agents/front.md", "[find_customer]", "[find_customer, ring]"),
    )
    assert whole(folder) == ["tools.py: ring: no task uses this tool"]


def test_a_role_that_no_task_goes_to_is_told(tmp_path):
    folder = small_pack(
        tmp_path, ("agents/workshop.md", "transfers:\n", "transfers:\n  - {role: office, when: Money.}\n")
    )
    (folder / "agents" / "office.md").write_text("---\ntitle: Office\n---\nYou do the books.\n")
    assert whole(folder) == ["agents/office.md: no task goes to this role"]


def test_a_pack_without_tasks_is_told(tmp_path):
    folder = small_pack(tmp_path)
    (folder / TASK).unlink()
    assert "pack.yaml: the pack has no tasks" in whole(folder)


def test_the_bars_of_a_full_pack_are_asked_for_only_then(tmp_path):
    folder = small_pack(tmp_path)
    found = whole(folder, bars=True)
    assert "pack.yaml: 1 tasks, fewer than 36" in found
    assert "pack.yaml: category 1 has no task of difficulty H, M" in found
    assert any(line.startswith("pack.yaml: the transfer graph is a star") for line in found)
    assert any("prompt tokens (estimate" in line for line in found)
    assert whole(folder) == []


def test_all_packs_are_those_of_the_benchmark(tmp_path, monkeypatch):
    small_pack(tmp_path / "packs")
    other = small_pack(tmp_path / "elsewhere", ("pack.yaml", "version", "benchmark: false\nversion"))
    other.rename(tmp_path / "packs" / "other")
    monkeypatch.chdir(tmp_path)
    names = [folder.name for folder in benchmark_packs()]
    assert "bike_shop" in names
    assert "other" not in names
