"""The error tree: the drawing in the docstring is the tree, and every error says what, where and what to do."""

from __future__ import annotations

import inspect
import re

import pytest

from callm_voice.core import errors
from callm_voice.core.errors import CallmError, ConfigError, NotFoundError

pytestmark = pytest.mark.unit

CLASSES = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, CallmError)]


def drawn_tree() -> dict[str, str]:
    """Class → parent, as the module's docstring draws it."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]
        found = re.match(r"^([\s│├└─]*)(\w+Error)\b", line)
        if found is None:
            continue
        depth = len(found[1]) // 4 - 1
        del above[depth:]
        if above:
            parents[found[2]] = above[-1]
        above.append(found[2])
    return parents


def test_the_drawing_in_the_docstring_is_the_tree_of_classes() -> None:
    real = {c.__name__: c.__bases__[0].__name__ for c in CLASSES if c is not CallmError}
    assert drawn_tree() == real


def test_the_exit_codes_in_the_drawing_are_those_of_the_classes() -> None:
    drawn = dict(re.findall(r"(\w+Error)\s+exit (\d)", errors.__doc__ or ""))
    assert len(drawn) >= 5
    assert {name: str(vars(errors)[name].exit_code) for name in drawn} == drawn


@pytest.mark.parametrize("kind", CLASSES, ids=lambda c: c.__name__)
def test_every_error_has_a_known_stage_fault_and_exit_code(kind: type[CallmError]) -> None:
    assert kind.default_stage in errors.Stage.__args__  # type: ignore[attr-defined]
    assert kind.fault in errors.Fault.__args__  # type: ignore[attr-defined]
    assert kind.exit_code in (2, 3)
    assert kind.__doc__


def test_one_line_has_the_message_and_the_hint() -> None:
    assert CallmError("it broke", hint="mend it").one_line() == "it broke (mend it)"
    assert CallmError("it broke").one_line() == "it broke"


def test_the_stage_may_be_given() -> None:
    assert errors.EngineError("x").stage == "tts"
    assert errors.EngineError("x", stage="stt").stage == "stt"


def test_a_config_error_names_file_line_and_key() -> None:
    assert str(ConfigError("a.yaml", "b.c", "expected text", line=3)) == "a.yaml:3: b.c: expected text"
    assert str(ConfigError("a.yaml", "", "not UTF-8 text")) == "a.yaml: not UTF-8 text"


def test_a_name_that_is_not_known_lists_what_is() -> None:
    assert str(NotFoundError("pack", "x", ["b", "a"])) == "no pack named 'x'; known: a, b"
    assert str(NotFoundError("pack", "x", [])) == "no pack named 'x'; known: none"


def test_a_status_error_is_one_short_line_with_a_hint() -> None:
    error = errors.ModelStatusError(401, "x" * 1000, url="http://h/v1")
    assert error.one_line().startswith("http://h/v1 answered HTTP 401: xxx")
    assert "API key" in error.one_line()
    assert len(error.one_line()) < 300


def test_a_missing_package_says_which_extra_brings_it() -> None:
    assert "pip install 'callm-voice[cpu]'" in errors.MissingDependencyError("piper", "cpu").one_line()
