"""The live page in a browser: a running call is listed, heard on both channels and read; a finished one is judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browsing import Opener
from support.live import Served, live_server, told_call
from support.run_builder import MadeCall, write_call
from support.whole_run import start_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
SLOW_MS = 240_000
"""Pages and calls share the machine's cores."""
LEVELS = "() => JSON.parse(document.getElementById('stage').dataset.levels || '[0, 0]')"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def server(run: Path) -> Iterator[Served]:
    with live_server(run) as served:
        yield served


def position_ms(page: Any) -> int:
    return int(page.locator("#position").input_value())


def test_a_running_scripted_call_is_listed_heard_and_read_to_its_verdict(
    run: Path, server: Served, open_page: Opener, tmp_path: Path
) -> None:
    """The whole product: a call of the command line's, its tap, the server, the browser's audio. Its oracle takes the
    usual quarter of a second: a quick one is done before the page has drawn its first row."""
    args = (
        "call", "--task", "healthcare/C5-H1", "--model", "oracle", "--pipeline", "scripted", "--pace", "fast",
        "--out", str(run),
    )  # fmt: skip
    watched = open_page(server.url)
    page = watched.page
    call = start_run(args, tmp_path / "call.log")
    try:
        page.get_by_role("link", name="Listen in").click(timeout=SLOW_MS)
        page.get_by_role("button", name="Listen").click()
        page.locator(".row.turn.agent").first.wait_for(timeout=SLOW_MS)
        first = page.locator("#transcript .row").count()
        page.wait_for_function(
            "count => document.querySelectorAll('#transcript .row').length > count", arg=first, timeout=SLOW_MS
        )
        page.wait_for_function(f"() => ({LEVELS})().every((level) => level > 0)", timeout=SLOW_MS)
        page.locator("#verdict.pass").wait_for(timeout=SLOW_MS)
        assert page.locator(".row.handoff").count() == 3
        assert page.locator(".row.tool .ok").count() >= 5
        assert "the call is finished" in page.locator("#state").inner_text()
        page.locator("#report").click(timeout=SLOW_MS)
        assert page.locator("h1 .status.pass").count() == 1
        assert "/report/call/healthcare/C5-H1/" in page.url
        assert call.wait(60) == 0
    finally:
        if call.poll() is None:
            call.kill()
            call.wait()
    assert watched.errors == []
    assert watched.outside(server.url) == []


def test_both_channels_play_from_now_and_each_can_be_silenced(run: Path, server: Served, open_page: Opener) -> None:
    with told_call(run) as call:
        call.open_line(pace="real")
        call.tick(1_000)
        call.say("I'd like to <b>move</b> my appointment")
        watched = open_page(server.url)
        page = watched.page
        page.get_by_role("link", name="Listen in").click(timeout=SLOW_MS)
        page.get_by_text("I'd like to <b>move</b> my appointment").wait_for(timeout=SLOW_MS)
        page.get_by_role("button", name="Listen").click()
        page.wait_for_function(f"() => ({LEVELS})().every((level) => level > 0)", timeout=SLOW_MS)
        assert position_ms(page) > 15_000, "a call at the real pace is heard from now on"
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="00:20.0").click()
        page.locator("#position").fill("4000")
        page.wait_for_function("() => document.getElementById('at').textContent === '00:04.0'", timeout=SLOW_MS)
        assert "16.0 s ahead" in page.locator("#ahead").inner_text()
        solo = page.get_by_role("button", name="caller only")
        solo.press("Enter")
        assert solo.get_attribute("aria-pressed") == "true"
        mute = page.get_by_role("button", name="Mute the agent")
        mute.press("Enter")
        assert mute.get_attribute("aria-pressed") == "true"
        page.get_by_role("button", name="To now").click()
        page.wait_for_function("() => document.getElementById('at').textContent === '00:19.7'", timeout=SLOW_MS)
        assert watched.errors == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_all_have_names(
    run: Path, server: Served, open_page: Opener, dark: bool
) -> None:
    write_call(run, MadeCall(model="a-model-with-a-name-that-is-much-longer-than-any-phone-is-wide-at-this-size"))
    with told_call(run, trial=2) as call:
        call.open_line()
        call.say("w" * 300)
        watched = open_page(server.url, width=390, dark=dark)
        page = watched.page
        page.get_by_role("link", name="Listen in").wait_for(timeout=SLOW_MS)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        assert page.locator("#finished .status.pass").count() == 1
        page.get_by_role("link", name="Listen in").press("Enter")
        page.get_by_text("w" * 300).wait_for(timeout=SLOW_MS)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        unnamed = "() => [...document.querySelectorAll('button, input, a')].filter((e) => !(e.innerText.trim() || "
        unnamed += "e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"
        assert page.evaluate(unnamed) == 0
        assert watched.errors == []


def test_with_a_token_the_pages_work_after_the_first_address(run: Path, open_page: Opener) -> None:
    write_call(run, MadeCall())
    with live_server(run, token="let me in") as served:
        watched = open_page(f"{served.url}?token=let%20me%20in")
        page = watched.page
        assert page.url == served.url
        page.locator("#finished .status.pass").wait_for(timeout=SLOW_MS)
        page.get_by_role("link", name="Listen").first.click()
        page.locator("#verdict.pass").wait_for(timeout=SLOW_MS)
        assert page.locator(".row.turn.caller, .row.tool").count() > 0
        assert page.evaluate("document.cookie") == ""
        assert watched.errors == []
