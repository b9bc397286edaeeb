"""The parts of a run: its store, its lock, its waits, what is masked, its progress lines, a process's time."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from callm_voice.bench.run.lock import is_locked, run_lock
from callm_voice.bench.run.outcomes import MAX_BACKOFF_S, MAX_RETRY_AFTER_S, Backoff, without_keys
from callm_voice.bench.run.store import FolderStore, Store, UrlStore, open_store
from callm_voice.bench.workshop import MAX_ENGINES, Workshop
from callm_voice.core.errors import UsageError
from callm_voice.core.runstate import Attempt, Snapshot
from callm_voice.report.run_progress import RunProgress, duration
from callm_voice.speech.settings import ScriptedTtsSettings

pytestmark = pytest.mark.unit


@pytest.fixture(params=["folder", "url"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "run") if request.param == "folder" else (tmp_path / "run").as_uri())


def made_call(folder: Path, name: str) -> Path:
    """A folder that looks like a finished call."""
    call = folder / name
    call.mkdir(parents=True)
    (call / "call.json").write_text('{"n": 1}', encoding="utf-8")
    (call / "events.jsonl").write_text("", encoding="utf-8")
    return call


def test_a_store_is_a_folder_or_a_url(tmp_path: Path) -> None:
    assert isinstance(open_store("runs/x"), FolderStore)
    assert isinstance(open_store(tmp_path.as_uri()), UrlStore)
    with pytest.raises(UsageError, match="nope"):
        open_store("nope://x")


def test_what_is_written_is_read_and_what_is_not_there_is_nothing(store: Store) -> None:
    assert store.read("a/b.json") is None
    store.write("a/b.json", b"one")
    store.write("a/b.json", b"two")
    assert store.read("a/b.json") == b"two"


def test_a_call_is_put_moved_and_removed_whole(store: Store, tmp_path: Path) -> None:
    call = made_call(tmp_path, "made")
    assert store.finished() == set()
    store.put(call, "calls/p/t1")
    store.put(call, "calls/p/t1")
    assert store.finished() == {"calls/p/t1"}
    store.move("calls/p/t1", "invalid/p/t1/a1")
    assert store.finished() == {"invalid/p/t1/a1"}
    assert store.read("invalid/p/t1/a1/events.jsonl") == b""
    store.remove("invalid/p/t1/a1")
    store.remove("invalid/p/t1/a1")
    assert store.finished() == set()


def test_an_unfinished_call_is_none(tmp_path: Path) -> None:
    made_call(tmp_path / "run", "calls/p/t1.partial")
    assert FolderStore(tmp_path / "run").finished() == set()


def test_the_lock_is_held_by_one_and_names_its_process(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with run_lock(tmp_path, pause=lambda: None):
        assert is_locked(tmp_path)
        with pytest.raises(UsageError, match="process"), run_lock(tmp_path, pause=lambda: None, wait_s=0.0):
            pass
    assert not is_locked(tmp_path)
    with run_lock(tmp_path, pause=lambda: None, wait_s=0.0):
        pass


def test_waits_double_up_to_a_bound_and_start_anew_after_a_success() -> None:
    backoff = Backoff(5.0)
    assert [backoff.fault(None) for _ in range(4)] == [5.0, 10.0, 20.0, 40.0]
    assert max(backoff.fault(None) for _ in range(50)) == MAX_BACKOFF_S
    backoff.success()
    assert backoff.fault(None) == 5.0


def test_what_a_server_asks_for_counts_if_it_is_more_within_reason() -> None:
    backoff = Backoff(5.0)
    assert backoff.fault(60.0) == 60.0
    assert backoff.fault(1.0) == 10.0
    assert backoff.fault(1e9) == MAX_RETRY_AFTER_S


def test_keys_of_the_environment_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-1")
    monkeypatch.setenv("SOME_NAME", "ordinary words")
    masked = without_keys("the worker died: sk-very-secret-1 in ordinary words at http://me:pw@host/")
    assert masked == "the worker died: *** in ordinary words at http://***@host/"


def test_a_workshop_makes_an_engine_once_and_forgets_the_oldest() -> None:
    shop = Workshop()
    made: list[float] = []

    def make(settings: ScriptedTtsSettings) -> object:
        made.append(settings.words_per_min)
        return object()

    settings = [ScriptedTtsSettings(engine="scripted", words_per_min=200.0 + n) for n in range(MAX_ENGINES + 1)]
    first = shop.engine("tts", make, settings[0])
    assert shop.engine("tts", make, settings[0]) is first
    assert shop.engine("caller_tts", make, settings[0]) is not first, "both may speak at once"
    for other in settings[1:]:
        shop.engine("tts", make, other)
    assert shop.engine("tts", make, settings[0]) is not first
    assert shop.engine("caller_tts", make, settings[0]) is shop.engine("caller_tts", make, settings[0])
    shop.close()


def test_the_time_of_a_process_never_goes_back_from_call_to_call() -> None:
    program = """
import asyncio, time
from callm_voice.core.fastloop import FastClock, patch_time, run
from callm_voice.core.clock import stopwatch
wall, start, date = stopwatch(), time.monotonic(), time.time()
seen = [start]
def is_patched():
    before_s, patched_s, after_s = clock.now_s(), time.monotonic(), clock.now_s()
    return before_s <= patched_s <= after_s
for _ in range(3):
    clock = FastClock(threads=1)
    patch_time(clock)
    seen.append(time.monotonic())
    assert is_patched()
    run(lambda: asyncio.sleep(3600), clock)
    assert is_patched()
    seen.append(time.monotonic())
    assert 3600 <= clock.unix_s() - date - wall() + 1 < 3602, "the date owes nothing to earlier calls"
    clock.close()
assert seen == sorted(seen)
assert 3 * 3600 <= seen[-1] - start < 3 * 3600 + 60
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def snapshot(**changes: object) -> Snapshot:
    fields: dict[str, object] = {
        "total": 60, "done": 12, "passed": 11, "failed": 1, "invalid": 2, "used_up": 0, "running": ("x",),
        "cost_usd": 0.0, "unpriced": 12, "eta_s": 300.0,
    }  # fmt: skip
    return Snapshot(**(fields | changes))  # type: ignore[arg-type]


def test_without_a_terminal_each_attempt_is_one_plain_line() -> None:
    page = io.StringIO()
    with RunProgress(Console(file=page, width=60)) as progress:
        progress.show(snapshot())
        progress.show(snapshot(), Attempt("a/b/[red]m/text/t1", "pass", "", 3.2, again=False))
        progress.show(snapshot(cost_usd=1.5), Attempt("a/b/m/text/t2", "invalid", "gone", 1.0, again=True))
    assert page.getvalue().splitlines() == [
        "12/60  pass        a/b/[red]m/text/t1  3.2 s  | pass 11, fail 1, invalid 2 | 5 min left",
        "12/60  invalid     a/b/m/text/t2  1.0 s  gone; made again  | pass 11, fail 1, invalid 2 | "
        "$1.5000 and more | 5 min left",
    ]


def test_on_a_terminal_there_is_a_bar_with_the_standings() -> None:
    page = io.StringIO()
    console = Console(file=page, force_terminal=True, width=120, color_system=None)
    with RunProgress(console) as progress:
        progress.show(snapshot())
    assert "12/60" in page.getvalue()
    assert "pass 11, fail 1, invalid 2" in page.getvalue()
    assert not [t for t in threading.enumerate() if t.name.startswith("rich")]


@pytest.mark.parametrize(("seconds", "text"), [(45, "45 s"), (300, "5 min"), (7500, "2 h 05 min")])
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
