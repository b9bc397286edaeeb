"""A finished call's files: read from a place on, and closed only by nobody's read being under way."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from callm_voice.web import finished
from callm_voice.web.finished import FRAME_BYTES, PlainFile, Recording

pytestmark = pytest.mark.unit
LIMIT_S = 30.0


def written(folder: Path, channels: int = 2) -> tuple[Path, bytes]:
    """A recording, and its samples."""
    path = folder / "call.flac"
    samples = np.arange(1600 * channels, dtype=np.int16).reshape(-1, channels)
    soundfile.write(path, samples, 8000)
    return path, samples.astype("<i2").tobytes()


def all_of(recording: Recording) -> bytes:
    return b"".join(iter(recording.read, b""))


@pytest.mark.parametrize("skipped", [0, 1, 1599])
def test_a_recording_is_read_from_a_place_on(skipped: int, tmp_path: Path) -> None:
    path, samples = written(tmp_path)
    recording = Recording(path, skipped * FRAME_BYTES)
    assert recording.open() == 8000
    assert all_of(recording) == samples[skipped * FRAME_BYTES :]
    recording.close()


def test_there_is_nothing_of_one_that_is_not_there_or_is_none_of_a_call_s_or_was_heard_to_the_end(
    tmp_path: Path,
) -> None:
    path, samples = written(tmp_path)
    (tmp_path / "mono").mkdir()
    mono, _ = written(tmp_path / "mono", channels=1)
    for recording in (Recording(tmp_path / "none.flac"), Recording(path, len(samples)), Recording(mono)):
        assert recording.open() is None
        recording.close()


def test_what_libsndfile_cannot_read_holds_no_file_either(tmp_path: Path) -> None:
    (tmp_path / "call.flac").write_bytes(b"fLaC, or not")
    recording = Recording(tmp_path / "call.flac")
    with pytest.raises(RuntimeError):
        recording.open()
    recording.close()
    assert recording._file is not None
    assert recording._file.closed


def test_a_recording_is_closed_only_when_the_last_read_of_it_has_ended(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    began, may_go_on = threading.Event(), threading.Event()
    recording = Recording(path)
    recording.open()
    sound: Any = recording._sound
    real_read = sound.read

    def slow_read(*args: Any, **options: Any) -> Any:
        began.set()
        may_go_on.wait(LIMIT_S)
        return real_read(*args, **options)

    sound.read = slow_read
    reader, closer = threading.Thread(target=recording.read), threading.Thread(target=recording.close)
    reader.start()
    assert began.wait(LIMIT_S)
    closer.start()
    assert not sound.closed
    may_go_on.set()
    for thread in (reader, closer):
        thread.join(LIMIT_S)
    assert sound.closed
    assert recording.read() == b""


def test_nothing_is_opened_any_more_once_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener who goes leaves an opening behind that has not begun."""
    path, _ = written(tmp_path)

    def opened(_: Path) -> Any:
        raise AssertionError("a file was opened that nobody will close")

    monkeypatch.setattr(finished, "open_plain", opened)
    recording, file = Recording(path), PlainFile(path)
    recording.close()
    file.close()
    assert (recording.open(), recording.read(), file.read()) == (None, b"", b"")


def test_a_plain_file_is_read_to_its_end_and_one_that_is_not_there_is_empty(tmp_path: Path) -> None:
    text = b"0123456789" * 20_000
    (tmp_path / "events.jsonl").write_bytes(text)
    for path, held in ((tmp_path / "events.jsonl", text), (tmp_path / "none", b"")):
        file = PlainFile(path)
        assert b"".join(iter(file.read, b"")) == held
        file.close()
