"""Packet coders of FFmpeg (package av), and the codecs that need nothing else: G.722 and AMR.

Encoder and decoder are opened once per direction of a call and keep their state from packet to packet. The encoder's
frame is one buffer that is written again for each packet: making a new one costs more than G.722 itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.error import FFmpegError

from callm_voice.audio.amr_library import AmrDecoder, AmrEncoder, amr_library
from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import EngineError, SetupError

PTIME_MS = 20
"""Packet time: one packet, one frame."""


def packet_samples(rate_hz: int) -> int:
    """Samples of one packet."""
    return rate_hz * PTIME_MS // 1000


class FfmpegEncoder:
    """One encoder, mono, 16 bit.

    Args:
        name: of FFmpeg's encoder.
        rate_hz: of the PCM.
        bits_per_s: wanted bit rate, or None: the encoder has one.
        options: private options of the encoder.
    """

    def __init__(
        self, name: str, rate_hz: int, *, bits_per_s: int | None = None, options: Mapping[str, str] | None = None
    ) -> None:
        self._name = name
        self._samples = packet_samples(rate_hz)
        self._context = _create(name, "w", rate_hz, options)
        self._context.format = "s16"
        if bits_per_s is not None:
            self._context.bit_rate = bits_per_s
        self._context.open()
        self._frame = av.AudioFrame(format="s16", layout="mono", samples=self._samples)
        self._frame.sample_rate = rate_hz
        self._buffer = _view(self._frame, self._samples)

    def encode(self, frame: Pcm) -> bytes:
        """The bytes of one packet for one packet's PCM.

        Raises:
            EngineError: the frame does not have one packet's length, or FFmpeg failed.
        """
        need_one_packet(self._name, frame, self._samples)
        self._buffer[:] = frame
        self._frame.pts = None
        try:
            packets = self._context.encode(self._frame)
            return bytes(packets[0]) if len(packets) == 1 else b"".join(map(bytes, packets))
        except FFmpegError as error:
            raise EngineError(f"{self._name}: a packet cannot be encoded: {error}", stage="line") from error


class FfmpegDecoder:
    """One decoder, mono, 16 bit.

    Args:
        name: of FFmpeg's decoder.
        rate_hz: of the PCM that it gives.
    """

    def __init__(self, name: str, rate_hz: int) -> None:
        self._samples = packet_samples(rate_hz)
        self._context = _create(name, "r", rate_hz, None)
        self._context.open()

    def decode(self, payload: bytes) -> Pcm | None:
        """One packet's PCM; None if FFmpeg refuses the bytes or makes another length of them."""
        if not payload:  # FFmpeg would take it for the end of the stream
            return None
        try:
            frames = self._context.decode(av.Packet(payload))
        except FFmpegError:
            return None
        if len(frames) != 1 or frames[0].samples != self._samples:
            return None
        return _view(frames[0], self._samples).copy()


class G722:
    """ITU-T G.722 at 64 kbit/s (RFC 3551 §4.5.2): two sub-bands of ADPCM behind a 24-tap quadrature mirror filter."""

    name = "g722"
    mode: str | None = None
    rate_hz = 16_000
    delay_samples = 22
    """Of the filters of both sides: 24 taps, less two."""
    frame_samples: int | None = 320
    payload_bytes = 160

    def __init__(self) -> None:
        self._encoder = FfmpegEncoder("g722", self.rate_hz)
        self._decoder = FfmpegDecoder("g722", self.rate_hz)

    def encode(self, frame: Pcm) -> bytes:
        return self._encoder.encode(frame)

    def decode(self, payload: bytes) -> Pcm:
        """Any bytes of one packet's length are codes; another length is heard as silence."""
        pcm = self._decoder.decode(payload) if len(payload) == self.payload_bytes else None
        return silence(self.rate_hz) if pcm is None else pcm

    def conceal(self) -> Pcm | None:
        return None


