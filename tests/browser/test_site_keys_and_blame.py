"""The call page's keypad marks and its table of blame, by mouse, by keyboard and on a phone."""

from __future__ import annotations

import pytest
from support.browsing import Opener, Sample
from support.run_builder import MadeCall, write_run

from callm_voice.report.site.build import build_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PRESSED_MS = 6_000.0
CALLS = (
    MadeCall(plot="misheard_number", keys=((PRESSED_MS, "4711#", "471#"),)),
    MadeCall(plot="pass", trial=2, keys=((PRESSED_MS, "12", ""),)),
)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("keyed")
    run = write_run(folder / "run", CALLS, audio=True)
    return Sample(run, build_site([run], folder / "site", workers=1))


def test_keys_are_rows_of_the_transcript_and_marks_that_the_keyboard_reaches(keyed: Sample, open_page: Opener) -> None:
    watched = open_page(keyed.call("demo/C1-E1", "alpha", 1))
    page = watched.page
    rows = [" ".join(text.split()) for text in page.locator(".row.keypad").all_inner_texts()]
    assert rows == [
        "00:06.0 # keypad pressed 4 7 1 1 #", "00:06.7 # keypad recognised 4 7 1 # ≠ pressed were 4 7 1 1 #",
    ]  # fmt: skip
    mark = page.get_by_role("button", name="keypad: pressed 4711#")
    mark.focus()
    page.keyboard.press("Enter")
    assert page.locator(".player").get_attribute("data-at") == f"{PRESSED_MS - 500:.0f}"
    assert page.locator(".mark-key.keypad").inner_text() == "# keypad 2"
    assert watched.errors == []


def test_keys_that_were_not_recognised_say_so_and_a_passed_call_has_no_blame(keyed: Sample, open_page: Opener) -> None:
    page = open_page(keyed.call("demo/C1-E1", "alpha", 2)).page
    assert "pressed 1 2 ≠ none recognised" in " ".join(page.locator(".row.keypad").inner_text().split())
    assert page.locator("table.blame").count() == 0


def test_the_blame_says_what_was_said_and_heard_and_plays_it(keyed: Sample, open_page: Opener) -> None:
    watched = open_page(keyed.call("demo/C1-E1", "alpha", 1))
    page, table = watched.page, watched.page.locator("table.blame")
    text = " ".join(table.inner_text().split())
    for words in (
        "mobile = +12125550133",
        "✓ said",
        "✗ not heard",
        "+12125550138",
        "“212-555-0133.” ≠ “212-555-0138.”",
    ):
        assert words in text
    table.locator("button.seek").focus()
    page.keyboard.press("Enter")
    assert page.locator(".player").get_attribute("data-chosen") == "16000 17500"
    assert watched.errors == []


@pytest.mark.parametrize("path", ["call/demo/C1-E1/alpha/pstn-g711u/t1/index.html", "task/demo/C1-E1/index.html"])
def test_on_a_phone_no_page_is_wider_than_the_screen(keyed: Sample, open_page: Opener, path: str) -> None:
    page = open_page(keyed.url + path, width=390).page
    if page.get_by_role("tab", name="failing").count():
        page.get_by_role("tab", name="failing").click()
    assert page.locator("table.blame").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
