"""The packet leg of one call (`--leg packets`), opened between the two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callm_voice.bench.sides import CallContext, CallerSide
from callm_voice.core.errors import MissingDependencyError
from callm_voice.core.ids import derive_seed

if TYPE_CHECKING:
    from callm_voice.pipeline.packet_leg import PacketLeg


async def open_packets(ctx: CallContext, caller: CallerSide) -> PacketLeg | None:
    """Connected, and closed by the call's stack; None: this call goes without.

    Raises:
        MissingDependencyError: aiortc is not installed.
        RtcError: the two ends do not come together.
    """
    if ctx.resolved.spec.leg != "packets":
        return None
    try:
        from callm_voice.pipeline.packet_leg import PacketLeg
    except ModuleNotFoundError as error:
        raise MissingDependencyError("aiortc", "live") from error
    ctx.on_progress("connecting caller and agent by WebRTC")
    leg = PacketLeg(
        ctx.profile,
        ctx.clock,
        derive_seed(ctx.resolved.spec.seed, "line"),
        pressed=lambda: getattr(caller.leg, "key", None),
        on_error=ctx.control.fail,
    )
    with ctx.clock.busy("load"):  # what waits for the kernel is no idle time
        await leg.connect(ctx.stack)
    return leg
