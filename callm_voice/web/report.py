"""The report of a run that still grows: the static site, built beside the server and put in place when it is done.

It is built in a process of its own at the lowest priority, only while somebody looks, and never more often than a share
of the time that it takes. Each build has a folder of its own, so a reader never sees half of one.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from callm_voice.core.clock import RealClock
from callm_voice.web.index import CallIndex, Entry

REBUILD_EVERY_S = 5.0
COST_SHARE = 4
"""Between two builds passes so many times what the last one took."""
LOOKED_AT_S = 30.0
"""So long after the last request somebody still looks."""
LINKS_FILE = "links.json"
SITE_DIR = "site"
MAX_ERROR_CHARS = 500


class ReportBuilder:
    """Builds as long as `run` runs."""

    def __init__(self, index: CallIndex, clock: RealClock) -> None:
        self._index, self._clock = index, clock
        self._folder = Path()
        self._built: Path | None = None
        self._links: dict[str, str] = {}
        self._of: tuple[Entry, ...] = ()
        """The calls that the last build was made of."""
        self._looked_s = float("-inf")
        self._number = 0
        self.error = ""
        """Of the last build; empty: it worked."""

    @property
    def site(self) -> Path | None:
        """The newest whole site; None: none was built yet."""
        return self._built / SITE_DIR if self._built else None

    def look(self) -> None:
        """Somebody looks: keep the site up to date."""
        self._looked_s = self._clock.now_s()

    def href(self, entry: Entry) -> str:
        """Where the call's page is below the site; empty: it has none yet."""
        return self._links.get("/".join(entry.names), "")

    async def run(self) -> None:
        """Build whenever it is worth it; until it is cancelled."""
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="callm-voice-report-"))
        except OSError as error:
            self.error = f"the report could not be built: {error.strerror or error}"
            return
        try:
            while True:
                took_s = 0.0
                if self._clock.now_s() - self._looked_s < LOOKED_AT_S:
                    calls = (await self._index.look()).finished
                    if calls and calls != self._of:
                        took_s = await self._build(calls)
                pause_s = max(REBUILD_EVERY_S, COST_SHARE * took_s) if took_s else 0.5
                await self._clock.sleep_until(self._clock.now_s() + pause_s)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _build(self, calls: tuple[Entry, ...]) -> float:
        """Seconds that it took."""
        began_s = self._clock.now_s()
        self._number += 1
        out = self._folder / str(self._number)
        try:
            self.error = await self._in_a_process(out)
            links = {} if self.error else await self._clock.in_thread("read", _links, out)
        except OSError as error:
            self.error = f"the report could not be built: {error.strerror or error}"
        self._of = calls
        if self.error:
            await self._clock.in_thread("clean", shutil.rmtree, out, ignore_errors=True)
        else:
            before, self._built, self._links = self._built, out, links
            if before is not None:
                # A page that was just opened may still fetch its sound from there: the next build but one removes it.
                await self._clock.in_thread("clean", self._remove_all_but, before, out)
        return self._clock.now_s() - began_s

    async def _in_a_process(self, out: Path) -> str:
        """What went wrong, in a line."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "callm_voice.web.report_build", str(self._index.run), str(out),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            _, told = await child.communicate()
        finally:
            if child.returncode is None:
                with suppress(ProcessLookupError):
                    child.kill()
                await child.wait()
        lines = told.decode("utf-8", "replace").strip().splitlines()
        return "" if child.returncode == 0 else (lines or ["the report could not be built"])[-1][:MAX_ERROR_CHARS]

    def _remove_all_but(self, *kept: Path) -> None:
        for path in self._folder.iterdir():
            if path not in kept:
                shutil.rmtree(path, ignore_errors=True)


def _links(out: Path) -> dict[str, str]:
    """Call → its page: as long as the run is large."""
    found: dict[str, str] = json.loads((out / LINKS_FILE).read_text(encoding="utf-8"))
    return found
