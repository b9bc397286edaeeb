"""Opus (RFC 6716) for speech, narrowband and wideband, through libopus in FFmpeg.

FFmpeg's decoder gives 48 kHz whatever went in. A linear-phase filter brings it back to the line's rate; its delay is a
whole number of samples and the same for every packet, which a general resampler does not promise.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from callm_voice.audio.codec_ffmpeg import FfmpegDecoder, FfmpegEncoder, packet_samples, silence
from callm_voice.audio.pcm import Pcm, round_to_int16

DECODER_HZ = 48_000
OPUS_MODES = ("6000", "8000", "12000", "16000", "20000", "24000", "32000")
"""Mean bit/s. RFC 7587 §3.1.1 names 8 to 12 kbit/s for narrowband speech and 16 to 20 for wideband."""
_HALF_TAPS = 16
"""Length of the filter on each side of its middle, in samples of the line."""
_STOP_BAND_DB = 60.0
_OPTIONS = {
    "application": "voip",
    "frame_duration": "20",
    "vbr": "on",
    "compression_level": "5",  # a phone's complexity; the highest, 10, costs half as much again
}
_CONFIG_BITS = 0xF8
"""Of the first octet: mode, bandwidth and frame length (RFC 6716 §3.1). The rest says stereo and the frame count."""


class Opus:
    """Opus at a variable rate with the mean `mode`, speech application, 20 ms, mono.

    Args:
        rate_hz: 8000 (narrowband) or 16000 (wideband).
        mode: mean bit/s, one of `OPUS_MODES`.
    """

    name = "opus"

    def __init__(self, rate_hz: int, mode: str) -> None:
        self.rate_hz = rate_hz
        self.mode: str | None = mode
        self.frame_samples: int | None = packet_samples(rate_hz)
        self.delay_samples = rate_hz * 13 // 2000 + _HALF_TAPS
        """The encoder looks 6.5 ms ahead; the rest is the filter."""
        self._encoder = FfmpegEncoder("libopus", rate_hz, bits_per_s=int(mode), options=_OPTIONS)
        self._decoder = FfmpegDecoder("libopus", DECODER_HZ)
        self._decimator = Decimator(DECODER_HZ // rate_hz, packet_samples(DECODER_HZ))
        self._config: bytes | None = None

    def encode(self, frame: Pcm) -> bytes:
        return self._encoder.encode(frame)

    def decode(self, payload: bytes) -> Pcm:
        """Bytes that are no 20 ms packet count as lost."""
        pcm = self._decoder.decode(payload)
        if pcm is None:
            return self.conceal()
        self._config = bytes([payload[0] & _CONFIG_BITS])
        return self._decimator.process(pcm)

    def conceal(self) -> Pcm:
        """libopus' own concealment: a packet whose only frame is empty was lost or not sent (RFC 6716 §3.2.1 and
        §4.4)."""
        pcm = self._decoder.decode(self._config) if self._config else None
        return self._decimator.process(silence(DECODER_HZ) if pcm is None else pcm)


class Decimator:
    """Low-pass and every n-th sample, with state, a packet at a time.

    The packet and what the filter still needs of the one before lie in one buffer. The overlapping windows of that
    buffer are laid out once; per packet they are copied in order, since BLAS multiplies nothing else.

    Args:
        factor: how many samples become one.
        samples: of one packet before, a multiple of the factor.
    """

    def __init__(self, factor: int, samples: int) -> None:
        taps = 2 * _HALF_TAPS * factor + 1
        beta = 0.1102 * (_STOP_BAND_DB - 8.7)  # Kaiser's formula
        wave = np.sinc((np.arange(taps) - taps // 2) / factor) * np.kaiser(taps, beta)
        self._taps = (wave / wave.sum()).astype(np.float32)  # symmetric: forwards and backwards are the same
        self._buffer = np.zeros(taps - 1 + samples, dtype=np.float32)
        self._samples = samples
        self._overlapping = sliding_window_view(self._buffer, taps)[::factor]
        self._windows = np.empty(self._overlapping.shape, dtype=np.float32)

    def process(self, pcm: Pcm) -> Pcm:
        """(samples,) int16 to (samples / factor,); `_HALF_TAPS` of them late."""
        self._buffer[: -self._samples] = self._buffer[self._samples :]
        self._buffer[-self._samples :] = pcm
        np.copyto(self._windows, self._overlapping)
        return round_to_int16(self._windows @ self._taps)
