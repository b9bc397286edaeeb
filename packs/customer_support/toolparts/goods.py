"""Orders and their items, as orders and returns both see them."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse


def items_of(ctx: ToolContext, order_number: str) -> list[Row]:
    """The items of an order, as they are shown."""
    return ctx.rows(
        "SELECT order_items.id AS order_item_id, name, color, paid_cents, status FROM order_items"
        " JOIN products USING (sku) WHERE order_number = ? ORDER BY order_items.id",
        order_number,
    )


def own_order(ctx: ToolContext, order_number: str) -> Row | None:
    """An order of the verified customer's, or None."""
    return ctx.row(
        "SELECT * FROM orders WHERE order_number = ? AND customer_id = ?", order_number, ctx.session["customer_id"]
    )


def own_item(ctx: ToolContext, order_item_id: str) -> Row | None:
    """An item of the verified customer's with its product, order status and day of delivery, or None."""
    if refuse(ctx, "orders"):
        return None
    return ctx.row(
        "SELECT order_items.*, orders.status AS order_status, products.name, color, return_days,"
        " (SELECT delivered_on FROM shipments WHERE shipments.order_number = orders.order_number) AS delivered_on"
        " FROM order_items JOIN orders USING (order_number) JOIN products USING (sku)"
        " WHERE order_items.id = ? AND customer_id = ?",
        *(order_item_id, ctx.session["customer_id"]),
    )


def no_item(ctx: ToolContext) -> Envelope:
    """Why own_item found nothing."""
    refusal = refuse(ctx, "orders")
    return refusal or ctx.fail("item_unknown", "I don't see that item on your account. Let me look again.")
