"""The library behind FFmpeg's AMR, called without FFmpeg: the same bytes for two thirds of the processor time.

FFmpeg only hands a frame through to opencore-amr, but around it PyAV makes and copies frames, and sends each through a
filter graph because AMR has a fixed frame length. The library lies inside av's wheel. Where it is not found the
callers go by FFmpeg; the output is the same.

Functions and types are those of the library's `interf_enc.h` and `interf_dec.h`.
"""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from pathlib import Path

import av
import numpy as np

from callm_voice.audio.pcm import Pcm

FRAME_SAMPLES = 160
_NAME = "libopencore-amrnb*"
_LONGEST_FRAME = 64
"""Octets; the longest frame of AMR has 32."""
_NO_DTX, _SPEECH, _GOOD = 0, 0, 0
"""No discontinuous transmission; no frame is forced to be speech (without DTX all are); the frame is not a bad one."""


class AmrEncoder:
    """One encoder without DTX.

    Args:
        library: from `amr_library`.
        mode: 0 to 7, for 4.75 to 12.2 kbit/s.
    """

    def __init__(self, library: ctypes.PyDLL, mode: int) -> None:
        self._encode = library.Encoder_Interface_Encode
        self._state = ctypes.c_void_p(library.Encoder_Interface_init(_NO_DTX))
        weakref.finalize(self, library.Encoder_Interface_exit, self._state)
        self._mode = mode
        self._samples = np.zeros(FRAME_SAMPLES, dtype=np.int16)
        self._samples_at = self._samples.ctypes.data
        self._out = ctypes.create_string_buffer(_LONGEST_FRAME)

    def encode(self, frame: Pcm) -> bytes:
        """Contents octet and speech data (RFC 4867 §5.3, the storage format) of one frame, (160,) int16."""
        self._samples[:] = frame
        size = self._encode(self._state, self._mode, self._samples_at, self._out, _SPEECH)
        return self._out.raw[:size]


class AmrDecoder:
    """One decoder.

    Args:
        library: from `amr_library`.
    """

    def __init__(self, library: ctypes.PyDLL) -> None:
        self._decode = library.Decoder_Interface_Decode
        self._state = ctypes.c_void_p(library.Decoder_Interface_init())
        weakref.finalize(self, library.Decoder_Interface_exit, self._state)
        self._samples = np.zeros(FRAME_SAMPLES, dtype=np.int16)
        self._samples_at = self._samples.ctypes.data

    def decode(self, frame: bytes) -> Pcm:
        """(160,) int16 of a contents octet and all the speech data that it announces: the library does not know how
        many bytes it was given, so whoever calls has looked."""
        self._decode(self._state, frame, self._samples_at, _GOOD)
        return self._samples.copy()


@cache
def amr_library() -> ctypes.PyDLL | None:
    """The library in av's wheel; None: not where wheels have it, or without these functions.

    Its calls keep the interpreter's lock. They take a tenth of a millisecond; to get the lock back from a busy thread
    could take five.
    """
    package = Path(av.__file__).parent
    for folder in (package.parent / "av.libs", package / ".dylibs"):  # of Linux and of macOS
        for path in sorted(folder.glob(_NAME)):
            try:
                return _declared(ctypes.PyDLL(str(path)))
            except (OSError, AttributeError):
                continue
    return None


def _declared(library: ctypes.PyDLL) -> ctypes.PyDLL:
    """The library with the types of its functions."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
        ("Encoder_Interface_init", pointer, [number]),
        ("Encoder_Interface_Encode", number, [pointer, number, pointer, ctypes.c_char_p, number]),
        ("Encoder_Interface_exit", None, [pointer]),
        ("Decoder_Interface_init", pointer, []),
        ("Decoder_Interface_Decode", None, [pointer, ctypes.c_char_p, pointer, number]),
        ("Decoder_Interface_exit", None, [pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
