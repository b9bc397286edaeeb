"""Templates, links and data files: all text that reaches a page goes through here.

What a model, a recogniser, a caller or a pack wrote is text. Templates escape it, data files hold it as JSON in which
nothing can end a script element, and control characters are shown instead of sent.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from callm_voice.core.runfolder import disk_errors
from callm_voice.report.site import words

ASSETS = ("site.css", "theme.js", "site.js", "player.js", "table.js", "overview.js", "failures.js")
_HERE = Path(__file__).parent
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""A control character as the sign that stands for it: NUL becomes U+2400."""
_SCRIPT_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def shown(value: Any) -> Any:
    """Text with its control characters made visible and lone surrogates replaced; anything else as it is."""
    if type(value) is not str:
        return value
    return value.encode("utf-8", "replace").decode("utf-8").translate(_CONTROL_PICTURES)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates. A name that is not there is an error, and everything is escaped."""
    env = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    env.filters.update(words.FILTERS)
    return env


def script_json(data: Any) -> str:
    """JSON that may stand in a script: no `</script>`, no comment, no line separator can come out of it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    text = text.encode("utf-8", "replace").decode("utf-8")
    for char, escape in _SCRIPT_ESCAPES.items():
        text = text.replace(char, escape)
    return text


def relative_root(page: str) -> str:
    """The way from a page (`task/healthcare/C5-H1/index.html`) back to the top of the site: `../../../`."""
    return "../" * page.count("/")


class Site:
    """The folder that the pages are written into.

    Args:
        out: its path.
        shared: what every page's head shows (packs for the navigation, product version).
    """

    def __init__(self, out: Path, shared: Mapping[str, Any]) -> None:
        self.out = out
        self.shared = dict(shared)

    def page(self, path: str, template: str, **values: Any) -> int:
        """Render one page; its size in bytes.

        Raises:
            DiskError: it cannot be written.
        """
        text = (
            environment()
            .get_template(template)
            .render(root=relative_root(path), page_path=path, **{**self.shared, **values})
        )
        return self.write(path, text)

    def data(self, path: str, name: str, key: str, content: Any) -> int:
        """A data file: a script that hands `content` to the page, because a page on `file://` may not read JSON."""
        return self.write(path, f"(window.{name}=window.{name}||{{}})[{script_json(key)}]={script_json(content)};\n")

    def write(self, path: str, text: str) -> int:
        """Write one text file below the site."""
        target = self.out / path
        encoded = text.encode("utf-8", "replace")
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(encoded)
        return len(encoded)

    def copy(self, source: Path, path: str) -> None:
        """Copy one file of a call beside its page."""
        target = self.out / path
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def compress(self, source: Path, path: str) -> None:
        """Copy one file, gzipped; the same bytes give the same bytes."""
        target = self.out / path
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(gzip.compress(source.read_bytes(), compresslevel=4, mtime=0))

    def assets(self) -> None:
        """Style and scripts."""
        for name in ASSETS:
            self.copy(_HERE / "assets" / name, f"assets/{name}")


def prepare(out: Path) -> None:
    """Make the folder; a site that stood there is removed, anything else stays and is an error.

    Raises:
        DiskError: it cannot be made.
        FileExistsError: it holds something that is no site of ours.
    """
    marker = out / MARKER
    if out.exists() and any(out.iterdir()):
        if not marker.is_file():
            raise FileExistsError(str(out))
        with disk_errors(out):
            shutil.rmtree(out)
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        marker.write_text("A site made by callm-voice report; it is replaced as a whole.\n", encoding="utf-8")


MARKER = ".callm-voice-site"
