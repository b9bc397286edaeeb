"""Where the live page's server listens, and what is said where it cannot."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from callm_voice.cli.serve import NEEDED
from callm_voice.core.errors import SetupError
from callm_voice.web.server import listen, url_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "ü..x", "256.256.256.256", "[::1"])
def test_an_address_that_is_none_is_told(host: str) -> None:
    with pytest.raises(SetupError, match="--host") as refused:
        listen(host, 0)
    assert host in refused.value.message
    assert "\n" not in refused.value.one_line()


def test_a_port_that_is_taken_is_told_with_a_way_out() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError) as refused:
            listen("127.0.0.1", port)
    assert f"127.0.0.1:{port}: cannot be listened on" in refused.value.message
    assert "--port" in refused.value.hint


def test_an_address_of_six_is_shown_as_browsers_take_it() -> None:
    with listen("::1", 0) as found:
        assert url_of("::1", found).startswith("http://[::1]:")


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "websockets", "aiortc"])
def test_each_package_of_the_live_page_is_asked_for_before_it_is_imported(package: str) -> None:
    found: Any = importlib.util.find_spec(package)
    assert found is not None
    assert package in NEEDED
