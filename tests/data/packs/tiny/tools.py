"""The tools of the tiny pack: every kind of argument once, and one tool that breaks half way."""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Any, Literal

from callm_voice.desk.toolkit import Name, Phone, ToolContext


def find_customer(ctx: ToolContext, full_name: Annotated[str, Name], mobile: Annotated[str, Phone]) -> dict[str, Any]:
    """Find the caller in the customer list and remember who is calling.

    Args:
        full_name: first and last name of the caller.
        mobile: the caller's mobile number.
    """
    row = ctx.row("SELECT id FROM customers WHERE lower(name) = lower(?) AND mobile = ?", full_name, mobile)
    if row is None:
        ctx.run("INSERT INTO attempts (name, mobile, at) VALUES (?, ?, ?)", full_name, mobile, ctx.now)
        return ctx.fail("not_found", "I could not find you with these details.")
    ctx.session["customer_id"] = row["id"]
    return ctx.ok({"customer_id": row["id"]})


def list_orders(ctx: ToolContext) -> dict[str, Any]:
    """List the orders of the caller."""
    return ctx.ok({"orders": ctx.rows("SELECT * FROM orders WHERE customer_id = ?", ctx.session["customer_id"])})


def place_order(
    ctx: ToolContext,
    item: Literal["sourdough", "challah"],
    day: dt.date,
    quantity: int = 1,
    pickup: dt.time | None = None,
    notes: list[str] | None = None,
    gift: bool = False,
) -> dict[str, Any]:
    """Write an order for the caller.

    Args:
        item: what is ordered.
        day: the day of the pickup.
        quantity: how many loaves.
        pickup: the time of the pickup.
        notes: wishes in the caller's words.
        gift: whether it is wrapped.
    """
    if ctx.session["customer_id"] is None:
        return ctx.fail("not_identified", "May I have your name and number first?")
    number = ctx.run(
        "INSERT INTO orders (customer_id, item, quantity, day, pickup, notes, gift) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ctx.session["customer_id"], item, quantity, day, pickup, json.dumps(notes or []), gift,
    )  # fmt: skip
    return ctx.ok({"order_id": number, "day": day})


def quote(ctx: ToolContext, at: dt.datetime, discount: float = 0.0, language: str = "en") -> dict[str, Any]:
    """Quote a loaf's price at a moment.

    Args:
        at: when the loaf is fetched.
        discount: part of the price that is taken off, 0 to 1.
        language: the language of the answer.
    """
    return ctx.ok({"at": at, "price_cents": round(600 * (1 - discount)), "language": language})


def break_half_way(ctx: ToolContext) -> dict[str, Any]:
    """Write a row and change the session, then fail."""
    ctx.run("DELETE FROM orders")
    ctx.session["customer_id"] = 99
    ctx.run("INSERT INTO orders (customer_id, item, quantity, day) VALUES (99, 'challah', 1, '2026-08-20')")
    return ctx.ok()
