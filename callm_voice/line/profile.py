"""A line profile: the parameters of one simulated phone line, from `audio_profiles/NAME.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from callm_voice.core import paths
from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import line_of, load_model

_G711_RATE_HZ = 8000


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Band = Annotated[tuple[float, float], BeforeValidator(_as_tuple)]
"""Lower and upper edge in Hz."""


class LineProfile(BaseModel):
    """One line, the same in both directions. All keys carry their unit."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """The file's name without `.yaml`."""
    title: str = Field(min_length=1)
    rate_hz: Literal[8000, 16000]
    """Of the line, both legs and the recording."""
    codec: Literal["l16", "pcmu", "pcma"]
    """RTP name: linear, G.711 µ-law, G.711 A-law."""
    band_hz: Band | None
    """Edges of the pass band, or null: whatever the rate carries."""
    gain_db: float = Field(default=0.0, ge=-40, le=20)
    """Change of level ahead of the band filter; what then exceeds full scale is clipped."""
    ptime_ms: Literal[20] = 20
    """Packet time; the line has no other."""

    @field_validator("codec")
    @classmethod
    def _g711_is_narrowband(cls, codec: str, info: ValidationInfo) -> str:
        rate_hz = info.data.get("rate_hz")
        if codec != "l16" and rate_hz not in (None, _G711_RATE_HZ):
            raise PydanticCustomError(
                "codec_rate",
                "{codec} is a codec of {wanted} Hz, but rate_hz is {found}",
                {"codec": codec, "wanted": _G711_RATE_HZ, "found": rate_hz},
            )
        return codec

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
