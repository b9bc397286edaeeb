"""The run folder: a call is there whole or plainly unfinished; the disk's errors are one clear line."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.records import full_record

import callm_voice
from callm_voice.core import runfolder
from callm_voice.core.errors import ConfigError, DiskError
from callm_voice.core.record import TranscriptTurn
from callm_voice.core.runfolder import (
    call_dir,
    dump_record,
    find_calls,
    is_finished,
    load_record,
    open_call_folder,
    safe_name,
)

pytestmark = pytest.mark.unit

ROOT = Path(callm_voice.__file__).parents[1]
KILLED = """
import os, signal, sys
from pathlib import Path
from callm_voice.core import runfolder
from support.records import full_record
if sys.argv[2] == "at_rename":
    Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with runfolder.open_call_folder(Path(sys.argv[1])) as folder:
    folder.write_text("state.json", "{}")
    if sys.argv[2] == "before_record":
        os.kill(os.getpid(), signal.SIGKILL)
    folder.complete(full_record())
"""


@pytest.fixture
def final(tmp_path: Path) -> Path:
    return call_dir(tmp_path, pack="demo", task="C1-E1", model="oracle", line="text", trial=1)


def test_the_folder_of_a_call_is_named_by_what_was_run(tmp_path: Path) -> None:
    folder = call_dir(tmp_path, pack="healthcare", task="C5-H1", model="qwen2.5-0.5b", line="pstn-g711u", trial=3)
    assert folder == tmp_path / "calls/healthcare/C5-H1/qwen2.5-0.5b/pstn-g711u/t3"


@pytest.mark.parametrize(
    "name",
    ["openai:http://h:1/v1#m", "../../etc", "", ".", "..", ".hidden", "ü", "a" * 400, "\ud800"],
    ids=lambda name: ascii(name)[:16],
)
def test_any_name_becomes_one_plain_visible_folder(name: str, tmp_path: Path) -> None:
    safe = safe_name(name)
    assert safe == Path(safe).name
    assert not safe.startswith(".")
    (tmp_path / safe).mkdir()
    assert safe_name(safe) == safe


def test_two_names_never_share_a_folder() -> None:
    names = ["a/b", "a_b", "a:b", "a b", ".a_b", "", "_", "a" * 101, "a" * 102]
    assert len({safe_name(name) for name in names}) == len(names)


def test_a_complete_call_is_found_and_read_back(final: Path, tmp_path: Path) -> None:
    with open_call_folder(final) as folder:
        folder.write_text("state.json", "{}")
        assert folder.complete(full_record()) == final
    assert is_finished(final)
    assert find_calls(tmp_path) == [final]
    assert load_record(final) == full_record()
    assert sorted(p.name for p in final.iterdir()) == ["call.json", "state.json"]
    assert [p.name for p in final.parent.iterdir()] == ["t1"]


def test_while_a_call_is_written_its_folder_is_not_there(final: Path, tmp_path: Path) -> None:
    with open_call_folder(final) as folder:
        folder.write_text("state.json", "{}")
        assert not final.exists()
        assert not is_finished(final)
        assert find_calls(tmp_path) == []


def test_a_block_that_raises_leaves_a_folder_without_a_record(final: Path, tmp_path: Path) -> None:
    def work() -> None:
        with open_call_folder(final) as folder:
            folder.write_text("state.json", "{}")
            raise KeyError("broken")

    with pytest.raises(KeyError):
        work()
    assert find_calls(tmp_path) == []
    assert not is_finished(final)


@pytest.mark.parametrize("when", ["before_record", "at_rename"])
def test_a_killed_call_is_plainly_unfinished_and_is_redone(final: Path, tmp_path: Path, when: str) -> None:
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(final), when], env=os.environ | {"PYTHONPATH": path}, timeout=60, check=False
    )
    assert done.returncode == -9
    assert not is_finished(final)
    assert find_calls(tmp_path) == []
    with open_call_folder(final) as folder:
        assert list(folder.work.iterdir()) == []
        folder.complete(full_record())
    assert find_calls(tmp_path) == [final]


def test_a_call_that_is_run_again_replaces_the_old_one_whole(final: Path) -> None:
    for file in ("old.txt", "new.txt"):
        with open_call_folder(final) as folder:
            folder.write_text(file, "x")
            folder.complete(full_record())
    assert sorted(p.name for p in final.iterdir()) == ["call.json", "new.txt"]


@pytest.mark.parametrize(
    ("code", "says"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk is full"), (errno.EROFS, "Read-only")],
)
def test_a_full_or_unwritable_disk_is_one_clear_disk_error(
    final: Path, monkeypatch: pytest.MonkeyPatch, code: int, says: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with open_call_folder(final) as folder:
        monkeypatch.setattr(Path, "write_text", fail)
        with pytest.raises(DiskError, match=says) as caught:
            folder.write_text("events.jsonl", "x")
        assert "events.jsonl" in str(caught.value)
        monkeypatch.setattr(runfolder.os, "fsync", fail)
        with pytest.raises(DiskError, match=says):
            folder.complete(full_record())
    assert not is_finished(final)
    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(DiskError, match=says), open_call_folder(final.with_name("t2")):
        pass


def test_a_file_where_the_folder_should_be_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("x", encoding="utf-8")
    with pytest.raises(DiskError, match="cannot be written"), open_call_folder(tmp_path / "calls" / "t1"):
        pass


def test_a_folder_that_is_no_call_or_a_record_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not a finished call: there is no call\.json"):
        load_record(tmp_path)
    for text in ("{", "{}", '{"record_version": 99}'):
        (tmp_path / "call.json").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match="not a call record of this version") as caught:
            load_record(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_record_is_written_even_if_a_model_sent_half_a_character(final: Path) -> None:
    turn = TranscriptTurn(party="agent", turn_id=1, start_ms=0, end_ms=1, said="a\ud800")
    with open_call_folder(final) as folder:
        folder.complete(full_record(transcript=(turn,)))
    assert load_record(final).transcript[0].said == "a\ufffd"


def test_the_text_of_a_record_is_stable() -> None:
    assert dump_record(full_record()) == dump_record(full_record())
    assert dump_record(full_record()).endswith("}\n")


@pytest.mark.parametrize("comes", [1, 3])
def test_an_unfinished_folder_is_removed_although_a_watcher_comes_back_meanwhile(
    comes: int, final: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = final.with_name("t1.partial")
    (left / "live").mkdir(parents=True)
    removed, visits = os.rmdir, []

    def rmdir(path: object, **where: object) -> None:
        if str(path).endswith("t1.partial") and len(visits) < comes:
            visits.append((left / "live").mkdir())
        removed(path, **where)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rmdir", rmdir)
    with open_call_folder(final) as folder:
        assert list(folder.work.iterdir()) == []
    assert len(visits) == comes
