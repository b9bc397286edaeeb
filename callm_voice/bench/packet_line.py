"""Which calls can go over real packets (`--leg packets`)."""

from __future__ import annotations

from callm_voice.bench.callspec import CallSpec
from callm_voice.core.errors import UsageError
from callm_voice.core.record import PERSON
from callm_voice.line.profile import LineProfile, all_profiles

PACKET_CODECS = frozenset({"pcmu", "pcma", "g722", "opus"})
"""What a WebRTC connection carries (RFC 7874 §3, and G.722 by RFC 3551)."""


def check_packets(spec: CallSpec, profile: LineProfile) -> None:
    """Refuse a call that asks for packets and cannot have them.

    Raises:
        UsageError: says why, and what can be chosen.
    """
    if spec.agent is not None:
        raise UsageError("--leg packets is a way to our own agent; one that runs elsewhere has a way of its own")
    if spec.caller == PERSON:
        raise UsageError("--leg packets: a person's call goes over packets of its own")
    if profile.codec not in PACKET_CODECS:
        able = ", ".join(p.id for p in all_profiles() if p.codec in PACKET_CODECS)
        raise UsageError(
            f"--leg packets: {profile.id} uses {profile.codec}, which a WebRTC connection does not carry",
            hint=f"these lines can: {able}",
        )
