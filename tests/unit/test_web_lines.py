"""Lines come the same wherever the blocks end, and one without an end is not kept."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from callm_voice.web import lines as module
from callm_voice.web.lines import MAX_LINE_BYTES, Lines

pytestmark = pytest.mark.unit


def taken(blocks: Iterable[bytes]) -> list[bytes | None]:
    lines = Lines()
    return [line for block in blocks for line in lines.take(block)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
def test_any_cut_of_the_input_gives_the_same_lines(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 6)
    text = b"one\n\n123456\n1234567\ntwo\n" + b"x" * 30 + b"\nthree\nno end"
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    assert taken(blocks) == [b"one", b"", b"123456", None, b"two", None, b"three"]


def test_a_line_of_the_greatest_length_is_one_and_a_byte_more_is_none() -> None:
    longest = b"x" * MAX_LINE_BYTES
    assert taken([longest, b"\n", longest, b"x\nafter\n"]) == [longest, None, b"after"]


def test_what_never_ends_is_said_once_and_is_not_kept() -> None:
    lines = Lines()
    block = b"x" * 65_536
    found = [line for _ in range(3 * MAX_LINE_BYTES // len(block)) for line in lines.take(block)]
    assert found == [None]
    assert len(lines._rest) == 0
    assert lines.take(b"\nafter\n") == [b"after"]
