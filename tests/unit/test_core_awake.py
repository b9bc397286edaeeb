"""The processors are kept awake for the length of a block, and not where that would do harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.live import until

from callm_voice.core import awake

pytestmark = pytest.mark.unit


def children() -> set[int]:
    """Ids of this process's children that run."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="this system has no idle priority")
def test_one_process_per_core_lives_as_long_as_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "has_quota", lambda _: False)
    before = children()
    with awake.keep_awake() as cores:
        spinners = children() - before
        assert cores == len(os.sched_getaffinity(0)) == len(spinners)
    assert children() == before


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this system shares no time by session")
def test_what_spins_is_the_least_of_all_sessions_and_not_only_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "has_quota", lambda _: False)
    before = children()
    with awake.keep_awake():
        for pid in children() - before:
            assert os.getsid(pid) == pid
            autogroup = Path(f"/proc/{pid}/autogroup")
            until(lambda: "nice 19" in autogroup.read_text(), "it has the least weight")  # noqa: B023 - called at once


def test_nothing_is_started_when_it_is_not_wanted() -> None:
    before = children()
    with awake.keep_awake(False) as cores:
        assert (cores, children()) == (0, before)


def test_nothing_is_started_under_a_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "has_quota", lambda _: True)
    with awake.keep_awake() as cores:
        assert cores == 0


def test_nothing_is_started_on_a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "MAX_CORES", 0)
    with awake.keep_awake() as cores:
        assert cores == 0


@pytest.mark.parametrize(
    ("name", "text", "limited"),
    [
        ("cpu.max", "max 100000\n", False),
        ("cpu.max", "200000 100000\n", True),
        ("cpu/cpu.cfs_quota_us", "-1\n", False),
        ("cpu/cpu.cfs_quota_us", "150000\n", True),
    ],
)
def test_a_quota_is_read_from_both_kinds_of_control_group(tmp_path: Path, name: str, text: str, limited: bool) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert awake.has_quota(tmp_path) is limited


def test_without_control_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert awake.has_quota(tmp_path) is False
