"""The style sheet: enough contrast in both schemes, and no address in it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import callm_voice.report.site as site

pytestmark = pytest.mark.unit
ASSETS = Path(site.__file__).parent / "assets"
CSS = (ASSETS / "site.css").read_text(encoding="utf-8")
TEXT = ("ink", "soft", "link", "caller", "agent", "pass", "fail", "warn")
GROUNDS = ("paper", "panel")
TINTED = ("minus", "plus", "changed")
AA = 4.5


def scheme(selector: str) -> dict[str, str]:
    block = re.search(re.escape(selector) + r" \{(.*?)\n\}", CSS, re.S)
    assert block is not None
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{3,6});", block[1]))


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    digits = colour[1:] if len(colour) == 7 else "".join(d * 2 for d in colour[1:])
    channels = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("selector", [":root", ':root[data-theme="dark"]'], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_aa_asks_for(selector: str) -> None:
    colours = scheme(selector)
    pairs = [
        *itertools.product(TEXT, GROUNDS), *itertools.product(("ink", "soft", "fail", "pass"), TINTED),
        ("mark-ink", "mark"), *(("ink", f"s{n}") for n in range(10)), ("paper", "ink"),
    ]  # fmt: skip
    weak = {(a, b): round(contrast(colours[a], colours[b]), 2) for a, b in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < AA} == {}


@pytest.mark.parametrize("path", sorted(ASSETS.parent.rglob("*.*")), ids=lambda p: p.name)
def test_no_file_of_the_site_names_an_address_off_it(path: Path) -> None:
    if path.suffix in {".css", ".js", ".html"}:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.[a-z]|@import|url\(", text)


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.js")), ids=lambda p: p.name)
def test_scripts_put_text_in_as_text(path: Path) -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", path.read_text("utf-8"))


def test_templates_never_switch_escaping_off() -> None:
    for path in (ASSETS.parent / "templates").glob("*.html"):
        assert not re.search(r"\|\s*safe|autoescape", path.read_text("utf-8")), path.name
