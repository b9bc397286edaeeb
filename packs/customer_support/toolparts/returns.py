"""Returns and exchanges, and the exception when it is too late."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse, remember
from .goods import no_item, own_item


def list_returns(ctx: ToolContext) -> Envelope:
    """Returns and exchanges of the verified customer, newest first, with their ids."""
    if refusal := refuse(ctx, "orders"):
        return refusal
    found = ctx.rows(
        "SELECT returns.id AS return_id, order_item_id, products.name, color, kind, method, refund_cents,"
        " returns.status, opened_on FROM returns JOIN order_items ON order_items.id = order_item_id"
        " JOIN orders USING (order_number) JOIN products USING (sku) WHERE customer_id = ?"
        " ORDER BY opened_on DESC, returns.id DESC",
        ctx.session["customer_id"],
    )
    return ctx.ok({"returns": found})


def check_return(ctx: ToolContext, order_item_id: str) -> Envelope:
    """Whether an item can be returned or exchanged, until when, and what would be refunded. Writes nothing.

    Call it before you say that something can or cannot be returned. why_not: window_closed, not_returnable (a hygiene
    item), not_delivered, cancelled, or already_open.

    Args:
        order_item_id: Id of the item, from list_orders or get_order.
    """
    item = own_item(ctx, order_item_id)
    if item is None:
        return no_item(ctx)
    remember(ctx, "returns_checked", order_item_id)
    why = _why_no_return(ctx, item)
    until = _return_until(item)
    return ctx.ok(
        {
            "order_item_id": order_item_id,
            "item": f"{item['name']}, {item['color']}",
            "eligible": why is None,
            "why_not": why,
            "until": until.isoformat() if until else None,
            "refund_cents": item["paid_cents"] if why is None else 0,
        }
    )


def open_return(
    ctx: ToolContext,
    order_item_id: str,
    reason: Literal["defective", "wrong_item", "changed_mind"],
    method: Literal["mail", "store"],
) -> Envelope:
    """Open a return for a refund. Only after check_return said that it is eligible, and after a yes to item and way.

    Args:
        order_item_id: Id of the item.
        reason: defective: it does not work. wrong_item: we sent something else. changed_mind: anything else.
        method: mail: a prepaid label by email. store: the caller brings it to a Larkfield store.
    """
    return _open_return(ctx, order_item_id, "refund", None, reason, method)


def open_exchange(
    ctx: ToolContext,
    order_item_id: str,
    new_sku: str,
    reason: Literal["defective", "wrong_item", "changed_mind"],
    method: Literal["mail", "store"],
) -> Envelope:
    """Open an exchange for the same product, in the same or another color. Only after check_return and a yes.

    Args:
        order_item_id: Id of the item that comes back.
        new_sku: What they get, by its sku from list_products; the same product only.
        reason: As for open_return.
        method: As for open_return.
    """
    item, new = own_item(ctx, order_item_id), ctx.row("SELECT * FROM products WHERE sku = ?", new_sku)
    if item is not None and (new is None or new["name"] != item["name"]):
        skus = [r["sku"] for r in ctx.rows("SELECT sku FROM products WHERE name = ? ORDER BY sku", item["name"])]
        return ctx.fail("not_the_same_product", "I can only exchange it for the same product.", {"possible": skus})
    if new is not None and not new["in_stock"]:
        return ctx.fail("out_of_stock", "That one is out of stock right now.")
    return _open_return(ctx, order_item_id, "exchange", new_sku, reason, method)


def cancel_return(ctx: ToolContext, return_id: int) -> Envelope:
    """Call off a return or exchange whose item was not sent yet. Only after a yes to that item.

    Args:
        return_id: Id of the return, from list_returns.
    """
    if refusal := refuse(ctx, "orders"):
        return refusal
    found = ctx.row(
        "SELECT returns.id, returns.status FROM returns JOIN order_items ON order_items.id = order_item_id"
        " JOIN orders USING (order_number) WHERE returns.id = ? AND customer_id = ?",
        *(return_id, ctx.session["customer_id"]),
    )
    if found is None:
        return ctx.fail("return_unknown", "I don't see that return on your account. Let me look again.")
    if found["status"] not in ("open", "cancelled"):
        return ctx.fail("return_received", "We already have that item back, so the return can't be called off.")
    ctx.run("UPDATE returns SET status = 'cancelled' WHERE id = ?", return_id)
    return ctx.ok({"return_id": return_id, "status": "cancelled"})


def request_return_exception(ctx: ToolContext, order_item_id: str, reason: str) -> Envelope:
    """Ask the returns team to take an item back after its window has closed. They decide; promise nothing.

    Only after check_return said window_closed, and only if the caller wants it.

    Args:
        order_item_id: Id of the item.
        reason: In one sentence, why the caller asks.
    """
    item = own_item(ctx, order_item_id)
    if item is None:
        return no_item(ctx)
    if order_item_id not in ctx.session["returns_checked"]:
        return ctx.fail("check_return_first", "Let me check the return window first.")
    if _why_no_return(ctx, item) != "window_closed":
        return ctx.fail("no_exception_needed", "An exception isn't what is needed for that item.")
    if not reason.strip():
        return ctx.fail("reason_empty", "What should I tell the team?")
    if not ctx.row("SELECT 1 FROM return_exceptions WHERE order_item_id = ?", order_item_id):
        ctx.run(
            "INSERT INTO return_exceptions (order_item_id, reason, asked_on) VALUES (?, ?, ?)",
            *(order_item_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"exception": "asked", "order_item_id": order_item_id, "answer_within_days": 5})


def list_products(ctx: ToolContext, name: str | None = None) -> Envelope:
    """Products with sku, color, price in cents and whether they are in stock. Public.

    Args:
        name: Only products whose name contains this, such as "speaker".
    """
    found = (
        ctx.rows(
            "SELECT sku, name, color, price_cents, in_stock FROM products WHERE instr(lower(name), lower(?)) > 0"
            " ORDER BY name, color",
            name or "",
        )
        if name
        else ctx.rows("SELECT sku, name, color, price_cents, in_stock FROM products ORDER BY name, color")
    )
    return ctx.ok({"products": [{**p, "in_stock": bool(p["in_stock"])} for p in found]})


def _return_until(item: Row) -> dt.date | None:
    if item["delivered_on"] is None or not item["return_days"]:
        return None
    return dt.date.fromisoformat(item["delivered_on"]) + dt.timedelta(days=item["return_days"])


def _why_no_return(ctx: ToolContext, item: Row) -> str | None:
    """Why an item cannot be returned, as a code; None if it can."""
    if item["status"] == "cancelled":
        return "cancelled"
    if item["delivered_on"] is None:
        return "not_delivered"
    until = _return_until(item)
    if until is None:
        return "not_returnable"
    if ctx.row("SELECT 1 FROM returns WHERE order_item_id = ? AND status <> 'cancelled'", item["id"]):
        return "already_open"
    return "window_closed" if ctx.now.date() > until else None


def _open_return(
    ctx: ToolContext, order_item_id: str, kind: str, new_sku: str | None, reason: str, method: str
) -> Envelope:
    """Write a return or an exchange, if the item can come back."""
    item = own_item(ctx, order_item_id)
    if item is None:
        return no_item(ctx)
    if order_item_id not in ctx.session["returns_checked"]:
        return ctx.fail("check_return_first", "Let me check whether that can be returned.")
    refund = item["paid_cents"] if kind == "refund" else 0
    same = ctx.row(
        "SELECT id FROM returns WHERE order_item_id = ? AND kind = ? AND new_sku IS ? AND reason = ? AND method = ?"
        " AND opened_on = ? AND status = 'open'",
        *(order_item_id, kind, new_sku, reason, method, ctx.now.date()),
    )
    if same is None:
        why = _why_no_return(ctx, item)
        if why is not None:
            return ctx.fail(why, "That item can't be returned. I can tell you what else is possible.")
        ctx.run(
            "INSERT INTO returns (order_item_id, kind, new_sku, reason, method, refund_cents, status, opened_on)"
            " VALUES (?, ?, ?, ?, ?, ?, 'open', ?)",
            *(order_item_id, kind, new_sku, reason, method, refund, ctx.now.date()),
        )
    return ctx.ok({"order_item_id": order_item_id, "kind": kind, "method": method, "refund_cents": refund})