AMR_MODES = {
    "4.75": 12,
    "5.15": 13,
    "5.9": 15,
    "6.7": 17,
    "7.4": 19,
    "7.95": 20,
    "10.2": 26,
    "12.2": 31,
}
"""kbit/s -> bytes of speech data in one frame, in the order of the frame types 0 to 7 (3GPP TS 26.101 table 1a)."""
_AMR_OF_FFMPEG = "libopencore_amrnb"
_NO_CMR = b"\xf0"
"""Codec mode request 15: none (RFC 4867 §4.3.1)."""
_NO_DATA = b"\x7c"
"""Table-of-contents octet of frame type 15, quality bit set: nothing came (RFC 4867 §4.3.2)."""


class Amr:
    """AMR narrowband without DTX, in the octet-aligned payload of RFC 4867 §4.4: mode request, contents, speech.

    Args:
        mode: kbit/s, one of `AMR_MODES`.
    """

    name = "amr"
    rate_hz = 8000
    delay_samples = 40
    """The encoder looks 5 ms ahead (3GPP TS 26.090); the phase of its high-pass filter makes it 39 to the ear of a
    correlation."""
    frame_samples: int | None = 160

    def __init__(self, mode: str) -> None:
        self.mode: str | None = mode
        library = amr_library()
        self._encoder: AmrEncoder | FfmpegEncoder
        self._decoder: AmrDecoder | FfmpegDecoder
        if library is not None:
            self._encoder, self._decoder = AmrEncoder(library, list(AMR_MODES).index(mode)), AmrDecoder(library)
        else:
            self._encoder = FfmpegEncoder(_AMR_OF_FFMPEG, self.rate_hz, bits_per_s=round(float(mode) * 1000))
            self._decoder = FfmpegDecoder(_AMR_OF_FFMPEG, self.rate_hz)

    def encode(self, frame: Pcm) -> bytes:
        need_one_packet(_AMR_OF_FFMPEG, frame, 160)
        return _NO_CMR + self._encoder.encode(frame)

    def decode(self, payload: bytes) -> Pcm:
        """What is no whole speech frame counts as lost."""
        frame = payload[1:]
        if not _is_amr_speech(frame):
            return self.conceal()
        pcm = self._decoder.decode(frame)
        return self.conceal() if pcm is None else pcm

    def conceal(self) -> Pcm:
        """The decoder's own substitution of a lost frame (3GPP TS 26.091)."""
        pcm = self._decoder.decode(_NO_DATA)
        return silence(self.rate_hz) if pcm is None else pcm


def _is_amr_speech(frame: bytes) -> bool:
    """Whether these bytes are one contents octet and the speech data that it announces."""
    sizes = list(AMR_MODES.values())
    frame_type = frame[0] >> 3 & 0x0F if frame else len(sizes)
    return frame_type < len(sizes) and len(frame) == 1 + sizes[frame_type]


def silence(rate_hz: int) -> Pcm:
    """One packet of digital silence."""
    return np.zeros(packet_samples(rate_hz), dtype=np.int16)


def need_one_packet(name: str, frame: Pcm, samples: int) -> None:
    """Refuse a frame of another length than one packet's.

    Raises:
        EngineError: names both lengths.
    """
    if frame.size != samples:
        raise EngineError(f"{name}: one packet has {samples} samples, not {frame.size}", stage="line")


def _view(frame: Any, samples: int) -> Pcm:
    """The samples of an FFmpeg frame where they lie, without the padding behind them."""
    pcm: Pcm = np.frombuffer(frame.planes[0], dtype=np.int16, count=samples)
    return pcm


def _create(name: str, direction: str, rate_hz: int, options: Mapping[str, str] | None) -> AudioCodecContext:
    """A coder that is configured but not opened.

    Raises:
        SetupError: this build of FFmpeg lacks it.
    """
    try:
        context: AudioCodecContext = av.CodecContext.create(name, direction)
    except (FFmpegError, ValueError) as error:  # PyAV's UnknownCodecError is a ValueError
        raise SetupError(
            f"the installed FFmpeg (package av) has no codec {name!r}", hint="pip install --force-reinstall av"
        ) from error
    context.sample_rate = rate_hz
    context.layout = "mono"
    context.thread_count = 1
    context.options = dict(options or {})
    return context
