"""A site as its reader opens it: pages in a browser, watched, from files or from a server of this process."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page

from callm_voice.report.site.build import BuiltSite

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")


def chromium_path() -> str:
    """The browser; without one the test fails."""
    named = os.environ.get("CALLM_VOICE_CHROMIUM")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), None)
    if not found:
        pytest.fail("no Chromium: apt-get install chromium, or name one in CALLM_VOICE_CHROMIUM")
    return found


@dataclass
class Watched:
    """A page, and everything about it that must not happen."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def outside(self, base: str) -> list[str]:
        """Requests that left the folder."""
        return [url for url in self.requests if not url.startswith((base, "data:", "blob:"))]


Opener = Callable[..., Watched]
"""(address, *, width=1280, dark=False) -> the page."""


@dataclass(frozen=True)
class Sample:
    """The run and the site that was built of it."""

    run: Path
    built: BuiltSite

    @property
    def root(self) -> Path:
        return self.built.index.parent

    @property
    def url(self) -> str:
        return self.root.as_uri() + "/"

    def pages(self) -> list[str]:
        """Addresses of all pages, relative to the site."""
        return sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob("*.html"))

    def call(self, task: str, model: str, trial: int, line: str = "pstn-g711u") -> str:
        return f"{self.url}call/{task}/{model}/{line}/t{trial}/index.html"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on a port of this machine; its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="callm-site-server")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
