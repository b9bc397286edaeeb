"""Speech codecs: what the line needs of one, which there are, and how to open one.

One object is one direction of one call: an encoder and a decoder with state. A packet holds 20 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from callm_voice.audio.codec_ffmpeg import AMR_MODES, G722, Amr
from callm_voice.audio.codec_g726 import G726, G726_RATES
from callm_voice.audio.codec_gsm import Gsm
from callm_voice.audio.codec_opus import OPUS_MODES, Opus
from callm_voice.audio.codec_pcm import G711, L16
from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import NotFoundError


class Codec(Protocol):
    """What the line needs of a codec."""

    name: str
    """RTP encoding name in lower case."""
    mode: str | None
    """Of the catalogue's modes; None: the codec has no modes."""
    rate_hz: int
    """Of the PCM on both sides."""
    delay_samples: int
    """How much later the decoder's output is than the encoder's input, at `rate_hz`; the same for every packet."""
    frame_samples: int | None
    """Length that `encode` wants, one packet's, or None: any."""

    def encode(self, frame: Pcm) -> bytes:
        """The payload of one packet for (samples,) int16.

        Raises:
            EngineError: the frame does not have `frame_samples`.
        """
        ...

    def decode(self, payload: bytes) -> Pcm:
        """The (samples,) int16 of one payload: as many as `encode` took. Never raises: what is no payload of this
        codec counts as a lost packet."""
        ...

    def conceal(self) -> Pcm | None:
        """The codec's own substitute for one lost packet; None: it has none, and its state stays as it is."""
        ...


@dataclass(frozen=True)
class CodecInfo:
    """One line of the catalogue."""

    name: str
    title: str
    rates_hz: tuple[int, ...]
    """Of the PCM."""
    modes: tuple[str, ...]
    """Names of the bit rates to choose from; empty: one only."""
    default_mode: str | None
    payload_bytes: tuple[int, ...]
    """Octets of one 20 ms packet: one number per mode, or per rate if there are no modes; empty: it varies."""
    conceals: bool
    """Whether the codec has a concealment of its own."""
    reference: str
    library: str
    """Package and library that do the work, with the licence."""


_FFMPEG = "FFmpeg in av (BSD-3-Clause; the wheel carries a GPL build of FFmpeg)"
_OWN = "none: tables made from the law"
_CATALOGUE = (
    CodecInfo(
        name="l16",
        title="Linear PCM, 16 bit",
        rates_hz=(8000, 16_000),
        modes=(),
        default_mode=None,
        payload_bytes=(320, 640),
        conceals=False,
        reference="RFC 3551 §4.5.11",
        library="none",
    ),
    CodecInfo(
        name="pcmu",
        title="G.711 µ-law, 64 kbit/s",
        rates_hz=(8000,),
        modes=(),
        default_mode=None,
        payload_bytes=(160,),
        conceals=False,
        reference="ITU-T G.711; RFC 3551 §4.5.14",
        library=_OWN,
    ),
    CodecInfo(
        name="pcma",
        title="G.711 A-law, 64 kbit/s",
        rates_hz=(8000,),
        modes=(),
        default_mode=None,
        payload_bytes=(160,),
        conceals=False,
        reference="ITU-T G.711; RFC 3551 §4.5.14",
        library=_OWN,
    ),
    CodecInfo(
        name="g722",
        title="G.722 at 64 kbit/s",
        rates_hz=(16_000,),
        modes=(),
        default_mode=None,
        payload_bytes=(G722.payload_bytes,),
        conceals=False,
        reference="ITU-T G.722; RFC 3551 §4.5.2",
        library=_FFMPEG,
    ),
    CodecInfo(
        name="g726",
        title="G.726 ADPCM, mode in kbit/s",
        rates_hz=(8000,),
        modes=tuple(G726_RATES),
        default_mode="32",
        payload_bytes=(40, 60, 80, 100),
        conceals=False,
        reference="ITU-T G.726, Annex A; RFC 3551 §4.5.4",
        library="own arithmetic (Apache-2.0), compiled by numba (BSD-2-Clause)",
    ),
    CodecInfo(
        name="gsm",
        title="GSM full rate, 13 kbit/s",
        rates_hz=(8000,),
        modes=(),
        default_mode=None,
        payload_bytes=(33,),
        conceals=True,
        reference="ETSI GSM 06.10, 06.11; RFC 3551 §4.5.8",
        library=f"libgsm (TU Berlin, permissive) in libsndfile (LGPL-2.1+) in soundfile (BSD-3-Clause); {_FFMPEG}",
    ),
    CodecInfo(
        name="amr",
        title="AMR narrowband, mode in kbit/s",
        rates_hz=(8000,),
        modes=tuple(AMR_MODES),
        default_mode="12.2",
        payload_bytes=tuple(2 + size for size in AMR_MODES.values()),
        conceals=True,
        reference="3GPP TS 26.071, 26.091; RFC 4867 §4.4, octet-aligned",
        library=f"opencore-amr (Apache-2.0) in {_FFMPEG}",
    ),
    CodecInfo(
        name="opus",
        title="Opus for speech, variable rate, mode in bit/s",
        rates_hz=(8000, 16_000),
        modes=OPUS_MODES,
        default_mode="16000",
        payload_bytes=(),
        conceals=True,
        reference="RFC 6716; RFC 7587",
        library=f"libopus (BSD-3-Clause) in {_FFMPEG}",
    ),
)
_BY_NAME = {info.name: info for info in _CATALOGUE}
CODEC_NAMES = tuple(_BY_NAME)


def codec_catalogue() -> tuple[CodecInfo, ...]:
    """All codecs, for lists and for validation."""
    return _CATALOGUE


def make_codec(name: str, rate_hz: int, *, mode: str | None = None) -> Codec:
    """A fresh codec by its RTP name in lower case.

    Args:
        name: one of `CODEC_NAMES`.
        rate_hz: of the line; `l16` has any.
        mode: one of the catalogue's modes for this codec, or None: its default.

    Raises:
        NotFoundError: no such codec, not at this rate, or no such mode.
        SetupError: the library on this machine lacks it.
    """
    info = _BY_NAME.get(name)
    if info is None or (rate_hz not in info.rates_hz and name != "l16"):
        known = [f"{i.name}@{rate}" for i in _CATALOGUE for rate in i.rates_hz]
        raise NotFoundError("codec", f"{name}@{rate_hz}", known)
    if mode is None:
        mode = info.default_mode
    elif mode not in info.modes:
        raise NotFoundError(f"mode of codec {name}", mode, info.modes)
    return _OPENERS[name](name, rate_hz, mode or "")


_OPENERS: dict[str, Callable[[str, int, str], Codec]] = {
    "l16": lambda name, rate_hz, mode: L16(rate_hz),
    "pcmu": lambda name, rate_hz, mode: G711(name),
    "pcma": lambda name, rate_hz, mode: G711(name),
    "g722": lambda name, rate_hz, mode: G722(),
    "g726": lambda name, rate_hz, mode: G726(mode),
    "gsm": lambda name, rate_hz, mode: Gsm(),
    "amr": lambda name, rate_hz, mode: Amr(mode),
    "opus": lambda name, rate_hz, mode: Opus(rate_hz, mode),
}
