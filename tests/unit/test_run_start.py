"""A worker starts often in a run that is disturbed: what only sound needs is not loaded for a call by text."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.unit
ONLY_FOR_SOUND = ("scipy", "numba", "soxr", "onnxruntime", "faster_whisper", "piper", "webrtcvad", "pipecat")
ONLY_FOR_SERVERS = ("aiohttp", "fastapi", "uvicorn")
ONLY_FOR_RESULTS = ("pandas", "pyarrow", "matplotlib", "jinja2")


def test_a_worker_for_calls_by_text_loads_neither_sound_nor_servers_nor_tables() -> None:
    names = (*ONLY_FOR_SOUND, *ONLY_FOR_SERVERS, *ONLY_FOR_RESULTS)
    code = (
        "import sys, callm_voice.bench.run.worker, callm_voice.bench.text_call\n"
        f"print(*[name for name in {names!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == []
