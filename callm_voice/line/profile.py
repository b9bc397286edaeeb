"""A line profile: the parameters of one simulated phone line, from `audio_profiles/NAME.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from callm_voice.audio.codecs import CodecInfo, codec_catalogue
from callm_voice.core import paths
from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import line_of, load_model
from callm_voice.line.profile_parts import Microphone, Network, TandemCodec


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Band = Annotated[tuple[float, float], BeforeValidator(_as_tuple)]
"""Lower and upper edge in Hz."""


class LineProfile(BaseModel):
    """One line. Band, codec and network are the same in both directions, each with its own draws; the microphone is the
    caller's alone. All keys carry their unit."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """The file's name without `.yaml`."""
    title: str = Field(min_length=1)
    rate_hz: Literal[8000, 16000]
    """Of the line, both legs and the recording."""
    codec: str
    """RTP name of the codec at the caller's end: [codecs.md](codecs.md)."""
    codec_mode: str | None = None
    """Bit rate, by the codec's own name for it; null: the codec's default."""
    tandem: Annotated[tuple[TandemCodec, ...], BeforeValidator(_as_tuple), Field(max_length=3)] = ()
    """Codecs that follow on the way from the caller to the agent; the way back is the reverse."""
    band_hz: Band | None
    """Edges of the pass band, or null: whatever the rate carries."""
    gain_db: float = Field(default=0.0, ge=-40, le=20)
    """Change of level ahead of the band filter; what then exceeds full scale is clipped."""
    ptime_ms: Literal[20] = 20
    """Packet time; the line has no other."""
    microphone: Microphone | None = None
    """The caller's end; null: what the caller says goes into the line as it is."""
    network: Network | None = None
    """The packets' way; null: every packet arrives at once."""

    @field_validator("codec")
    @classmethod
    def _codec_at_this_rate(cls, codec: str, info: ValidationInfo) -> str:
        _check_codec(codec, info.data.get("rate_hz"))
        return codec

    @field_validator("codec_mode")
    @classmethod
    def _mode_of_the_codec(cls, mode: str | None, info: ValidationInfo) -> str | None:
        if "codec" in info.data:
            _check_mode(info.data["codec"], mode)
        return mode

    @field_validator("tandem")
    @classmethod
    def _tandem_at_this_rate(cls, tandem: tuple[TandemCodec, ...], info: ValidationInfo) -> tuple[TandemCodec, ...]:
        for further in tandem:
            _check_codec(further.codec, info.data.get("rate_hz"))
            _check_mode(further.codec, further.codec_mode)
        return tandem

    @field_validator("band_hz")
    @classmethod
    def _band_fits_the_rate(
        cls, band_hz: tuple[float, float] | None, info: ValidationInfo
    ) -> tuple[float, float] | None:
        nyquist_hz = info.data.get("rate_hz", 16_000) / 2
        if band_hz is not None and not 0 < band_hz[0] < band_hz[1] < nyquist_hz:
            raise PydanticCustomError(
                "band",
                "expected [low, high] in Hz with 0 < low < high < {nyquist} (half of rate_hz), found {found}",
                {"nyquist": f"{nyquist_hz:g}", "found": str(list(band_hz))},
            )
        return band_hz

    @property
    def frame_samples(self) -> int:
        """Samples in one packet."""
        return self.rate_hz * self.ptime_ms // 1000


def load_profile(name_or_path: str) -> LineProfile:
    """The profile with this name (the user's folder first, then the installed ones), or in this file.

    Raises:
        NotFoundError: neither such a file nor such a name; lists the known names.
        ConfigError: a key is unknown, missing, of the wrong type or out of range: names file, line and key.
    """
    path = paths.find("audio_profiles", name_or_path)
    profile = load_model(path, LineProfile)
    if profile.id != path.stem:
        raise ConfigError(path, "id", f"expected {path.stem!r}, the file's name", line=line_of(path, ["id"]))
    return profile


def all_profiles() -> list[LineProfile]:
    """Every profile that has a name here, by name.

    Raises:
        ConfigError: one of them is wrong.
    """
    return [load_profile(name) for name in paths.known_names("audio_profiles")]


def _check_codec(codec: str, rate_hz: int | None) -> None:
    info = _catalogue().get(codec)
    if info is None:
        known = ", ".join(_catalogue())
        raise PydanticCustomError("codec", "expected one of {known}; found {codec}", {"known": known, "codec": codec})
    if rate_hz is not None and rate_hz not in info.rates_hz:
        raise PydanticCustomError(
            "codec_rate",
            "{codec} is a codec of {wanted} Hz, but rate_hz is {found}",
            {"codec": codec, "wanted": " or ".join(str(r) for r in info.rates_hz), "found": rate_hz},
        )


def _check_mode(codec: str, mode: str | None) -> None:
    info = _catalogue().get(codec)
    if info is None or mode is None or mode in info.modes:
        return
    known = ", ".join(f"'{m}'" for m in info.modes)
    expected = f"one of {known}" if known else "null: it has one bit rate"
    raise PydanticCustomError(
        "codec_mode",
        "expected for {codec} {expected}; found {mode}",
        {"codec": codec, "expected": expected, "mode": mode},
    )


def _catalogue() -> dict[str, CodecInfo]:
    return {info.name: info for info in codec_catalogue()}
