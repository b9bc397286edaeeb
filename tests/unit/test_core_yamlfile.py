"""YAML of a user's: what is read, and one clear line with file, line and key for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import MAX_BYTES, line_of, load_model, load_yaml

pytestmark = pytest.mark.unit


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size_ms: int
    name: str = ""


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    parts: list[Inner] = []
    by_name: dict[str, Inner] = {}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.yaml"


def refused(file: Path, text: str | bytes, model: type[BaseModel] = Outer) -> ConfigError:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load_model(file, model)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(file))
    return caught.value


def test_a_valid_file_becomes_its_model(file: Path) -> None:
    file.write_text("title: t\nparts: [{size_ms: 20}]\n", encoding="utf-8")
    assert load_model(file, Outer) == Outer(title="t", parts=[Inner(size_ms=20)])


@pytest.mark.parametrize(
    ("text", "line", "key", "says"),
    [
        ("title: t\nparts:\n  - size_ms: 20\n  - size_ms: x\n", 4, "parts.1.size_ms", "valid integer"),
        ("title: t\nparts:\n  - size_ms: 20\n    colour: red\n", 4, "parts.0.colour", "unknown key"),
        ("parts: []\n", None, "title", "this key is required and missing"),
        ("title: t\nby_name:\n  a:\n    name: n\n", 3, "by_name.a.size_ms", "this key is required and missing"),
        ("title: [1]\n", 1, "title", "valid string"),
    ],
)
def test_a_wrong_key_is_named_with_its_line(file: Path, text: str, line: int | None, key: str, says: str) -> None:
    error = refused(file, text)
    assert (error.line, error.key) == (line, key)
    assert says in error.expected


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("title: a\nparts: []\ntitle: b\n", 3, "the key 'title' stands twice"),
        ("title: t\nparts:\n  - {name: a, name: b}\n", 3, "the key 'name' stands twice"),
        ("title: t\n  bad: indent: here\n", 2, "not valid YAML"),
        ("? [a]\n: b\n", 1, "a key must be plain text"),
        ("title: !!python/object/apply:os.getcwd []\n", 1, "could not determine a constructor"),
        ("title: \x00\n", None, "not valid YAML"),
        ("[" * 20_000, None, "nested too deeply"),
        (b"title: \xff\n", None, "not UTF-8 text"),
        (b"# " + b"x" * MAX_BYTES, None, "larger than 1,000,000 bytes"),
        ("", None, "expected a mapping of keys, found nothing"),
        ("- a\n", None, "expected a mapping of keys, found list"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_what_is_not_a_mapping_in_yaml_is_refused_in_one_line(
    file: Path, text: str | bytes, line: int | None, says: str
) -> None:
    error = refused(file, text)
    assert error.line == line
    assert says in str(error)


def test_a_file_that_is_not_there_is_refused(file: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_yaml(file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-08-24", "2026-08-24"),
        ("10:30", "10:30"),
        ("02134", "02134"),
        ("no", "no"),
        ("1_000", "1_000"),
        ("25", 25),
        ("-3", -3),
        ("0x1F", 31),
        ("25.0", 25.0),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
        ("", None),
        ("9" * 5000, "9" * 5000),
    ],
    ids=lambda v: str(v)[:12],
)
def test_plain_scalars_are_those_of_yaml_1_2(file: Path, text: str, value: object) -> None:
    """YAML 1.2.2 §10.3.2; dates stay text."""
    file.write_text(f"a: {text}\n", encoding="utf-8")
    found = load_yaml(file)["a"]
    assert found == value
    assert type(found) is type(value)


def test_a_mapping_may_be_merged_into_another(file: Path) -> None:
    file.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", encoding="utf-8")
    assert load_yaml(file)["b"] == {"x": 1, "y": 3}


def test_the_line_of_a_key_is_that_of_its_deepest_part_that_is_there(file: Path) -> None:
    file.write_text("a:\n  - b: 1\n  -\n    c: 2\n", encoding="utf-8")
    assert line_of(file, ["a", "1", "c"]) == 4
    assert line_of(file, ["a", "0", "zz"]) == 2
    assert line_of(file, ["zz"]) is None
