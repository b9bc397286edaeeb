"""The builder of the live report where it cannot work."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.web.index import CallIndex
from callm_voice.web.report import ReportBuilder

pytestmark = pytest.mark.unit


async def test_without_room_for_its_folder_the_report_says_so_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(**_: Any) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", no_room)
    clock = RealClock()
    try:
        builder = ReportBuilder(CallIndex(tmp_path, clock), clock)
        async with asyncio.timeout(30):
            await builder.run()
    finally:
        clock.close()
    assert builder.error == "the report could not be built: No space left on device"
    assert builder.site is None
