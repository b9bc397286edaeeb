"""A running call shows itself to those who watch, and to nobody else."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from support.live import FRAME, RATE_HZ, ToldCall, told_call, until

from callm_voice.bench.livetap import LiveTap
from callm_voice.core.events import to_jsonl
from callm_voice.core.livefiles import (
    LIVE_EVENTS,
    LIVE_SOUND,
    NOW_FILE,
    OVER_FILE,
    SOUND_WANTED,
    WAV_HEAD_BYTES,
    live_dir,
    wav_head,
    wav_rate_hz,
)
from callm_voice.core.runfolder import LIVE_DIR
from callm_voice.web.tails import ask, ask_no_more, hear_no_more, open_plain, read_now

pytestmark = pytest.mark.unit


def size(call: ToldCall, name: str) -> int:
    path = live_dir(call.work) / name
    return path.stat().st_size if path.exists() else 0


def test_a_call_that_nobody_watches_writes_nothing(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        call.tap.stop()
        assert list(call.work.iterdir()) == []


def test_who_watches_gets_every_event_in_the_order_in_which_it_was_taken(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.say("before anybody watched")
        ask(call.work)
        until(lambda: size(call, LIVE_EVENTS), "the first events are there")
        call.tick()
        call.say("while somebody watches: ü\u2028<script>")
        call.hang_up()
        call.tap.stop()
        text = (live_dir(call.work) / LIVE_EVENTS).read_text("utf-8")
        assert text == to_jsonl(call.log.events)
        assert (live_dir(call.work) / OVER_FILE).exists()


def test_the_sound_is_written_only_when_wanted_and_is_the_whole_recording(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick(1_200)
        ask(call.work)
        until(lambda: read_now(call.work), "the call answers")
        assert size(call, LIVE_SOUND) == 0
        ask(call.work, sound=True)
        until(lambda: size(call, LIVE_SOUND), "the sound is written")
        call.tick(37)
        call.tap.stop()
        written = (live_dir(call.work) / LIVE_SOUND).read_bytes()
        assert wav_rate_hz(written[:WAV_HEAD_BYTES]) == RATE_HZ
        assert written[WAV_HEAD_BYTES:] == call.all_sound()
        assert len(written) == WAV_HEAD_BYTES + 1_237 * FRAME * 4


def test_sound_that_was_not_wanted_for_a_while_is_not_lost(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        ask(call.work, sound=True)
        until(lambda: size(call, LIVE_SOUND), "the sound is written")
        hear_no_more(call.work)
        looks = until(lambda: read_now(call.work), "the call answers").looks
        until(lambda: (now := read_now(call.work)) and now.looks > looks + 1, "two more looks")
        before = size(call, LIVE_SOUND)
        call.tick()
        ask(call.work, sound=True)
        until(lambda: size(call, LIVE_SOUND) > before, "the sound goes on")
        call.tap.stop()
        assert (live_dir(call.work) / LIVE_SOUND).read_bytes()[WAV_HEAD_BYTES:] == call.all_sound()


def test_the_line_s_length_is_told_while_it_grows(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        ask(call.work)
        call.open_line()
        call.tick(50)
        until(lambda: (now := read_now(call.work)) and now.line_ms == 1_000.0, "a second is told")
        call.tick(50)
        until(lambda: (now := read_now(call.work)) and now.line_ms == 2_000.0, "the next one too")


def test_a_finished_call_keeps_nothing_of_its_watchers(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        ask(call.work, sound=True)
        call.open_line()
        call.tick()
        call.hang_up()
        final = call.complete()
    assert sorted(path.name for path in final.iterdir()) == ["call.flac", "call.json", "events.jsonl"]
    assert not (final / LIVE_DIR).exists()


def test_a_call_goes_on_where_its_watchers_files_cannot_be_written(tmp_path: Path) -> None:
    """A plain file lies where the folder's file of events would be: a folder of that name."""
    with told_call(tmp_path) as call:
        live_dir(call.work).mkdir()
        (live_dir(call.work) / LIVE_EVENTS).mkdir()
        call.open_line()
        call.tick()
        call.tap.stop()
        assert call.complete().is_dir()


