"""GSM full rate (ETSI GSM 06.10), 13 kbit/s: encoded by libsndfile (package soundfile), decoded by FFmpeg.

The two speak the same payload: 33 octets that begin with the nibble 0xD (RFC 3551 §4.5.8.1).
"""

from __future__ import annotations

import numpy as np
import soundfile

from callm_voice.audio.codec_ffmpeg import FfmpegDecoder, need_one_packet, silence
from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import SetupError

PAYLOAD_BYTES = 33
_SIGNATURE = 0xD
_HEAD_BITS = 4 + 36
"""Signature, then the eight log area ratios of a frame."""
_SUBFRAME_BITS = 56
"""Four of them: lag 7, gain 2, grid position 2, block amplitude 6, thirteen pulses of 3."""
_GRID_AT, _GRID_BITS = 9, 2
_AMPLITUDE_AT, _AMPLITUDE_BITS = 11, 6
_MUTING_STEP = 4
_MUTED_AFTER = 16
"""Lost frames until all is mute: 320 ms."""


class Gsm:
    """GSM full rate."""

    name = "gsm"
    mode: str | None = None
    rate_hz = 8000
    delay_samples = 0
    frame_samples: int | None = 160

    def __init__(self) -> None:
        self._sink = _Sink()
        try:
            self._encoder = soundfile.SoundFile(
                self._sink, "w", samplerate=self.rate_hz, channels=1, format="RAW", subtype="GSM610"
            )
        except (soundfile.SoundFileError, ValueError) as error:
            raise SetupError(
                "the installed libsndfile (package soundfile) has no GSM 06.10",
                hint="pip install --force-reinstall soundfile",
            ) from error
        self._decoder = FfmpegDecoder("gsm", self.rate_hz)
        self._last: bytes | None = None
        self._lost = 0
        self._grid = np.random.default_rng(0)

    def encode(self, frame: Pcm) -> bytes:
        need_one_packet(self.name, frame, 160)
        self._encoder.buffer_write(memoryview(frame.tobytes()), dtype="int16")
        return self._sink.take()

    def decode(self, payload: bytes) -> Pcm:
        """What is no frame counts as lost."""
        if len(payload) != PAYLOAD_BYTES or payload[0] >> 4 != _SIGNATURE:
            return self.conceal()
        self._last, self._lost = payload, 0
        return self._decoded(payload)

    def conceal(self) -> Pcm:
        """GSM 06.11 (3GPP TS 46.011) §6: the last good frame once more, then with falling amplitudes, then nothing."""
        if self._last is None or self._lost >= _MUTED_AFTER:
            return silence(self.rate_hz)
        payload = self._last if self._lost == 0 else self._muted(self._last, self._lost * _MUTING_STEP)
        self._lost += 1
        return self._decoded(payload)

    def _decoded(self, payload: bytes) -> Pcm:
        pcm = self._decoder.decode(payload)
        return silence(self.rate_hz) if pcm is None else pcm

    def _muted(self, payload: bytes, lower: int) -> bytes:
        """The frame with each block amplitude `lower` steps down and with its grid positions drawn anew, so that
        the repetition does not ring."""
        bits = int.from_bytes(payload, "big")
        for start in range(_HEAD_BITS, PAYLOAD_BYTES * 8, _SUBFRAME_BITS):
            amplitude = max(0, _field(bits, start + _AMPLITUDE_AT, _AMPLITUDE_BITS) - lower)
            bits = _with_field(bits, start + _AMPLITUDE_AT, _AMPLITUDE_BITS, amplitude)
            bits = _with_field(bits, start + _GRID_AT, _GRID_BITS, int(self._grid.integers(1 << _GRID_BITS)))
        return bits.to_bytes(PAYLOAD_BYTES, "big")


def _field(bits: int, at: int, width: int) -> int:
    """The field that begins `at` bits from the front of a frame."""
    return bits >> (PAYLOAD_BYTES * 8 - at - width) & ((1 << width) - 1)


def _with_field(bits: int, at: int, width: int, value: int) -> int:
    return bits ^ ((_field(bits, at, width) ^ value) << (PAYLOAD_BYTES * 8 - at - width))


class _Sink:
    """The end of a file that libsndfile writes: keeps what came since the last look. A raw file has no header, so
    nothing is ever written in front of the end."""

    def __init__(self) -> None:
        self._new = bytearray()
        self._size = 0

    def write(self, data: bytes) -> int:
        self._new += data
        self._size += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._size

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        new = bytes(self._new)
        self._new.clear()
        return new
