"""A Chromium whose microphone plays a sound file, over and over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserType, Page, TimeoutError

from callm_voice.audio.files import write_sound
from callm_voice.audio.pcm import Pcm
from callm_voice.audio.resample import resample_whole
from callm_voice.core.runfolder import find_calls, load_record

MIC_HZ = 48_000
PAUSE_S = 7.0
"""After each sentence: the desk's endpointing and its answer."""
LOOK_MS = 60
LATE_SHARE = 0.3
"""Of the line's ticks, from where on a browser, a recogniser and a call are too much for a machine."""
LIMIT_MS = 240_000
"""Of each wait: engines are loaded on a machine that may be busy."""


def microphone_file(path: Path, sentences: list[Pcm], rate_hz: int, *, lead_s: float = 0.5) -> Path:
    """The sentences, (samples,) int16, with pauses after them."""
    parts = [np.zeros(round(lead_s * MIC_HZ), np.int16)]
    for sentence in sentences:
        parts += [resample_whole(sentence, rate_hz, MIC_HZ), np.zeros(round(PAUSE_S * MIC_HZ), np.int16)]
    write_sound(path, np.concatenate(parts)[:, None], MIC_HZ)
    return path


@contextmanager
def caller_page(browser_type: BrowserType, chromium: str, sound: Path, url: str) -> Iterator[tuple[Page, list[str]]]:
    """The page on which a person calls in, with its choices there; and what it complained of."""
    browser = browser_type.launch(
        executable_path=chromium,
        args=[
            # A test may run as root in a container, and without a network card: then loopback is all there is.
            "--no-sandbox", "--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required",
            "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
            f"--use-file-for-fake-audio-capture={sound}",
        ],
    )  # fmt: skip
    try:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(LIMIT_MS)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
        page.goto(f"{url}call-in")
        page.wait_for_selector("#call:not([disabled])")
        yield page, errors
    finally:
        browser.close()


def choose(page: Page, **choices: str) -> None:
    """Choose by ids of the page's selects; the pipeline first, because the models are of it."""
    for name in sorted(choices, key=lambda name: name != "pipeline"):
        page.select_option(f"#{name}", choices[name])


def level_reaches(page: Page, db: float) -> None:
    """Wait until the sound that comes from the desk is so loud, in dB under full scale."""
    for _ in range(LIMIT_MS // LOOK_MS):
        if page.evaluate("document.getElementById('level-in').value") >= db:
            return
        page.wait_for_timeout(LOOK_MS)  # the page's own content policy forbids the browser to wait for it by itself
    raise AssertionError(f"the desk was never as loud as {db:g} dB")


def heard(page: Page, pattern: str) -> None:
    """Wait until the transcript shows that this was heard of the caller."""
    page.locator("#transcript .heard", has_text=re.compile(pattern, re.IGNORECASE)).first.wait_for()


@contextmanager
def conclusive(page: Page, run: Path) -> Iterator[None]:
    """A wait that fails although the line itself ran late by far says nothing: this machine had no time for a call."""
    try:
        yield
    except (TimeoutError, AssertionError):
        hang_up(page)
        latency = load_record(find_calls(run)[-1]).latency
        if latency is not None and (latency.harness.late_share or 0.0) > LATE_SHARE:
            pytest.skip(f"inconclusive: {latency.harness.late_share:.0%} of the line's ticks were late")
        raise


def hang_up(page: Page) -> str:
    """Hang up; the status of the judged call."""
    page.click("#hang-up")
    page.wait_for_selector("#result:not([hidden])")
    match = re.match(r"[a-z]+", page.inner_text("#verdict"))
    assert match is not None
    return match[0]
