"""A headless Chromium and a sample site with a hostile call in it.

The browser is Debian's `chromium` (or one of its usual names), or the file that `CALLM_VOICE_CHROMIUM` names. Without
one these tests fail: that a site was never opened is not the same as that it works.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from support.browsing import Opener, Sample, Watched, chromium_path
from support.hostile import hostile_calls
from support.run_builder import MadeCall, sample_calls, write_run

from callm_voice.report.site.build import build_site

TRIALS = (1, 2)
LINES = ("pstn-g711u", "text")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium_path(),
            # A test may run as root in a container; sound starts without a click of a person's.
            args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
        )
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Opens an address in a context of its own."""
    contexts = []

    def opened(url: str, *, width: int = 1280, dark: bool = False) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        watched = Watched(context.new_page())
        page = watched.page
        page.on("pageerror", lambda error: watched.errors.append(str(error)))
        page.on("console", lambda m: watched.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("requestfailed", lambda r: watched.errors.append(r.url) if not given_up(r.failure) else None)
        page.on("request", lambda request: watched.requests.append(request.url))
        page.goto(url)
        return watched

    yield opened
    for context in contexts:
        context.close()


def given_up(failure: str | None) -> bool:
    """The page gives up the sound that it no longer wants; anything else failed by itself."""
    return failure in (None, "net::ERR_ABORTED")


def small_sample() -> list[MadeCall]:
    """Of the sample run: failures of many kinds, two packs, two models, two lines."""
    return [call for call in sample_calls() if call.trial in TRIALS and call.line in LINES]


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("site")
    run = write_run(folder / "run", [*small_sample(), *hostile_calls()], audio=True)
    return Sample(run, build_site([run], folder / "below" / "a sub-path" / "site", workers=1))
