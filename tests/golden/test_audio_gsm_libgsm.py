"""GSM full rate: libsndfile's coder (libgsm) against FFmpeg's decoder, and the muting of GSM 06.11."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
from support.audio_speech import speech_like

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import level_dbov, split_frames

pytestmark = pytest.mark.golden

RAW = {"samplerate": 8000, "channels": 1, "format": "RAW", "subtype": "GSM610"}


def test_packets_are_those_of_a_whole_file_and_are_decoded_as_libgsm_does() -> None:
    said = speech_like(8000, 4.0)
    codec = make_codec("gsm", 8000)
    payloads = [codec.encode(frame) for frame in split_frames(said, 160)]
    heard = np.concatenate([codec.decode(payload) for payload in payloads])
    file = io.BytesIO()
    soundfile.write(file, said, 8000, format="RAW", subtype="GSM610")
    assert file.getvalue() == b"".join(payloads)
    with soundfile.SoundFile(io.BytesIO(file.getvalue()), "r", **RAW) as whole:
        assert whole.read(said.size, dtype="int16").tolist() == heard.tolist()


def test_every_payload_begins_with_the_signature() -> None:
    """RFC 3551 §4.5.8.1."""
    codec = make_codec("gsm", 8000)
    assert {codec.encode(frame)[0] >> 4 for frame in split_frames(speech_like(8000, 1.0), 160)} == {0xD}


def amplitudes(payload: bytes) -> list[int]:
    """The four block amplitudes xmaxc (RFC 3551 table 2), cut out of the bits as text."""
    bits = "".join(f"{octet:08b}" for octet in payload)
    return [int(bits[40 + 56 * n + 11 : 40 + 56 * n + 17], 2) for n in range(4)]


def test_lost_frames_repeat_the_last_good_one_and_fade_by_four_steps_each() -> None:
    """GSM 06.11 §6: the first as it was; then lower and lower; silence after 320 ms at the latest."""
    codec = make_codec("gsm", 8000)
    t = np.arange(4000) / 8000
    vowel = sum(6000 / k * np.sin(2 * np.pi * 140 * k * t) for k in range(1, 8)).astype(np.int16)
    payloads = [codec.encode(frame) for frame in split_frames(vowel, 160)]
    for payload in payloads:
        codec.decode(payload)
    again = make_codec("gsm", 8000)
    for payload in [*payloads, payloads[-1]]:
        repeated = again.decode(payload)
    lost = [codec.conceal() for _ in range(18)]
    assert np.array_equal(lost[0], repeated)
    levels = [level_dbov(frame) for frame in lost]
    assert levels[4] < levels[0] - 6
    assert levels[8] < levels[4] - 6
    assert not lost[16].any()
    assert not lost[17].any()


def test_a_muted_frame_differs_from_the_good_one_in_amplitudes_and_grid_only() -> None:
    codec = make_codec("gsm", 8000)
    good = [codec.encode(frame) for frame in split_frames(speech_like(8000, 0.6), 160)][-10]
    muted = codec._muted(good, 8)  # type: ignore[attr-defined]
    assert amplitudes(muted) == [max(0, value - 8) for value in amplitudes(good)]
    differ = {n for n in range(264) if (good[n // 8] ^ muted[n // 8]) >> (7 - n % 8) & 1}
    allowed = {40 + 56 * k + n for k in range(4) for n in range(9, 17)}
    assert differ <= allowed


def test_a_good_frame_ends_the_muting() -> None:
    codec = make_codec("gsm", 8000)
    payloads = [codec.encode(frame) for frame in split_frames(speech_like(8000, 1.0), 160)]
    loud = max(payloads, key=lambda payload: sum(amplitudes(payload)))
    codec.decode(loud)
    for _ in range(30):
        codec.conceal()
    codec.decode(loud)
    assert level_dbov(codec.conceal()) > -40
