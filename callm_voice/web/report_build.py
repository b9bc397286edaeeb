"""`python -m callm_voice.web.report_build RUN OUT`: the site of a run for the live page, built at the lowest priority.

Writes `OUT/site` and `OUT/links.json`: the folder of a call below the run → where its page is below the site.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from callm_voice.core.errors import CallmError, UsageError
from callm_voice.core.runfolder import walk_calls
from callm_voice.report.site.build import build_site
from callm_voice.report.site.collect import find_places
from callm_voice.web.report import LINKS_FILE, SITE_DIR

LOWEST = 19


def refuse_links(run: Path) -> None:
    """The site copies the files of calls, and a link among them could lead anywhere.

    Raises:
        UsageError: there is one.
    """
    for folder in walk_calls(run):
        for path in folder.iterdir():
            if path.is_symlink():
                raise UsageError(f"{path}: a link; calls are shown as they were written", hint="remove it")


def build(run: Path, out: Path) -> None:
    """Build both.

    Raises:
        CallmError: the site cannot be built.
    """
    refuse_links(run)
    site = out / SITE_DIR
    build_site([run], site, workers=1, links=[("Live", "../")])
    pages = {
        place.folder.resolve().relative_to(run.resolve()).as_posix(): place.href
        for place in find_places([run])
        if (site / place.href / "index.html").is_file()  # a call that was finished since has none
    }
    (out / LINKS_FILE).write_text(json.dumps(pages), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Build; the exit status. What went wrong stands in a line on stderr."""
    with suppress(AttributeError, OSError):
        os.nice(LOWEST)
    try:
        build(Path(argv[0]), Path(argv[1]))
    except CallmError as error:
        sys.stderr.write(error.one_line() + "\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
