"""Text on the site stays text; data files end no script; a folder of somebody else's is not overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from callm_voice.report.site.pages import MARKER, Site, environment, prepare, relative_root, script_json, shown

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("text", ["</script><script>alert(1)", "<!--", "]]>", "a & b", "\u2028\u2029", "\\u003c"])
def test_json_for_a_script_reads_back_the_same_and_holds_no_markup(text: str) -> None:
    written = script_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert not re.search(r"[<>&\u2028\u2029]", written)


def test_half_a_surrogate_pair_can_be_written(tmp_path: Path) -> None:
    site = Site(tmp_path, {})
    site.data("a.js", "X", "k", {"text": "\ud800"})
    assert "\\ud800" not in (tmp_path / "a.js").read_text("utf-8")


def test_control_characters_are_shown_and_not_sent() -> None:
    assert shown("a\x00\x1b[31m\x7f\tb\n") == "a␀␛[31m␡\tb\n"


def test_what_a_template_prints_is_escaped() -> None:
    template = environment().from_string("<p title='{{ x }}'>{{ x }}</p>")
    assert "<img" not in template.render(x="'><img src=x onerror=alert(1)>")


def test_a_name_that_a_template_does_not_get_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ missing }}").render()


def test_the_way_to_the_top_has_a_step_for_each_folder() -> None:
    assert (relative_root("index.html"), relative_root("task/a/b/index.html")) == ("", "../../../")


def test_a_site_is_replaced_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "site"
    prepare(out)
    (out / "old.html").write_text("old")
    prepare(out)
    assert [p.name for p in out.iterdir()] == [MARKER]
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError):
        prepare(other)
    assert (other / "thesis.txt").read_text() == "years of work"
