"""Nothing but the pages of a run's report can be fetched below its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_builder import MadeCall, write_call, write_run

from callm_voice.core.errors import UsageError
from callm_voice.report.site.build import build_site
from callm_voice.web.report_build import build, refuse_links
from callm_voice.web.report_pages import find

pytestmark = pytest.mark.unit
SECRET = "not to be read"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a file beside it, a file that is none of a site's, and links that lead out."""
    folder = tmp_path_factory.mktemp("report")
    run = write_run(folder / "run", [MadeCall()], audio=True)
    site = folder / "site"
    build_site([run], site, workers=1)
    (folder / "secret.html").write_text(SECRET, encoding="utf-8")
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.html").write_text(SECRET, encoding="utf-8")
    (site / "link.html").symlink_to(folder / "secret.html")
    (site / "folder").symlink_to(folder / "outside")
    (site / "secret.py").write_text(SECRET, encoding="utf-8")
    (site / ".hidden.html").write_text(SECRET, encoding="utf-8")
    return site


def test_every_file_of_a_site_is_given_out(site: Path) -> None:
    plain = [p for p in site.rglob("*") if p.is_file() and not p.is_symlink() and p.suffix not in (".py", "")]
    given = [p for p in plain if not p.name.startswith(".")]
    assert {p.suffix for p in given} >= {".html", ".js", ".css", ".flac", ".json", ".jsonl", ".gz"}
    assert [p for p in given if find(site, p.relative_to(site).as_posix()) != p] == []


def test_a_folder_s_page_is_its_index(site: Path) -> None:
    assert find(site, "") == site / "index.html"
    assert find(site, "call/demo/C1-E1/alpha/pstn-g711u/t1/") is not None


@pytest.mark.parametrize(
    "path",
    [
        "../secret.html", "call/../../secret.html", "./index.html", "call//demo", "/etc/passwd", "..", "../",
        "link.html", "folder/secret.html", "secret.py", ".hidden.html", ".callm-voice-site", "nothing.html", "call",
        "..\\secret.html", "index.html\0.css", "index.html/", "\udce4.html", "a" * 5_000,
    ],
)  # fmt: skip
def test_nothing_else_is(path: str, site: Path) -> None:
    assert find(site, path) is None


def test_a_site_below_a_link_is_still_a_site(site: Path, tmp_path: Path) -> None:
    """The folder for temporary files is a link on some systems."""
    (tmp_path / "link").symlink_to(site)
    assert find(tmp_path / "link", "index.html") is not None


def test_a_run_with_a_link_among_a_call_s_files_is_not_shown(tmp_path: Path) -> None:
    folder = write_call(tmp_path / "run", MadeCall())
    refuse_links(tmp_path / "run")
    (folder / "events.jsonl").unlink()
    (folder / "events.jsonl").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="a link"):
        build(tmp_path / "run", tmp_path / "out")
    assert not (tmp_path / "out").exists()
