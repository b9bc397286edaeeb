"""The tools of the calibration pack: one look-up and three writes."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from callm_voice.desk.toolkit import ToolContext


def find_parcel(ctx: ToolContext, slip: str) -> dict[str, Any]:
    """Find a parcel by the number on its slip.

    Args:
        slip: the number on the slip, digits only.
    """
    row = ctx.row("SELECT slip, arrived, price_cents FROM parcels WHERE slip = ?", slip)
    return ctx.fail("not_found", "I have no parcel with this number.") if row is None else ctx.ok(row)


def plan_delivery(ctx: ToolContext, slip: str, day: dt.date, part: Literal["morning", "afternoon"]) -> dict[str, Any]:
    """Put a parcel on the list of a tour.

    Args:
        slip: the number on the slip, digits only.
        day: the day of the tour.
        part: the part of the day.
    """
    ctx.run("INSERT INTO deliveries (slip, day, part) VALUES (?, ?, ?)", slip, day, part)
    return ctx.ok({"slip": slip, "day": day, "part": part})


def note_payment(ctx: ToolContext, slip: str, method: Literal["card", "cash"]) -> dict[str, Any]:
    """Note how a delivery will be paid.

    Args:
        slip: the number on the slip, digits only.
        method: how it is paid at the door.
    """
    ctx.run("INSERT INTO payments (slip, method) VALUES (?, ?)", slip, method)
    return ctx.ok({"slip": slip, "method": method})


def open_locker(ctx: ToolContext, slip: str, pin: str) -> dict[str, Any]:
    """Open the locker that holds a parcel.

    Args:
        slip: the number on the slip, digits only.
        pin: the PIN that the caller entered, digits only, without the pound key.
    """
    if ctx.row("SELECT slip FROM lockers WHERE slip = ? AND pin = ?", slip, pin) is None:
        return ctx.fail("wrong_pin", "That PIN does not open the locker.")
    ctx.run("INSERT INTO openings (slip) VALUES (?)", slip)
    return ctx.ok({"slip": slip, "open": True})
