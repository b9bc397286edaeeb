"""Speech codecs, through FFmpeg (PyAV). One object is one direction of one call: an encoder and a decoder with state.

G.711 here is FFmpeg's. Its decoder is ITU-T G.711 bit for bit. Its encoder drops the two lowest bits and takes the
nearest output value, while the Recommendation's decision values at the edges of the segments lie a little lower: for
1.3 % of the int16 inputs the code is the neighbour of the one in the Recommendation's tables. The golden tests pin that
difference for every input. One 20 ms packet costs some 2 µs for both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.error import FFmpegError
from numpy.typing import NDArray

from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import EngineError, NotFoundError, SetupError


class Codec(Protocol):
    """What the line needs of a codec."""

    name: str
    rate_hz: int
    """Of the PCM on both sides."""
    delay_samples: int
    """How much later the decoder's output is than the encoder's input, at `rate_hz`."""
    frame_samples: int | None
    """Length that `encode` wants, or None: any."""

    def encode(self, frame: Pcm) -> bytes:
        """The payload of one packet for (samples,) int16."""
        ...

    def decode(self, payload: bytes) -> Pcm:
        """The (samples,) int16 of one payload.

        Raises:
            EngineError: the bytes are not a payload of this codec.
        """
        ...


@dataclass(frozen=True)
class _AvCodec:
    encoder: str
    decoder: str
    rate_hz: int
    delay_samples: int = 0
    frame_samples: int | None = None


_AV_CODECS = {
    "pcmu": _AvCodec("pcm_mulaw", "pcm_mulaw", rate_hz=8000),  # ITU-T G.711 µ-law, RTP payload type 0 (RFC 3551)
    "pcma": _AvCodec("pcm_alaw", "pcm_alaw", rate_hz=8000),  # ITU-T G.711 A-law, RTP payload type 8 (RFC 3551)
}
CODEC_NAMES = ("l16", *_AV_CODECS)


def make_codec(name: str, rate_hz: int) -> Codec:
    """A fresh codec by its RTP name in lower case.

    Args:
        name: one of `CODEC_NAMES`.
        rate_hz: of the line; all but `l16` have one rate.

    Raises:
        NotFoundError: no such codec, or not at this rate.
        SetupError: this build of FFmpeg lacks it.
    """
    if name == "l16":
        return L16(rate_hz)
    spec = _AV_CODECS.get(name)
    if spec is None or spec.rate_hz != rate_hz:
        known = [f"l16@{rate_hz}", *(f"{k}@{s.rate_hz}" for k, s in _AV_CODECS.items())]
        raise NotFoundError("codec", f"{name}@{rate_hz}", known)
    return G711(name, spec)


class L16:
    """Linear 16-bit PCM in network byte order (RFC 3551 §4.5.11): changes nothing."""

    name = "l16"
    delay_samples = 0
    frame_samples: int | None = None

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz

    def encode(self, frame: Pcm) -> bytes:
        return frame.astype(">i2").tobytes()

    def decode(self, payload: bytes) -> Pcm:
        if len(payload) % 2:
            raise EngineError(f"l16: a payload of {len(payload)} bytes is not whole samples", stage="line")
        return np.frombuffer(payload, dtype=">i2").astype(np.int16)


class G711:
    """G.711 by table. It has no state (each sample is coded by itself), so the tables hold all there is to know; they
    are made by FFmpeg's coder when the first codec of a law is opened."""

    def __init__(self, name: str, spec: _AvCodec) -> None:
        self.name = name
        self.rate_hz = spec.rate_hz
        self.delay_samples = spec.delay_samples
        self.frame_samples = spec.frame_samples
        self._codes, self._levels = _g711_tables(name)

    def encode(self, frame: Pcm) -> bytes:
        return self._codes.take(frame.view(np.uint16)).tobytes()

    def decode(self, payload: bytes) -> Pcm:
        return self._levels.take(np.frombuffer(payload, dtype=np.uint8))


@cache
def _g711_tables(name: str) -> tuple[NDArray[np.uint8], Pcm]:
    """The code of each int16, by its bits as uint16, shape (65536,); and the int16 of each code, shape (256,)."""
    ffmpeg = FfmpegCodec(name, _AV_CODECS[name])
    every_input = np.arange(1 << 16, dtype=np.uint16).view(np.int16)
    codes = np.frombuffer(ffmpeg.encode(every_input), dtype=np.uint8)
    return codes, ffmpeg.decode(bytes(range(256)))


class FfmpegCodec:
    """A codec of FFmpeg's, packet by packet, mono, 16 bit."""

    def __init__(self, name: str, spec: _AvCodec) -> None:
        self.name = name
        self.rate_hz = spec.rate_hz
        self.delay_samples = spec.delay_samples
        self.frame_samples = spec.frame_samples
        self._encoder = _open(spec.encoder, "w", spec.rate_hz)
        self._decoder = _open(spec.decoder, "r", spec.rate_hz)

    def encode(self, frame: Pcm) -> bytes:
        if frame.size == 0:
            return b""  # FFmpeg would take an empty frame for the end of the stream
        audio = av.AudioFrame.from_ndarray(frame[np.newaxis], format="s16", layout="mono")
        audio.sample_rate = self.rate_hz
        try:
            return b"".join(bytes(packet) for packet in self._encoder.encode(audio))
        except FFmpegError as error:
            raise EngineError(f"{self.name}: {frame.size} samples cannot be encoded: {error}", stage="line") from error

    def decode(self, payload: bytes) -> Pcm:
        if not payload:
            return np.zeros(0, dtype=np.int16)
        try:
            frames = self._decoder.decode(av.Packet(payload))
        except FFmpegError as error:
            raise EngineError(f"{self.name}: {len(payload)} bytes cannot be decoded: {error}", stage="line") from error
        parts: list[Pcm] = [frame.to_ndarray()[0] for frame in frames]
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.zeros(0, dtype=np.int16)])


def _open(name: str, mode: str, rate_hz: int) -> AudioCodecContext:
    try:
        context: AudioCodecContext = av.CodecContext.create(name, mode)
    except (FFmpegError, ValueError) as error:  # PyAV's UnknownCodecError is a ValueError
        raise SetupError(
            f"the installed FFmpeg (package av) has no codec {name!r}", hint="pip install --force-reinstall av"
        ) from error
    context.sample_rate = rate_hz
    context.layout = "mono"
    if mode == "w":
        context.format = "s16"
    context.thread_count = 1
    context.open()
    return context
