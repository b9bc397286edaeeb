"""A person in a browser and the real engines: a recorded voice in the microphone, Whisper, the desk's voice back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright
from support.browsing import chromium_path
from support.fake_microphone import caller_page, choose, conclusive, hang_up, heard, level_reaches, microphone_file
from support.live import Served, live_server

from callm_voice.core.runfolder import find_calls, load_record
from callm_voice.speech.settings import PiperSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_piper import PiperTts

pytestmark = [pytest.mark.models, pytest.mark.timeout(1200)]

SENTENCES = (
    "I'd like to know how much I owe on my bill, and what it's for.",
    "My name is Maria Alvarez, and my date of birth is June 30, 1972.",
)
"""Two of what the caller of healthcare/C5-H1 says."""


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    voice = PiperTts(PiperSettings())
    spoken = [voice.synthesise(to_spoken(sentence)) for sentence in SENTENCES]
    path = tmp_path_factory.mktemp("microphone") / "caller.wav"
    return microphone_file(path, spoken, voice.rate_hz)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with live_server(tmp_path / "run") as served:
        yield served


@pytest.fixture
def telephone(microphone: Path, server: Served) -> Iterator[Page]:
    with (
        sync_playwright() as playwright,
        caller_page(playwright.chromium, chromium_path(), microphone, server.url) as (page, _),
    ):
        yield page


def test_two_recorded_sentences_are_heard_and_answered_and_the_call_is_written(telephone: Page, server: Served) -> None:
    page = telephone
    choose(page, pipeline="cpu", model="oracle", task="C5-H1")
    page.click("#call")
    with conclusive(page, server.live.settings.run):
        level_reaches(page, -40)
        heard(page, r"how much I owe")
        heard(page, r"June (30th|30|thirtieth)")
        page.locator("#transcript .turn.agent").nth(2).wait_for()
        level_reaches(page, -40)
    assert hang_up(page) in ("fail", "invalid")
    page.wait_for_selector("#report-part:not([hidden])")
    [folder] = find_calls(server.live.settings.run)
    record = load_record(folder)
    words = " ".join(turn.heard or "" for turn in record.transcript if turn.party == "caller")
    assert re.search(r"how much I owe", words, re.IGNORECASE), words
    assert {turn.said for turn in record.transcript if turn.party == "caller"} == {""}
    assert record.engines["stt"].engine == "whisper"
    assert page.request.get(page.evaluate("document.getElementById('to-report').href")).ok
