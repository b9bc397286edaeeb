"""The report of a run that still grows, as the live page's server gives it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from support.live import live_server, until
from support.run_builder import MadeCall, write_call, write_run

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(400)]
SLOW_S = 180.0
"""It is built at the lowest priority, so on a busy machine it takes long."""


def test_the_report_grows_with_the_run_and_links_lead_to_its_pages(tmp_path: Path) -> None:
    write_run(tmp_path, [MadeCall()], audio=True)
    with live_server(tmp_path) as server, httpx.Client(base_url=server.url, timeout=30) as client:
        assert "is being built" in client.get("/report/").text

        def page_of(trial: str) -> str:
            calls = client.get("/api/calls").json()["finished"]
            return next((c["href"] for c in calls if c["trial"] == trial), "")

        first = until(lambda: page_of("t1"), "the first call has its page", SLOW_S)
        assert "C1-E1" in client.get(first).text
        write_call(tmp_path, MadeCall(trial=2, plot="wrong_path"), audio=True)
        second = until(lambda: page_of("t2"), "the second call has its page", SLOW_S)
        answer = client.get(second)
        assert answer.status_code == 200
        assert 'href="../../../../../../../"' in answer.text  # back to the live page
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert client.get(first).status_code == 200
        for path in ("/report/..%2f..%2fsecret", "/report/%2e%2e/%2e%2e/run.json", "/report//etc/passwd"):
            assert client.get(path).status_code == 404
        sound = client.get(f"{second}caller.flac", headers={"range": "bytes=0-3"})
        assert (sound.status_code, sound.content) == (206, b"fLaC")
        folder = server.live.report._folder
        assert folder.is_dir()
    assert not folder.exists()


def test_a_run_without_calls_has_no_report_yet_and_says_so(tmp_path: Path) -> None:
    with live_server(tmp_path / "nowhere") as server:
        assert "No call of this run is finished" in httpx.get(f"{server.url}report/").text


def test_a_report_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    folder = write_call(tmp_path, MadeCall())
    (folder / "gold.json").write_text("{", encoding="utf-8")
    with live_server(tmp_path) as server:

        def error() -> str:
            return str(httpx.get(f"{server.url}api/calls").json()["report"]["error"])

        assert "gold.json" in until(error, "the reason is told", SLOW_S)
        assert "gold.json" in httpx.get(f"{server.url}report/").text


def test_nobody_looks_and_nothing_is_built(tmp_path: Path) -> None:
    write_run(tmp_path, [MadeCall()])
    with live_server(tmp_path) as server:
        looks = []
        until(lambda: looks.append(1) or len(looks) > 100, "two seconds")  # several turns of the builder's loop
        assert server.live.report._number == 0
