"""Gold of a task file: read, refused with file, line and key, and put beside its seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.verifier_cases import SEED

from callm_voice.bench.gold import gold_file, load_gold
from callm_voice.core.errors import ConfigError
from verifier.gold import ExpectedCall

pytestmark = pytest.mark.unit

TASK = """\
id: C1-E1
title: ignored here
gold:
  path: [identity, scheduling]
  calls:
    - {tool: transfer_to_identity, args: {next_intent: scheduling}}
    - tool: move
      args: {appointment_id: 2, new_start: 2026-08-24T09:00}
    - {tool: pay, ok: false}
  state:
    appointments:
      changed:
        - where: {id: 2}
          set: {start: 2026-08-24T09:00}
    slots:
      cleared: [{slot_id: s1}]
  dialogue:
    - say: Good morning.
    - call: move
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "C1-E1.yaml"
    path.write_text(TASK, encoding="utf-8")
    return path


def edited(task: Path, old: str, new: str) -> Path:
    text = task.read_text(encoding="utf-8")
    assert old in text
    task.write_text(text.replace(old, new), encoding="utf-8")
    return task


def test_gold_is_read_from_a_task_file(task: Path) -> None:
    gold = load_gold(task).gold
    assert gold.path == ("identity", "scheduling")
    assert gold.calls[1] == ExpectedCall(tool="move", args={"appointment_id": 2, "new_start": "2026-08-24T09:00"})
    assert [call.ok for call in gold.calls] == [True, True, False]
    assert gold.state["slots"].cleared == ({"slot_id": "s1"},)


def test_the_dialogue_is_handed_over_as_plain_data(task: Path) -> None:
    assert load_gold(task).dialogue == [{"say": "Good morning."}, {"call": "move"}]


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        ("{tool: pay, ok: false}", "{tool: pay, args: 3}", 9, "gold.calls.2.args", "valid dictionary"),
        ("tool: move", "tol: move", 7, "gold.calls.1.tool", "required and missing"),
        ("path: [identity, scheduling]", "path: identity", 4, "gold.path", "valid tuple"),
        ("cleared:", "deleted:", 16, "gold.state.slots.deleted", "unknown key"),
        ("- say: Good morning.", "- Good morning", 18, "gold.dialogue.0", "valid dictionary"),
        ("gold:\n", "silver:\n", None, "gold", "required and missing"),
    ],
)
def test_a_wrong_key_is_named_with_its_line(
    task: Path, old: str, new: str, line: int | None, key: str, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_gold(edited(task, old, new))
    assert (caught.value.line, caught.value.key) == (line, key)
    assert says in caught.value.expected


def test_a_gold_file_carries_the_seed_and_survives_its_json(task: Path) -> None:
    types = {"move": {"appointment_id": "integer"}}
    made = gold_file("demo/C1-E1", load_gold(task), SEED, {"*.created_at": "clock"}, types)  # type: ignore[arg-type]
    assert made.seed == SEED
    assert type(made).model_validate_json(made.model_dump_json()) == made


def test_gold_that_does_not_fit_the_seed_is_refused_with_its_line(task: Path) -> None:
    wrong = load_gold(edited(task, "where: {id: 2}", "where: {id: 99}"))
    with pytest.raises(ConfigError) as caught:
        gold_file("demo/C1-E1", wrong, SEED, {}, {})
    assert (caught.value.line, caught.value.key) == (13, "gold.state.appointments.changed.0.where")
    assert "picks 0 rows" in str(caught.value)


def test_without_a_source_the_task_is_named(task: Path) -> None:
    wrong = load_gold(edited(task, "slots:", "slot:")).gold
    with pytest.raises(ConfigError, match=r"^demo/C1-E1: gold\.state\.slot: there is no such table"):
        gold_file("demo/C1-E1", wrong, SEED, {}, {})
