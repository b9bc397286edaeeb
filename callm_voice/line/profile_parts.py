"""Parts of a line profile: the caller's microphone, the packet network, codecs in a row. All keys carry their unit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from callm_voice.line.loss import transitions
from callm_voice.line.noise import NoiseKind

MAX_BUFFER_MS = 240
"""Sound is looked for on the recording up to 300 ms after its event (`probes.spans.LINE_SLACK_MS`)."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class TandemCodec(_Part):
    """One more codec on the way, on a leg of the network that loses nothing."""

    codec: str
    """RTP name."""
    codec_mode: str | None = None
    """Bit rate, by the codec's own name for it; null: the codec's default."""


class Noise(_Part):
    """Noise around the caller."""

    kind: NoiseKind
    """`street`: rumble and passing vehicles. `cafe`: other guests, room, cups. `car`: engine, wind and tyres. `pink`:
    no place, a reference."""
    snr_db: float = Field(ge=-10, le=60)
    """Active speech level (ITU-T P.56) over the mean level of the noise, both in the line's band."""


class Speakerphone(_Part):
    """The caller talks to a hands-free telephone in a room."""

    reverberation_ms: float = Field(ge=50, le=2000)
    """Time in which the room's sound dies away by 60 dB."""
    direct_db: float = Field(ge=-20, le=30)
    """Level of the direct sound over the room's."""
    echo_loss_db: float | None = Field(default=None, ge=6, le=80)
    """How much weaker the agent hears its own voice than the caller does; null: all echo is cancelled."""
    echo_delay_ms: float = Field(default=60.0, ge=20, le=500)
    """From the caller's loudspeaker to its microphone, the 20 ms of a packet included."""


class Microphone(_Part):
    """The caller's end. The agent has none: its voice is made where the line begins."""

    speech_dbov: float = Field(default=-26.0, ge=-50, le=-10)
    """Active level (ITU-T P.56) that the caller's speech is brought to, in the line's band."""
    gain_error_db: float = Field(default=0.0, ge=0, le=20)
    """Speech and noise are louder or weaker than they should be by up to this, drawn once a call."""
    noise: Noise | None = None
    """null: a quiet place."""
    speakerphone: Speakerphone | None = None
    """null: a handset."""


class IndependentLoss(_Part):
    """Each packet is lost or not by its own draw."""

    kind: Literal["independent"]
    rate_percent: float = Field(gt=0, le=50)
    """Share of packets that never arrive."""


class GilbertElliottLoss(_Part):
    """Losses come in bursts: a two-state chain, see `line/loss.py`."""

    kind: Literal["gilbert_elliott"]
    rate_percent: float = Field(gt=0, le=50)
    """Share of packets that never arrive."""
    mean_burst_packets: float = Field(ge=1, le=100)
    """Mean number of packets that are lost in a row."""

    @model_validator(mode="after")
    def _there_is_such_a_chain(self) -> GilbertElliottLoss:
        try:
            transitions(self.rate_percent / 100, self.mean_burst_packets)
        except ValueError as error:
            raise PydanticCustomError("loss", "{why}", {"why": str(error)}) from error
        return self


class GammaJitterSpec(_Part):
    """Most packets are quick, some are much later: a gamma distribution."""

    kind: Literal["gamma"]
    mean_ms: float = Field(gt=0, le=500)
    """Of the delay over the quickest way."""
    sd_ms: float = Field(gt=0, le=500)
    """Standard deviation of the delay."""


class UniformJitterSpec(_Part):
    """Any delay up to a bound."""

    kind: Literal["uniform"]
    max_ms: float = Field(gt=0, le=500)
    """Of the delay over the quickest way."""


class Spikes(_Part):
    """Now and then one packet is held back, and those behind it queue."""

    height_ms: float = Field(gt=0, le=1000)
    """How long it is held back."""
    per_min: float = Field(gt=0, le=600)
    """How often, in the mean."""


class FixedBuffer(_Part):
    """A jitter buffer of one depth: what comes later than that is lost."""

    kind: Literal["fixed"]
    depth_ms: int = Field(ge=0, le=MAX_BUFFER_MS, multiple_of=20)
    """Time from a packet's earliest arrival to its playing."""


class AdaptiveBuffer(_Part):
    """A jitter buffer that grows when it runs empty and shrinks in silence."""

    kind: Literal["adaptive"]
    min_ms: int = Field(ge=0, le=MAX_BUFFER_MS, multiple_of=20)
    """Least time from a packet's earliest arrival to its playing; the call begins with it."""
    max_ms: int = Field(ge=20, le=MAX_BUFFER_MS, multiple_of=20)
    """Greatest one: what comes later than that is lost."""

    @model_validator(mode="after")
    def _in_order(self) -> AdaptiveBuffer:
        if self.min_ms >= self.max_ms:
            raise PydanticCustomError("buffer", "expected min_ms < max_ms (equal: kind fixed)", {})
        return self


class Network(_Part):
    """The packets of `codec`, between the caller and the network's core, in both directions alike."""

    loss: Annotated[IndependentLoss | GilbertElliottLoss, Field(discriminator="kind")] | None = None
    """null: every packet arrives."""
    jitter: Annotated[GammaJitterSpec | UniformJitterSpec, Field(discriminator="kind")] | None = None
    """How late packets are; they stay in order. null: all are as quick as the quickest."""
    spikes: Spikes | None = None
    """null: none."""
    buffer: Annotated[FixedBuffer | AdaptiveBuffer, Field(discriminator="kind")]
    """The receiver's jitter buffer."""
    concealment: Literal["codec", "pitch", "silence"] = "codec"
    """What stands in for a missing packet. `codec`: the codec's own concealment, or `pitch` where it has none. `pitch`:
    the last pitch period goes on and fades within 60 ms (after ITU-T G.711 Appendix I). `silence`: nothing."""
