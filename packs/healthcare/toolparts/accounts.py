"""Open charges, and whose they are."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, verified
from .kinds import Row

OPEN_ITEMS = """
    SELECT item.id AS line_item_id, item.description,
           item.amount_cents - coalesce((SELECT sum(amount_cents) FROM payments WHERE line_item_id = item.id), 0)
               AS amount_cents
    FROM line_items AS item
    WHERE item.patient_id = ? AND item.status = 'open'
    ORDER BY item.posted_on, item.id
"""


def own_item(ctx: ToolContext, line_item_id: str) -> Row | None:
    return ctx.row("SELECT * FROM line_items WHERE id = ? AND patient_id = ?", line_item_id, ctx.session["patient_id"])


def no_item(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("charge_unknown", "I don't see that charge on your account. Let me look at your balance again.")
