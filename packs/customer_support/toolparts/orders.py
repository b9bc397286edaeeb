"""Orders and deliveries: find, cancel, send elsewhere, trace, stop."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import own_address, own_addresses, refuse, remember, unknown_address
from .goods import items_of, no_item, own_item, own_order


def list_orders(ctx: ToolContext, max_results: int = 5) -> Envelope:
    """Orders of the verified customer, newest first, with what is in them and the ids of the items.

    Args:
        max_results: How many orders at most, 1 to 20.
    """
    if refusal := refuse(ctx, "orders"):
        return refusal
    found = ctx.rows(
        "SELECT order_number, placed_on, status FROM orders WHERE customer_id = ?"
        " ORDER BY placed_on DESC, order_number LIMIT ?",
        *(ctx.session["customer_id"], min(max(max_results, 1), 20)),
    )
    return ctx.ok({"orders": [{**order, "items": items_of(ctx, order["order_number"])} for order in found]})


def get_order(ctx: ToolContext, order_number: str) -> Envelope:
    """One order of the verified customer: items, where it goes, shipment, and what was already asked for.

    Read it before you change anything about the order.

    Args:
        order_number: Six digits, without spaces or dashes.
    """
    if refusal := refuse(ctx, "orders"):
        return refusal
    if len(order_number) != 6 or not (order_number.isascii() and order_number.isdigit()):
        return ctx.fail("order_number_form", "Could you give me the six digits of the order number?")
    order = own_order(ctx, order_number)
    if order is None:
        return ctx.fail("order_unknown", "I don't see that order number on your account. Could you read it once more?")
    remember(ctx, "orders_read", order_number)
    return ctx.ok(
        {
            "order_number": order_number,
            "placed_on": order["placed_on"],
            "status": order["status"],
            "ships_to": ctx.row("SELECT id, label, city FROM addresses WHERE id = ?", order["address_id"]),
            "items": items_of(ctx, order_number),
            "shipment": ctx.row(
                "SELECT carrier, status, expected_on, delivered_on, left_at FROM shipments WHERE order_number = ?",
                order_number,
            ),
            "trace": ctx.row("SELECT problem, opened_on FROM delivery_traces WHERE order_number = ?", order_number),
            "intercept": ctx.row("SELECT status, asked_on FROM intercepts WHERE order_number = ?", order_number),
        }
    )


def list_addresses(ctx: ToolContext) -> Envelope:
    """Addresses that an order can go to, with their ids. Say the label and the street, not the ids."""
    if refusal := refuse(ctx, "orders"):
        return refusal
    return ctx.ok({"addresses": own_addresses(ctx)})


def cancel_order_item(ctx: ToolContext, order_item_id: str) -> Envelope:
    """Cancel one item of an order that is still processing; the others stay.

    Only after get_order, and after a yes to that item.

    Args:
        order_item_id: Id of the item, from get_order.
    """
    item = own_item(ctx, order_item_id)
    if item is None:
        return no_item(ctx)
    if refusal := _unread_order(ctx, item["order_number"]):
        return refusal
    if item["status"] != "cancelled":
        if item["order_status"] != "processing":
            return ctx.fail("already_shipped", "That has already left our warehouse, so I can't cancel it any more.")
        ctx.run("UPDATE order_items SET status = 'cancelled' WHERE id = ?", order_item_id)
        if not ctx.row("SELECT 1 FROM order_items WHERE order_number = ? AND status = 'ordered'", item["order_number"]):
            ctx.run("UPDATE orders SET status = 'cancelled' WHERE order_number = ?", item["order_number"])
    return ctx.ok({"order_item_id": order_item_id, "status": "cancelled", "refund_cents": item["paid_cents"]})


def change_delivery_address(ctx: ToolContext, order_number: str, address_id: str) -> Envelope:
    """Send an order that is still processing to another address on file. Only after get_order and a read-back.

    Args:
        order_number: Six digits.
        address_id: Id of the address, from list_addresses or get_account.
    """
    if refusal := _unread_order(ctx, order_number):
        return refusal
    order = own_order(ctx, order_number)
    address = own_address(ctx, address_id)
    if address is None or order is None:
        return unknown_address(ctx)
    if order["address_id"] != address_id:
        if order["status"] != "processing":
            return ctx.fail("already_shipped", "That has already left our warehouse, so its address is fixed.")
        ctx.run("UPDATE orders SET address_id = ? WHERE order_number = ?", address_id, order_number)
    return ctx.ok({"order_number": order_number, "ships_to": address["label"], "street": address["street"]})


def open_delivery_trace(
    ctx: ToolContext, order_number: str, problem: Literal["not_received", "late", "damaged"]
) -> Envelope:
    """Have the carrier look into a delivery. Only after get_order.

    Args:
        order_number: Six digits.
        problem: not_received: marked as delivered, but not there. late: the expected day has passed and it is not
            delivered. damaged: the parcel arrived broken.
    """
    if refusal := _unread_order(ctx, order_number):
        return refusal
    parcel = ctx.row("SELECT status, expected_on FROM shipments WHERE order_number = ?", order_number)
    delivered = parcel is not None and parcel["status"] == "delivered"
    if parcel is None or (problem != "late" and not delivered):
        return ctx.fail("not_delivered_yet", "It isn't marked as delivered yet, so there is nothing to trace.")
    if problem == "late" and (delivered or parcel["expected_on"] >= ctx.now.date().isoformat()):
        return ctx.fail("not_late_yet", "The expected day hasn't passed yet, so I can't open a search for it.")
    known = ctx.row("SELECT problem FROM delivery_traces WHERE order_number = ?", order_number)
    if known is None:
        ctx.run(
            "INSERT INTO delivery_traces (order_number, problem, opened_on) VALUES (?, ?, ?)",
            *(order_number, problem, ctx.now.date()),
        )
    return ctx.ok({"trace": "open", "problem": known["problem"] if known else problem, "answer_within_days": 3})


def request_intercept(ctx: ToolContext, order_number: str) -> Envelope:
    """Ask the carrier to stop a parcel that is on its way and send it back. Not certain; the refund follows if caught.

    Only after get_order, and after the caller heard that it may not work.

    Args:
        order_number: Six digits.
    """
    if refusal := _unread_order(ctx, order_number):
        return refusal
    parcel = ctx.row("SELECT status FROM shipments WHERE order_number = ?", order_number)
    if parcel is None:
        return ctx.fail("not_shipped", "That hasn't shipped yet, so it can simply be cancelled.")
    if parcel["status"] not in ("label_made", "in_transit"):
        return ctx.fail("too_late", "That parcel is too close to the door to be stopped. You can return it instead.")
    if not ctx.row("SELECT 1 FROM intercepts WHERE order_number = ?", order_number):
        ctx.run(
            "INSERT INTO intercepts (order_number, asked_on, status) VALUES (?, ?, 'asked')",
            *(order_number, ctx.now.date()),
        )
    return ctx.ok({"order_number": order_number, "intercept": "asked"})


def _unread_order(ctx: ToolContext, order_number: str) -> Envelope | None:
    """Refuse a write about an order that was not read in this call."""
    if refusal := refuse(ctx, "orders"):
        return refusal
    if order_number in ctx.session["orders_read"]:
        return None
    return ctx.fail("read_order_first", "Let me open that order first.")