def test_a_folder_that_a_watcher_takes_away_under_the_call_s_hands_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, taken = LiveTap._write_events, threading.Event()

    def write_events(tap: LiveTap) -> None:
        if not taken.is_set():
            ask_no_more(call.work)
            taken.set()
        real(tap)

    monkeypatch.setattr(LiveTap, "_write_events", write_events)
    with told_call(tmp_path) as call:
        call.open_line()
        ask(call.work)
        until(taken.is_set, "the folder is taken away between two steps of a look")
        assert not live_dir(call.work).exists()
        ask(call.work)
        until(lambda: read_now(call.work), "the call answers who asks again")


def test_the_wish_for_sound_survives_another_who_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, others = Path.mkdir, [1, 2]

    def mkdir(path: Path, *args: Any) -> None:
        real(path, *args)
        if others:
            others.pop()
            ask_no_more(tmp_path)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    ask(tmp_path, sound=True)
    assert (live_dir(tmp_path) / SOUND_WANTED).exists()
    ask_no_more(tmp_path)
    assert (live_dir(tmp_path) / SOUND_WANTED).exists()
    hear_no_more(tmp_path)
    assert not live_dir(tmp_path).exists(), "where no call answers, nothing is left of the wish"


def test_the_tap_ends_with_the_call(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        assert [t.name for t in threading.enumerate()].count("callm-live") == 1
        call.tap.stop()
        call.tap.stop()
        assert "callm-live" not in [t.name for t in threading.enumerate()]


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_the_head_of_the_sound_tells_its_rate(rate_hz: int) -> None:
    assert wav_rate_hz(wav_head(rate_hz)) == rate_hz


@pytest.mark.parametrize("change", [b"", b"RIFX", b"x" * WAV_HEAD_BYTES])
def test_anything_else_is_no_head(change: bytes) -> None:
    head = wav_head(RATE_HZ)
    with pytest.raises(ValueError, match="not the head"):
        wav_rate_hz((change + head[len(change) :])[: len(head) if change else 7])


def test_asking_a_call_that_is_gone_does_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "t1.partial"
    ask(gone, sound=True)
    hear_no_more(gone)
    assert read_now(gone) is None
    assert not gone.exists()


def test_the_recording_is_read_while_it_grows(tmp_path: Path) -> None:
    """Another thread reads, over the places where room is made, exactly what was recorded."""
    with told_call(tmp_path) as call:
        done = threading.Event()
        wrong: list[int] = []

        def read() -> None:
            seen = 0
            while not done.is_set() or seen < call.recorder.ticks:
                ticks = call.recorder.ticks
                for first in range(seen, ticks):
                    sample = int.from_bytes(call.recorder.interleaved(first, first + 1)[:2], "little", signed=True)
                    wrong.extend([first] * (sample != first * FRAME % 30_000 + 1))
                seen = ticks

        reader = threading.Thread(target=read)
        reader.start()
        for _ in itertools.repeat(None, 65):
            call.tick(100)
        done.set()
        reader.join(30)
        assert not reader.is_alive()
        assert wrong == []
        assert call.recorder.ticks == 6_500


def test_nothing_is_made_or_read_behind_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / NOW_FILE).write_text('{"line_ms": 1, "looks": 1}', encoding="utf-8")
    (elsewhere / SOUND_WANTED).touch()
    work = tmp_path / "t1.partial"
    work.mkdir()
    live_dir(work).symlink_to(elsewhere)
    before = sorted(elsewhere.iterdir())
    ask(work, sound=True)
    hear_no_more(work)
    assert sorted(elsewhere.iterdir()) == before
    assert read_now(work) is None
    live_dir(work).unlink()
    live_dir(work).mkdir()
    (live_dir(work) / SOUND_WANTED).symlink_to(tmp_path / "made by whoever listens")
    ask(work, sound=True)
    assert not (tmp_path / "made by whoever listens").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted where Linux lists them")
def test_what_is_no_plain_file_is_not_read_and_holds_no_descriptor(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("folder", "pipe", "missing"):
        for _ in range(3):
            with pytest.raises(OSError, match=r"not a plain file|No such file"):
                open_plain(tmp_path / name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
