"""The plan of a run: seeds, order, what makes two commands the same run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small_pack import small_pack

from callm_voice.bench.run.plan import RunArgs, RunPlan, call_seed, planned_calls
from callm_voice.bench.run.planning import differences, extended, make_plan
from callm_voice.core.errors import UsageError

pytestmark = pytest.mark.unit
AT = "2026-01-31T09:30:00Z"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return small_pack(tmp_path)


def plan(pack: Path, **changes: object) -> RunPlan:
    fields: dict[str, object] = {
        "packs": (str(pack),), "models": ("oracle", "oracle?ttft_ms=0"), "lines": ("text", "pstn-g711u"),
        "trials": 2, "pipeline": "scripted",
    }  # fmt: skip
    return make_plan(RunArgs.model_validate(fields | changes), created_at=AT, on_warning=print)


def test_every_combination_stands_in_the_plan_once(pack: Path) -> None:
    made = plan(pack)
    assert len(made.calls) == 1 * 2 * 2 * 2
    assert len({call.id for call in made.calls}) == len(made.calls)
    assert made.calls[0].id == "bike_shop/C1-E1/oracle/text/t1"


def test_models_are_compared_on_the_same_calls_and_trials_differ(pack: Path) -> None:
    seeds: dict[tuple[str, int], set[int]] = {}
    for call in plan(pack).calls:
        seeds.setdefault((call.line, call.trial), set()).add(call.seed)
    assert all(len(of_models) == 1 for of_models in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


def test_a_seed_is_the_same_on_every_machine() -> None:
    assert call_seed(1, "legal", "C1-E1", "text", 1) == 7_247_336_845_621_419_613
    assert call_seed(2, "legal", "C1-E1", "text", 1) != call_seed(1, "legal", "C1-E1", "text", 1)


def test_the_first_trial_of_everything_comes_first_and_packs_and_models_take_turns() -> None:
    args = RunArgs(packs=("a", "b"), models=("m", "n"), lines=("text",), trials=2)
    order = [c.id for c in planned_calls(args, {"a": ["1", "2"], "b": ["3"]})]
    assert order[:4] == ["a/1/m/text/t1", "a/1/n/text/t1", "b/3/m/text/t1", "b/3/n/text/t1"]
    assert [c[-2:] for c in order] == ["t1"] * 6 + ["t2"] * 6


def test_a_plan_survives_its_file(pack: Path) -> None:
    made = plan(pack)
    assert RunPlan.model_validate_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"packs": ("nope",)}, "nope"),
        ({"models": ("gpt-none",)}, "gpt-none"),
        ({"lines": ("text", "nope")}, "nope"),
        ({"pipeline": "nope"}, "nope"),
        ({"tasks": "C9-*"}, "C9-*"),
        ({"caller": "llm:gpt-none"}, "gpt-none"),
    ],
)
def test_a_mistake_shows_before_anything_starts(pack: Path, changes: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError) as raised:
        plan(pack, **changes)
    assert word in raised.value.message


def test_a_key_that_is_not_set_shows_before_anything_starts(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = pack.parent / "home"
    home.mkdir()
    (home / "models.yaml").write_text(
        "models:\n  far: {kind: openai, base_url: 'http://127.0.0.1:9/v1', model: m, api_key_env: NO_KEY}\n"
    )
    monkeypatch.setenv("CALLM_VOICE_HOME", str(home))
    with pytest.raises(UsageError, match="NO_KEY"):
        plan(pack, models=("far",))


def test_a_pack_that_is_no_benchmark_is_named_in_a_warning(pack: Path) -> None:
    file = pack / "pack.yaml"
    file.write_text("benchmark: false\n" + file.read_text("utf-8"), encoding="utf-8")
    warnings: list[str] = []
    args = RunArgs(packs=(str(pack),), models=("oracle",), lines=("text",), trials=1)
    make_plan(args, created_at=AT, on_warning=warnings.append)
    assert ["bike_shop" in warning for warning in warnings] == [True]


def test_the_same_command_is_the_same_run_whatever_its_caps(pack: Path) -> None:
    assert differences(plan(pack), plan(pack, max_cost=5.0, invalid_cap=7, backoff_s=1.0, deadline_s=9.0)) == []


def test_a_changed_argument_is_named(pack: Path) -> None:
    assert differences(plan(pack), plan(pack, trials=3, models=("oracle",))) == [
        "--models: was oracle,oracle?ttft_ms=0, is oracle", "--trials: was 2, is 3",
    ]  # fmt: skip


def test_an_edited_file_of_the_pack_is_named(pack: Path) -> None:
    old = plan(pack)
    task = pack / "tasks" / "C1-E1.yaml"
    task.write_text(task.read_text("utf-8") + "\n# read again\n", encoding="utf-8")
    assert differences(old, plan(pack)) == ["the pack bike_shop was edited: tasks/C1-E1.yaml"]
    with pytest.raises(UsageError, match=r"tasks/C1-E1\.yaml"):
        extended(old, plan(pack, trials=3))


def test_extending_adds_calls_and_changes_none(pack: Path) -> None:
    old = plan(pack)
    new = extended(old, plan(pack, trials=3))
    assert new.calls[: len(old.calls)] == old.calls
    assert {call.trial for call in new.calls[len(old.calls) :]} == {3}
    assert differences(new, plan(pack, trials=3)) == []
    assert differences(new, plan(pack)) == [], "the first command still is this run"


@pytest.mark.parametrize("changes", [{"seed": 2}, {"pace": "real"}, {"pipeline": "cpu"}])
def test_extending_cannot_change_what_calls_are(pack: Path, changes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(changes))):
        extended(plan(pack), plan(pack, **changes))
