"""A committed call folder against its committed verdict, byte by byte.

The call is the published page's sample of C5-H1 (its tools gate misses `identify_patient` and has `list_locations`
extra), with arguments in other written forms and a state that is wrong in two rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import verifier

pytestmark = pytest.mark.golden

ROOT = Path(verifier.__file__).parents[1]
CALL = Path(__file__).parent / "verifier" / "page_sample"


def run_verifier(hash_seed: str) -> subprocess.CompletedProcess[bytes]:
    env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "verifier", str(CALL)], capture_output=True, env=env, timeout=60, check=False
    )


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_the_verdict_has_the_committed_bytes_under_any_hash_seed(hash_seed: str) -> None:
    done = run_verifier(hash_seed)
    assert done.stdout == (CALL / "verdict.json").read_bytes()
    assert done.returncode == 1


def test_the_tools_gate_says_what_the_published_page_says() -> None:
    findings = json.loads((CALL / "verdict.json").read_bytes())["tools"]["findings"]
    assert [f["tool"] for f in findings if f["kind"] == "missing"] == ["identify_patient"]
    assert [f["tool"] for f in findings if f["kind"] == "extra"] == ["list_locations"]
    assert sum(f["kind"] == "hit" for f in findings) == 11


def test_every_line_of_a_verdict_is_plain_ascii() -> None:
    assert (CALL / "verdict.json").read_bytes().isascii()
