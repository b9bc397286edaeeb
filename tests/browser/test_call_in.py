"""Calling in with a browser: the page, its telephone and what is left of the call. Scripted engines, real sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from support.browsing import Opener, chromium_path
from support.calling_in import speech_shaped
from support.fake_microphone import (
    LIMIT_MS,
    caller_page,
    choose,
    conclusive,
    hang_up,
    heard,
    level_reaches,
    microphone_file,
)
from support.live import Served, live_server

from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with live_server(tmp_path / "run") as served:
        yield served


@pytest.fixture
def microphone(tmp_path: Path) -> Path:
    return microphone_file(tmp_path / "microphone.wav", [speech_shaped(1.5)], 8000)


@pytest.fixture
def telephone(browser: Browser, microphone: Path, server: Served) -> Iterator[tuple[Page, list[str]]]:
    with caller_page(browser.browser_type, chromium_path(), microphone, server.url) as opened:
        yield opened


def test_the_page_opens_without_a_complaint_on_wide_and_narrow_screens(open_page: Opener, server: Served) -> None:
    for width in (1280, 390):
        watched = open_page(f"{server.url}call-in", width=width, dark=width < 500)
        watched.page.wait_for_selector("#call:not([disabled])", timeout=LIMIT_MS)
        assert watched.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert watched.page.inner_text("nav a[aria-current]") == "Call in"
        assert watched.errors == []
        assert watched.outside(server.url) == []


def test_a_task_shows_what_its_caller_is_given(open_page: Opener, server: Served) -> None:
    page = open_page(f"{server.url}call-in").page
    page.wait_for_selector("#call:not([disabled])", timeout=LIMIT_MS)
    assert not page.is_visible("#brief")
    choose(page, task="C5-H1")
    assert "Maria Alvarez" in page.inner_text("#brief")


def test_a_person_calls_speaks_presses_a_key_hangs_up_and_finds_the_call(
    telephone: tuple[Page, list[str]], server: Served
) -> None:
    page, errors = telephone
    choose(page, pipeline="scripted", model="oracle", task="C5-H1")
    page.click("#call")
    with conclusive(page, server.live.settings.run):
        level_reaches(page, -40)
        heard(page, "someone speaks")
        page.wait_for_function(
            "() => [...document.querySelectorAll('#latency td')].some((cell) => /^≈ \\d+$/.test(cell.textContent))"
        )
        page.click("[data-key='5']")
        heard(page, r"keypad: 5")
    assert hang_up(page) in ("fail", "invalid")
    page.wait_for_selector("#report-part:not([hidden])")
    record = load_record(find_calls(server.live.settings.run)[-1])
    assert (record.config.task, record.config.caller) == ("healthcare/C5-H1", "person")
    assert record.outcome.end_reason == "caller_hangup"
    assert errors == []
    sound = page.request.get(page.evaluate("document.getElementById('to-sound').href"))
    assert sound.body()[:4] == b"fLaC"
    page.goto(page.evaluate("document.getElementById('to-report').href"))
    assert "caller person" in page.inner_text("main")


SLOW_PERMISSION = """() => {
  window.asked = [];
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (wanted) => new Promise((resolve) => {
    window.asked.push(() => ask(wanted).then((stream) => { window.stream = stream; resolve(stream); }));
  });
}"""


def test_who_hangs_up_before_the_microphone_is_allowed_is_not_listened_to(
    telephone: tuple[Page, list[str]], server: Served
) -> None:
    page, errors = telephone
    page.evaluate(SLOW_PERMISSION)
    choose(page, pipeline="scripted", model="oracle", task="C5-H1")
    page.click("#call")
    page.wait_for_function("() => window.asked.length === 1")
    page.click("#hang-up")
    page.wait_for_selector("#call:not([disabled])")
    page.evaluate("() => { window.asked[0](); }")
    page.wait_for_function("() => window.stream && window.stream.getTracks().every((t) => t.readyState === 'ended')")
    assert page.inner_text("#state") == "not connected"
    assert not page.is_visible("#trouble")
    assert errors == []
    assert not server.live.settings.run.exists()


def test_without_a_task_nothing_is_expected_and_the_oracle_cannot_be_called(
    telephone: tuple[Page, list[str]], server: Served
) -> None:
    page, _ = telephone
    choose(page, pipeline="scripted", model="oracle", task="")
    page.click("#call")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "choose a task" in page.inner_text("#trouble")
    assert page.is_enabled("#call")
    assert not list(server.live.settings.run.glob("calls/*/no-task"))
