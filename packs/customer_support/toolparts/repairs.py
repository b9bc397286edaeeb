"""Devices, their warranty and their repairs: one open repair a device."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse, remember

REPAIRS_BEFORE_REPLACEMENT = 3


def list_devices(ctx: ToolContext) -> Envelope:
    """Devices registered to the verified customer, with serial number and the end of the warranty."""
    if refusal := refuse(ctx, "repairs"):
        return refusal
    found = ctx.rows(
        "SELECT serial, name, color, bought_on, warranty_until FROM devices JOIN products USING (sku)"
        " WHERE customer_id = ? ORDER BY bought_on DESC, serial",
        ctx.session["customer_id"],
    )
    return ctx.ok({"devices": found})


def check_device(ctx: ToolContext, serial: str) -> Envelope:
    """Warranty, price of a repair and earlier repairs of one device, with their ids.

    Call it before you open, change or cancel a repair, and before you say whether something is covered.

    Args:
        serial: Serial number: eight digits, without spaces or dashes.
    """
    if refusal := refuse(ctx, "repairs"):
        return refusal
    if len(serial) != 8 or not (serial.isascii() and serial.isdigit()):
        return ctx.fail("serial_form", "Could you read me the eight digits of the serial number?")
    device = _own_device(ctx, serial)
    if device is None:
        return ctx.fail("serial_unknown", "I don't see that serial number on your account. Could you read it again?")
    remember(ctx, "devices_checked", serial)
    covered = device["warranty_until"] >= ctx.now.date().isoformat()
    return ctx.ok(
        {
            "serial": serial,
            "device": f"{device['name']}, {device['color']}",
            "warranty_until": device["warranty_until"],
            "under_warranty": covered,
            "repair_cost_cents": 0 if covered else device["repair_quote_cents"],
            "repairs": ctx.rows(
                "SELECT id AS repair_id, opened_on, mode, status FROM repairs WHERE serial = ? ORDER BY id DESC", serial
            ),
        }
    )


def open_repair(
    ctx: ToolContext, serial: str, problem: str, mode: Literal["mail_in", "store"], quote_accepted: bool = False
) -> Envelope:
    """Open a repair. Only after check_device, and after a yes to device and way. One open repair a device.

    Args:
        serial: Eight digits, from check_device.
        problem: What is wrong, in the caller's words.
        mode: mail_in: a prepaid box by post. store: the caller brings it to a Larkfield store.
        quote_accepted: True only out of warranty, after the caller has heard the price and said yes to it.
    """
    if refusal := _unchecked_device(ctx, serial):
        return refusal
    device = _own_device(ctx, serial) or {}
    if not problem.strip():
        return ctx.fail("problem_empty", "What is wrong with it?")
    going = ctx.row("SELECT * FROM repairs WHERE serial = ? AND status IN ('open', 'in_workshop')", serial)
    today = ctx.now.date().isoformat()
    if going and (going["mode"], going["opened_on"]) == (mode, today):
        return ctx.ok({"repair_id": going["id"], "mode": mode, "cost_cents": going["cost_cents"], "status": "open"})
    if going:
        shown = {"repair_id": going["id"], "mode": going["mode"], "status": going["status"]}
        return ctx.fail("repair_open", "There is already an open repair for that device.", shown)
    cost = 0 if device["warranty_until"] >= today else device["repair_quote_cents"]
    if cost is None:
        return ctx.fail("not_repairable", "That device is out of warranty, and we don't repair that model.")
    if cost and not quote_accepted:
        return ctx.fail("quote_not_accepted", "It is out of warranty, so I need your yes to the price first.")
    repair_id = ctx.run(
        "INSERT INTO repairs (serial, problem, mode, cost_cents, status, opened_on) VALUES (?, ?, ?, ?, 'open', ?)",
        *(serial, problem.strip(), mode, cost, today),
    )
    return ctx.ok({"repair_id": repair_id, "mode": mode, "cost_cents": cost, "status": "open"})


def change_repair_mode(ctx: ToolContext, repair_id: int, mode: Literal["mail_in", "store"]) -> Envelope:
    """Change how an open repair comes to us, before the device is in the workshop.

    Args:
        repair_id: Id of the repair, from check_device.
        mode: As for open_repair.
    """
    repair = _own_repair(ctx, repair_id)
    if repair is None:
        return _no_repair(ctx)
    if repair["status"] != "open":
        return ctx.fail("in_workshop", "It is already in the workshop, so that can't be changed any more.")
    ctx.run("UPDATE repairs SET mode = ? WHERE id = ?", mode, repair_id)
    return ctx.ok({"repair_id": repair_id, "mode": mode, "status": "open"})


def cancel_repair(ctx: ToolContext, repair_id: int) -> Envelope:
    """Call off an open repair before the device is in the workshop. Only after a yes to that device.

    Args:
        repair_id: Id of the repair, from check_device.
    """
    repair = _own_repair(ctx, repair_id, also=("cancelled",))
    if repair is None:
        return _no_repair(ctx)
    if repair["status"] == "in_workshop":
        return ctx.fail("in_workshop", "It is already in the workshop, so it can't be called off any more.")
    ctx.run("UPDATE repairs SET status = 'cancelled' WHERE id = ?", repair_id)
    return ctx.ok({"repair_id": repair_id, "status": "cancelled"})


def request_replacement_review(ctx: ToolContext, serial: str, reason: str) -> Envelope:
    """Ask the care team for a new device after three finished repairs of the same one. They decide; promise nothing.

    Only after check_device, and only if the caller wants it.

    Args:
        serial: Eight digits, from check_device.
        reason: In one sentence, what keeps failing.
    """
    if refusal := _unchecked_device(ctx, serial):
        return refusal
    done = ctx.rows("SELECT id FROM repairs WHERE serial = ? AND status = 'done'", serial)
    if len(done) < REPAIRS_BEFORE_REPLACEMENT:
        return ctx.fail("too_few_repairs", "A replacement is looked at after three repairs. I can open a repair.")
    if not reason.strip():
        return ctx.fail("reason_empty", "What keeps going wrong with it?")
    if not ctx.row("SELECT 1 FROM replacement_reviews WHERE serial = ?", serial):
        ctx.run(
            "INSERT INTO replacement_reviews (serial, reason, asked_on) VALUES (?, ?, ?)",
            *(serial, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"review": "asked", "serial": serial, "answer_within_days": 5})


def _own_device(ctx: ToolContext, serial: str) -> Row | None:
    return ctx.row(
        "SELECT devices.*, name, color, repair_quote_cents FROM devices JOIN products USING (sku)"
        " WHERE serial = ? AND customer_id = ?",
        *(serial, ctx.session["customer_id"]),
    )


def _unchecked_device(ctx: ToolContext, serial: str) -> Envelope | None:
    """Refuse a write about a device that was not looked up in this call."""
    if refusal := refuse(ctx, "repairs"):
        return refusal
    if serial in ctx.session["devices_checked"]:
        return None
    return ctx.fail("check_device_first", "Let me look that device up first.")


def _own_repair(ctx: ToolContext, repair_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """A repair of one of the customer's devices that is not over, or None."""
    if refuse(ctx, "repairs"):
        return None
    found = ctx.row(
        "SELECT repairs.* FROM repairs JOIN devices USING (serial) WHERE repairs.id = ? AND customer_id = ?",
        *(repair_id, ctx.session["customer_id"]),
    )
    return found if found and found["status"] in ("open", "in_workshop", *also) else None


def _no_repair(ctx: ToolContext) -> Envelope:
    refusal = refuse(ctx, "repairs")
    return refusal or ctx.fail("repair_unknown", "I don't see that repair among your open ones. Let me look again.")
