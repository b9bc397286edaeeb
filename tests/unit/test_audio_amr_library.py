"""AMR without FFmpeg around it: the same bytes and the same samples, in every mode; FFmpeg where it is missing."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from support.audio_speech import speech_like

from callm_voice.audio import codec_ffmpeg
from callm_voice.audio.amr_library import AmrDecoder, AmrEncoder, amr_library
from callm_voice.audio.codec_ffmpeg import AMR_MODES, Amr, FfmpegDecoder, FfmpegEncoder
from callm_voice.audio.pcm import Pcm, split_frames

pytestmark = pytest.mark.unit

AV_CARRIES_IT = any(Path(av.__file__).parents[1].glob("av*/**/libopencore-amrnb*"))
SAID = split_frames(speech_like(8000, 2.0), 160)


@pytest.fixture(autouse=True)
def _there() -> None:
    if not AV_CARRIES_IT:
        pytest.skip("the installed av does not carry the library where its wheels do")
    assert amr_library() is not None, "it is there, and cannot be used"


def heard(codec: Amr, frames: Pcm, lost: set[int]) -> Pcm:
    return np.concatenate(
        [codec.conceal() if n in lost else codec.decode(codec.encode(f)) for n, f in enumerate(frames)]
    )


@pytest.mark.parametrize("mode", AMR_MODES)
def test_both_ways_give_the_same_bytes_and_samples(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses included: the decoder's own substitution goes the same way."""
    direct = Amr(mode)
    assert isinstance(direct._encoder, AmrEncoder)
    assert isinstance(direct._decoder, AmrDecoder)
    monkeypatch.setattr(codec_ffmpeg, "amr_library", lambda: None)
    by_ffmpeg = Amr(mode)
    assert isinstance(by_ffmpeg._encoder, FfmpegEncoder)
    assert isinstance(by_ffmpeg._decoder, FfmpegDecoder)
    assert np.array_equal(heard(direct, SAID, {30, 31, 60}), heard(by_ffmpeg, SAID, {30, 31, 60}))
    assert [direct.encode(frame) for frame in SAID] == [by_ffmpeg.encode(frame) for frame in SAID]


def test_a_decoded_frame_is_the_callers_own() -> None:
    codec = Amr("12.2")
    first = codec.decode(codec.encode(SAID[10]))
    kept = first.copy()
    codec.decode(codec.encode(SAID[11]))
    assert np.array_equal(first, kept)


def test_an_av_without_the_library_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = "callm_voice.audio.amr_library.av.__file__"
    monkeypatch.setattr(module, str(tmp_path / "av" / "__init__.py"))
    assert amr_library.__wrapped__() is None
    (tmp_path / "av.libs").mkdir()
    (tmp_path / "av.libs" / "libopencore-amrnb-0.so").write_bytes(b"no library")
    assert amr_library.__wrapped__() is None
