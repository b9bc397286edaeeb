"""Every page of a site, from `file://` and from a sub-path of a server."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

import pytest
from support.browsing import Opener, Sample, served

from callm_voice.core.runfolder import find_calls

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
MAX_PAGE_BYTES = 300_000
LINK = re.compile(r"""(?:href|src)="([^"]*)\"""")


def test_every_page_opens_from_a_file_without_errors_or_requests_that_leave(sample: Sample, open_page: Opener) -> None:
    watched = open_page(sample.built.index.as_uri())
    for path in sample.pages():
        watched.page.goto(sample.url + quote(path))
        assert watched.page.locator("h1").count() == 1, path
        assert watched.page.locator("main").inner_text().strip(), path
    assert watched.errors == []
    assert watched.outside(sample.url) == []


def test_every_page_opens_from_a_sub_path_of_a_server(sample: Sample, open_page: Opener) -> None:
    with served(sample.root.parents[1]) as host:
        base = f"{host}{quote('a sub-path/site')}/"
        watched = open_page(f"{base}index.html")
        for path in sample.pages():
            watched.page.goto(base + quote(path))
            assert watched.page.locator("h1").count() == 1, path
        watched.page.goto("about:blank")
    assert watched.errors == []
    assert watched.outside(base) == ["about:blank"] * watched.requests.count("about:blank")


def test_every_link_leads_to_a_file_of_the_site(sample: Sample) -> None:
    broken, absolute = [], []
    for path in sample.pages():
        page = sample.root / path
        for link in map(unescape, LINK.findall(page.read_text("utf-8"))):
            if link.startswith(("data:", "#")):
                continue
            if re.match(r"[a-z]+:|/", link):
                absolute.append((path, link))
            elif not (page.parent / unquote(urldefrag(link).url)).is_file():
                broken.append((path, link))
    assert broken == []
    assert absolute == []


def test_files_that_scripts_ask_for_are_there(sample: Sample) -> None:
    named = set()
    for path in sample.root.rglob("*.js"):
        if path.parent.name != "assets":
            named |= set(re.findall(r'"(call/[^"]+\.(?:flac|opus))"', path.read_text("utf-8")))
    assert named
    assert [name for name in named if not (sample.root / name).is_file()] == []


def test_no_page_is_large(sample: Sample) -> None:
    sizes = {path: (sample.root / path).stat().st_size for path in sample.pages()}
    assert {path: size for path, size in sizes.items() if size >= MAX_PAGE_BYTES} == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_a_phone(sample: Sample, open_page: Opener, dark: bool) -> None:
    watched = open_page(sample.built.index.as_uri(), width=390, dark=dark)
    kinds = {re.sub(r"/.*", "", path): path for path in sample.pages()}
    for path in kinds.values():
        watched.page.goto(sample.url + quote(path))
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_colours_follow_the_system_and_the_button(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.built.index.as_uri(), dark=True).page
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Colours").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate(background) != dark


def test_the_site_is_made_of_files_alone(sample: Sample) -> None:
    kinds = {path.suffix for path in Path(sample.root).rglob("*") if path.is_file()}
    assert kinds <= {".html", ".js", ".css", ".flac", ".json", ".jsonl", ".gz", ""}
    assert find_calls(sample.root) == [], "the site's copies must not be taken for calls"
