"""What a user can do wrong and what a machine can lack: one clear line, the right exit code, nothing half-done."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from support.cli import QUICK_ORACLE, Ran, callm, command, hearing_ctrl_c, scripted_call

from callm_voice.core.paths import installed_data_dir
from callm_voice.core.runfolder import find_calls, is_finished, load_record

pytestmark = pytest.mark.faults


def one_clear_line(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    assert len(ran.error_lines) == 1, ran.err
    for word in words:
        assert word in ran.error_lines[0]


# -- the user's mistakes: 2 --


def test_an_unknown_task_lists_the_known_ones(tmp_path: Path) -> None:
    one_clear_line(scripted_call(tmp_path, "--line", "text", task="healthcare/C9-H9"), 2, "C9-H9", "healthcare/C5-H1")


def test_a_task_without_a_pack_says_what_is_expected(tmp_path: Path) -> None:
    one_clear_line(scripted_call(tmp_path, task="C5-H1"), 2, "PACK/TASK")


@pytest.mark.parametrize("option", ["--line", "--pipeline"])
def test_an_unknown_name_lists_the_known_ones(option: str, tmp_path: Path) -> None:
    ran = callm("call", "--task", "healthcare/C5-H1", "--model", "oracle", option, "nope", "--out", str(tmp_path))
    one_clear_line(ran, 2, "'nope'", "known:")


def test_an_unknown_model_lists_the_known_ones(tmp_path: Path) -> None:
    one_clear_line(scripted_call(tmp_path, model="gpt-none"), 2, "gpt-none", "oracle")


def test_a_bad_yaml_key_is_named_with_file_and_line(tmp_path: Path) -> None:
    text = (installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8")
    mine = tmp_path / "mine.yaml"
    mine.write_text(text.replace("silence_ms:", "silense_ms:"), encoding="utf-8")
    line = next(i for i, row in enumerate(mine.read_text("utf-8").splitlines(), 1) if "silense_ms" in row)
    ran = callm("call", "--task", "healthcare/C5-H1", "--model", "oracle", "--pipeline", str(mine))
    one_clear_line(ran, 2, f"mine.yaml:{line}", "endpointing.silense_ms", "unknown key")


def test_a_wrong_pace_is_a_usage_error(tmp_path: Path) -> None:
    one_clear_line(scripted_call(tmp_path, "--pace", "brisk"), 2, "pace")


def test_showing_a_folder_that_is_no_call_says_so(tmp_path: Path) -> None:
    one_clear_line(callm("show", str(tmp_path)), 2, "not a finished call")


def test_verifying_a_run_without_calls_says_so(tmp_path: Path) -> None:
    one_clear_line(callm("verify", str(tmp_path)), 2, "no finished call")


# -- what the machine lacks: 3 --


def test_a_missing_weight_names_the_command_that_brings_it(tmp_path: Path) -> None:
    ran = callm(
        "call", "--task", "healthcare/C5-H1", "--model", "oracle", "--out", str(tmp_path / "runs"),
        env={"CALLM_VOICE_CACHE": str(tmp_path / "empty")},
    )  # fmt: skip
    one_clear_line(ran, 3, "whisper-base", "callm-voice models pull whisper-base")
    assert find_calls(tmp_path) == []


def test_an_unreachable_model_server_is_named(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: refused
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        ran = scripted_call(tmp_path, "--line", "clean-16k", model=f"openai:{url}#m")
    one_clear_line(ran, 3, url)
    assert find_calls(tmp_path) == []


@pytest.mark.parametrize("line", ["text", "clean-16k"])
def test_a_server_that_speaks_garbage_makes_the_call_invalid_not_failed(line: str, tmp_path: Path) -> None:
    with garbage_server() as url:
        ran = scripted_call(tmp_path, "--line", line, model=f"openai:{url}#m")
    assert ran.code == 3, ran.err
    assert "Traceback" not in ran.err
    outcome = ran.json["outcome"]
    assert (outcome["status"], outcome["invalid_kind"]) == ("invalid", "infrastructure")
    assert outcome["end_reason"] == "model_error"
    assert url in outcome["detail"]
    assert ran.json["verdict"] is None


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    """The product's own process, with every write of a call's file refused as a full disk refuses it."""
    program = f"""
import errno, pathlib
real = pathlib.Path.write_text
def full(self, *args, **kwargs):
    if self.name == "events.jsonl":
        raise OSError({errno.ENOSPC}, "No space left on device")
    return real(self, *args, **kwargs)
pathlib.Path.write_text = full
import sys
sys.argv = ["callm-voice", "call", "--task", "healthcare/C1-E1", "--model", {QUICK_ORACLE!r},
            "--line", "text", "--out", {str(tmp_path)!r}]
from callm_voice.cli.main import run
run()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    one_clear_line(Ran(done.returncode, done.stdout, done.stderr), 3, "the disk is full")
    assert find_calls(tmp_path) == []


def test_an_unwritable_run_folder_is_one_clear_line(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    one_clear_line(scripted_call(blocked, "--line", "text"), 3, "cannot be written")


# -- killed at any time --


@pytest.mark.parametrize("moment", ["opening the model", "caller    Hi.", "handoff   identity", "ended"])
def test_a_killed_call_is_plainly_unfinished_and_is_redone(moment: str, tmp_path: Path) -> None:
    args = (
        "call", "--task", "healthcare/C5-H1", "--model", QUICK_ORACLE, "--pipeline", "scripted", "--pace", "fast",
        "--out", str(tmp_path),
    )  # fmt: skip
    process = subprocess.Popen(command(*args), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if moment in line:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.communicate(timeout=60)
    unfinished = list(tmp_path.rglob("t1.partial"))
    assert len(find_calls(tmp_path)) + len(unfinished) == 1
    assert not any(is_finished(folder) for folder in unfinished) or moment == "ended"
    again = callm(*args)
    assert again.code == 0, again.err
    assert len(find_calls(tmp_path)) == 1
    assert load_record(find_calls(tmp_path)[0]).outcome.status == "pass"
    assert list(tmp_path.rglob("*.partial")) == []


def test_an_interrupt_ends_the_call_soon_and_leaves_no_server(tmp_path: Path) -> None:
    args = (
        "call", "--task", "healthcare/C5-H1", "--model", "oracle", "--pipeline", "scripted", "--out", str(tmp_path),
    )  # fmt: skip
    with hearing_ctrl_c():
        process = subprocess.Popen(command(*args), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "caller    Hi." in line:
            process.send_signal(signal.SIGINT)
            break
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert rest.splitlines()[-1].startswith("callm-voice: interrupted")
    assert find_calls(tmp_path) == []
    assert children_of(process.pid) == []


def children_of(pid: int) -> list[str]:
    """Processes whose parent was `pid`, by the kernel's table (Linux)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(stat.parent.name)
    return found


@contextmanager
def garbage_server() -> Iterator[str]:
    """Answers every request with 200 and an event stream that holds no JSON."""
    body = b"data: <html>busy</html>\n\n"
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
        + f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)

        def serve() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    peer.settimeout(10)
                    peer.recv(65536)
                    peer.sendall(answer)

        thread = Thread(target=serve, name="garbage", daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=5)
