"""The tools of Larkfield's support desk, in the order of the roles that use them.

What policy asks, the tools enforce: nothing of an account without a verified caller, nothing that an authorized person
may not do, no write about something that was not read in this call, return windows, the limit of a credit (a review is
recorded instead), one open repair a device, a plan change only with the date that was quoted. Reading tools write
nothing. A write that is repeated answers as the first did.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from typing import Annotated, Any, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

MAX_FAILED_CHECKS = 3
CREDIT_LIMIT_CENTS = 5_000
EARLY_CHANGE_FEE_CENTS = 6_000
PAYMENT_GRACE_DAYS = 14
REPAIRS_BEFORE_REPLACEMENT = 3
OUTAGE_CREDIT_DAYS = 60
"""Outages that ended longer ago than this are not credited."""

Row = dict[str, Any]
Area = Literal["account", "orders", "repairs", "service", "money"]
Topic = Literal["account_access", "plan_change", "outage_report", "complaint", "sales", "other"]
FactTopic = Literal[
    "returns",
    "exchanges",
    "delivery",
    "warranty",
    "before_repair",
    "technician_visit",
    "outage_credit",
    "billing_cycle",
    "contract_terms",
    "payment_methods",
    "stores",
]
TEAM_OF: dict[str, str] = {
    "account_access": "accounts",
    "plan_change": "accounts",
    "outage_report": "network",
    "complaint": "care",
}
"""Topic of a message → who reads it; every other topic goes to the front desk."""
MAY: dict[str, tuple[str, ...]] = {
    "holder": ("account", "orders", "repairs", "service", "money"),
    "full": ("orders", "repairs", "service", "money"),
    "service": ("repairs", "service"),
}
"""Who is on the phone → what they may see and do."""


# --- front desk -----------------------------------------------------------------------------------------------------


def get_policy(ctx: ToolContext, topic: FactTopic) -> Envelope:
    """Larkfield's own answer to a general question, in words that may be said as they stand. Public.

    Args:
        topic: What the question is about.
    """
    found = ctx.row("SELECT topic, fact FROM policy_facts WHERE topic = ?", topic)
    return ctx.ok(found) if found else ctx.fail("unknown_topic", "I don't have that here. I can take a message.")


def check_outage(ctx: ToolContext, zip_code: str) -> Envelope:
    """Whether an outage is known for a ZIP code. Public: no identity needed.

    expected_at null means that the crew has not given a time; then no time may be said.

    Args:
        zip_code: Five digits.
    """
    area = ctx.row("SELECT areas.id, name FROM area_zips JOIN areas ON areas.id = area_id WHERE zip = ?", zip_code)
    if area is None:
        return ctx.fail("zip_not_served", "I don't show our service at that ZIP code. Could you say it again?")
    return ctx.ok({"area": area["name"], "outage": _outage(ctx, area["id"])})


def list_plans(ctx: ToolContext) -> Envelope:
    """The internet plans on offer, with the code that quote_plan_change takes. Public. Amounts are in cents."""
    found = ctx.rows(
        "SELECT code, name, down_mbps, monthly_cents FROM plans WHERE offered = 1 ORDER BY monthly_cents, code"
    )
    return ctx.ok({"plans": found})


def take_message(
    ctx: ToolContext, topic: Topic, message: str, callback_e164: Annotated[str, Phone] | None = None
) -> Envelope:
    """Leave a message for the team that handles the topic. For what this desk cannot do, and only if the caller agrees.

    Args:
        topic: What it is about; it decides which team reads it. account_access: somebody who may not use an account,
            or cannot be verified, wants something from it. plan_change: a change that the person on the phone may not
            make. outage_report: service is down and we do not know of it.
        message: One or two sentences with what the team needs to act.
        callback_e164: Number to call back, only if the caller wants a call.
    """
    if not message.strip():
        return ctx.fail("message_empty", "What should I write down for them?")
    customer_id, team = ctx.session["customer_id"], TEAM_OF.get(topic, "front_desk")
    taken = ctx.row(
        "SELECT id FROM messages WHERE customer_id IS ? AND topic = ? AND taken_at = ?", customer_id, topic, ctx.now
    )
    if taken is None:
        ctx.run(
            "INSERT INTO messages (customer_id, team, topic, body, callback_e164, taken_at) VALUES (?, ?, ?, ?, ?, ?)",
            *(customer_id, team, topic, message.strip(), callback_e164, ctx.now),
        )
    return ctx.ok({"taken": True, "team": team, "topic": topic})


# --- identity and account -------------------------------------------------------------------------------------------


def find_account(ctx: ToolContext, full_name: Annotated[str, Name], phone_e164: Annotated[str, Phone]) -> Envelope:
    """Look for an account by the telephone number on it and the holder's name. Proves nothing yet.

    The number must be exact; the name may sound like the one on the account. Read the name back; with spell_it_back
    true, spell it to the caller. Then verify_customer.

    Args:
        full_name: First and last name of the account holder, as the caller gave or spelled it.
        phone_e164: Telephone number on the account.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    there = ctx.rows("SELECT first_name || ' ' || last_name AS name FROM customers WHERE phone_e164 = ?", phone_e164)
    alike = [row["name"] for row in there if _sounds_like(row["name"], full_name)]
    exact = [name for name in alike if _same_text(name, full_name)]
    if not alike:
        return ctx.fail(
            "no_match",
            "I can't find an account under that. Could you spell the last name, and give me the number once more?",
        )
    if not exact and len(alike) > 1:
        return ctx.fail("several_match", "There is more than one name close to that. Could you spell the first name?")
    _note(ctx, "found_phones", phone_e164)
    return ctx.ok(
        {
            "match": "exact" if exact else "sounds_alike",
            "read_back": (exact or alike)[0],
            "spell_it_back": not exact or len(alike) > 1,
        }
    )


def verify_customer(
    ctx: ToolContext,
    full_name: Annotated[str, Name],
    phone_e164: Annotated[str, Phone],
    zip_code: str,
    caller_name: Annotated[str, Name] | None = None,
) -> Envelope:
    """Verify the caller. Only after find_account has found the account and the caller has agreed to the name.

    From then on the tools work for this account, within what the person on the phone may do ("acting"). Three failed
    checks close the check for this call.

    Args:
        full_name: First and last name of the account holder, spelled as on the account.
        phone_e164: Telephone number on the account.
        zip_code: Five-digit ZIP code of the billing address, as the caller said it.
        caller_name: Only if the caller is not the account holder: their own full name.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    if phone_e164 not in ctx.session["found_phones"]:
        return ctx.fail("look_up_first", "Let me find the account first.")
    there = ctx.rows("SELECT id, first_name, last_name, zip FROM customers WHERE phone_e164 = ?", phone_e164)
    named = [c for c in there if _same_text(f"{c['first_name']} {c['last_name']}", full_name)]
    if not named or named[0]["zip"] != zip_code:
        ctx.session["failed_checks"] += 1
        if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
            return _locked(ctx)
        code = "zip_mismatch" if named else "name_mismatch"
        return ctx.fail(code, "That doesn't match what we have. Could you give me that once more?")
    acting = "holder"
    if caller_name is not None and not _same_text(caller_name, full_name):
        people = ctx.rows("SELECT full_name, scope FROM authorized_people WHERE customer_id = ?", named[0]["id"])
        scopes = [person["scope"] for person in people if _sounds_like(person["full_name"], caller_name)]
        if not scopes:
            return ctx.fail("not_authorized", "I can't open this account for you. The account holder can add you.")
        acting = scopes[0]
    ctx.session["customer_id"], ctx.session["acting"] = named[0]["id"], acting
    return ctx.ok({"verified": True, "customer_id": named[0]["id"], "acting": acting, "may": list(MAY[acting])})


def get_account(ctx: ToolContext) -> Envelope:
    """The verified holder's account: addresses with their ids, authorized people, whether there is internet service."""
    if refusal := _refuse(ctx, "account"):
        return refusal
    customer_id = ctx.session["customer_id"]
    return ctx.ok(
        {
            "customer_id": customer_id,
            "addresses": _addresses(ctx),
            "authorized_people": ctx.rows(
                "SELECT full_name, scope FROM authorized_people WHERE customer_id = ? ORDER BY id", customer_id
            ),
            "has_internet": _subscription(ctx) is not None,
        }
    )


def add_authorized_person(
    ctx: ToolContext, full_name: Annotated[str, Name], scope: Literal["full", "service"]
) -> Envelope:
    """Let another person use the account by phone. Only for the holder, and only after the spelling was read back.

    Args:
        full_name: First and last name of that person, as spelled by the caller.
        scope: full: everything but changes of the account itself. service: internet service and repairs only.
    """
    if refusal := _refuse(ctx, "account"):
        return refusal
    name = full_name.title() if full_name.islower() or full_name.isupper() else full_name
    if len(name.split()) < 2 or not name.isprintable():
        return ctx.fail("name_incomplete", "Could you give me their first and last name?")
    customer_id = ctx.session["customer_id"]
    people = ctx.rows("SELECT * FROM authorized_people WHERE customer_id = ?", customer_id)
    known = next((p for p in people if _same_text(p["full_name"], name)), None)
    if known is None:
        ctx.run(
            "INSERT INTO authorized_people (customer_id, full_name, scope) VALUES (?, ?, ?)", customer_id, name, scope
        )
    elif known["scope"] != scope:
        ctx.run("UPDATE authorized_people SET scope = ? WHERE id = ?", scope, known["id"])
    return ctx.ok({"authorized": known["full_name"] if known else name, "scope": scope})


def remove_authorized_person(ctx: ToolContext, full_name: Annotated[str, Name]) -> Envelope:
    """Take somebody off the account. Only for the holder, and only after a yes to that name.

    Args:
        full_name: Name of the authorized person, as get_account has it.
    """
    if refusal := _refuse(ctx, "account"):
        return refusal
    people = ctx.rows("SELECT * FROM authorized_people WHERE customer_id = ?", ctx.session["customer_id"])
    found = next((p for p in people if _same_text(p["full_name"], full_name)), None)
    if found is None and full_name.casefold() not in ctx.session["removed"]:
        return ctx.fail(
            "person_unknown", "I don't see that name on the account.", {"known": [p["full_name"] for p in people]}
        )
    if found is not None:
        ctx.run("DELETE FROM authorized_people WHERE id = ?", found["id"])
        _note(ctx, "removed", full_name.casefold())
    return ctx.ok({"removed": full_name})


def update_phone(ctx: ToolContext, new_phone_e164: Annotated[str, Phone]) -> Envelope:
    """Put a new telephone number on the account. Only for the holder, and only after the number was read back.

    Args:
        new_phone_e164: The new number.
    """
    if refusal := _refuse(ctx, "account"):
        return refusal
    if len(new_phone_e164) != 12 or new_phone_e164[:2] != "+1" or new_phone_e164[2] in "01":
        return ctx.fail("phone_invalid", "Could you give me a ten-digit number?")
    ctx.run("UPDATE customers SET phone_e164 = ? WHERE id = ?", new_phone_e164, ctx.session["customer_id"])
    return ctx.ok({"phone_e164": new_phone_e164})


def set_billing_address(ctx: ToolContext, address_id: str) -> Envelope:
    """Make another address on file the billing address. Moves no order. Only for the holder.

    Args:
        address_id: Id of the address, from get_account.
    """
    if refusal := _refuse(ctx, "account"):
        return refusal
    address = _own_address(ctx, address_id)
    if address is None:
        return _unknown_address(ctx)
    customer_id = ctx.session["customer_id"]
    ctx.run("UPDATE addresses SET is_billing = 0 WHERE customer_id = ?", customer_id)
    ctx.run("UPDATE addresses SET is_billing = 1 WHERE id = ?", address_id)
    ctx.run("UPDATE customers SET zip = ? WHERE id = ?", address["zip"], customer_id)
    return ctx.ok({"billing_address": address["label"], "zip": address["zip"]})


# --- orders ---------------------------------------------------------------------------------------------------------


def list_orders(ctx: ToolContext, max_results: int = 5) -> Envelope:
    """Orders of the verified customer, newest first, with what is in them and the ids of the items.

    Args:
        max_results: How many orders at most, 1 to 20.
    """
    if refusal := _refuse(ctx, "orders"):
        return refusal
    found = ctx.rows(
        "SELECT order_number, placed_on, status FROM orders WHERE customer_id = ?"
        " ORDER BY placed_on DESC, order_number LIMIT ?",
        *(ctx.session["customer_id"], min(max(max_results, 1), 20)),
    )
    return ctx.ok({"orders": [{**order, "items": _items(ctx, order["order_number"])} for order in found]})


def get_order(ctx: ToolContext, order_number: str) -> Envelope:
    """One order of the verified customer: items, where it goes, shipment, and what was already asked for.

    Read it before you change anything about the order.

    Args:
        order_number: Six digits, without spaces or dashes.
    """
    if refusal := _refuse(ctx, "orders"):
        return refusal
    if len(order_number) != 6 or not (order_number.isascii() and order_number.isdigit()):
        return ctx.fail("order_number_form", "Could you give me the six digits of the order number?")
    order = _own_order(ctx, order_number)
    if order is None:
        return ctx.fail("order_unknown", "I don't see that order number on your account. Could you read it once more?")
    _note(ctx, "orders_read", order_number)
    return ctx.ok(
        {
            "order_number": order_number,
            "placed_on": order["placed_on"],
            "status": order["status"],
            "ships_to": ctx.row("SELECT id, label, city FROM addresses WHERE id = ?", order["address_id"]),
            "items": _items(ctx, order_number),
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
    if refusal := _refuse(ctx, "orders"):
        return refusal
    return ctx.ok({"addresses": _addresses(ctx)})


def cancel_order_item(ctx: ToolContext, order_item_id: str) -> Envelope:
    """Cancel one item of an order that is still processing; the others stay.

    Only after get_order, and after a yes to that item.

    Args:
        order_item_id: Id of the item, from get_order.
    """
    item = _own_item(ctx, order_item_id)
    if item is None:
        return _no_item(ctx)
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
    order = _own_order(ctx, order_number)
    address = _own_address(ctx, address_id)
    if address is None or order is None:
        return _unknown_address(ctx)
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


# --- returns --------------------------------------------------------------------------------------------------------


def list_returns(ctx: ToolContext) -> Envelope:
    """Returns and exchanges of the verified customer, newest first, with their ids."""
    if refusal := _refuse(ctx, "orders"):
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
    item = _own_item(ctx, order_item_id)
    if item is None:
        return _no_item(ctx)
    _note(ctx, "returns_checked", order_item_id)
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
    item, new = _own_item(ctx, order_item_id), ctx.row("SELECT * FROM products WHERE sku = ?", new_sku)
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
    if refusal := _refuse(ctx, "orders"):
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
    item = _own_item(ctx, order_item_id)
    if item is None:
        return _no_item(ctx)
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


# --- repairs --------------------------------------------------------------------------------------------------------


def list_devices(ctx: ToolContext) -> Envelope:
    """Devices registered to the verified customer, with serial number and the end of the warranty."""
    if refusal := _refuse(ctx, "repairs"):
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
    if refusal := _refuse(ctx, "repairs"):
        return refusal
    if len(serial) != 8 or not (serial.isascii() and serial.isdigit()):
        return ctx.fail("serial_form", "Could you read me the eight digits of the serial number?")
    device = _own_device(ctx, serial)
    if device is None:
        return ctx.fail("serial_unknown", "I don't see that serial number on your account. Could you read it again?")
    _note(ctx, "devices_checked", serial)
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


# --- internet service -----------------------------------------------------------------------------------------------


def get_service_status(ctx: ToolContext) -> Envelope:
    """The verified customer's internet service: line, outage in the area, technician visit with its id.

    Read it first. expected_at null means that the crew has not given a time; then no time may be said.
    """
    if refusal := _refuse(ctx, "service"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    alert = ctx.row("SELECT 1 FROM outage_alerts WHERE customer_id = ?", ctx.session["customer_id"])
    return ctx.ok(
        {
            "subscription_id": line["id"],
            "plan": line["plan"],
            "down_mbps": line["down_mbps"],
            "area": line["area"],
            "outage": _outage(ctx, line["area_id"]),
            "outage_alert": alert is not None,
            "visit": _visit(ctx, line["id"]),
        }
    )


def run_line_test(ctx: ToolContext, subscription_id: str) -> Envelope:
    """Measure the line. It takes a few seconds and changes nothing.

    reading: good; weak_signal or no_signal (a technician has to come); modem_stuck (restart_equipment).

    Args:
        subscription_id: From get_service_status.
    """
    line = _own_line(ctx, subscription_id)
    if line is None:
        return _no_line(ctx)
    if _outage(ctx, line["area_id"]):
        return ctx.fail("area_outage", "There is an outage in your area, so a test of your line tells us nothing.")
    _note(ctx, "lines_tested", subscription_id)
    measured = {"good": line["down_mbps"], "weak_signal": line["down_mbps"] // 8}.get(line["line_reading"], 0)
    return ctx.ok({"reading": line["line_reading"], "measured_mbps": measured, "plan_mbps": line["down_mbps"]})


def restart_equipment(ctx: ToolContext, subscription_id: str) -> Envelope:
    """Restart the customer's modem from here, after a line test that says modem_stuck. Offline for two minutes.

    Only after a yes: phones and alarms on that line go down too.

    Args:
        subscription_id: From get_service_status.
    """
    line = _own_line(ctx, subscription_id)
    if line is None:
        return _no_line(ctx)
    if subscription_id not in ctx.session["lines_tested"]:
        return ctx.fail("test_first", "Let me test the line first.")
    if line["line_reading"] != "modem_stuck":
        return ctx.fail("restart_useless", "A restart won't help with what the test shows.")
    if not ctx.row("SELECT 1 FROM restarts WHERE subscription_id = ? AND sent_at = ?", subscription_id, ctx.now):
        ctx.run("INSERT INTO restarts (subscription_id, sent_at) VALUES (?, ?)", subscription_id, ctx.now)
    return ctx.ok({"restart": "sent", "online": True, "measured_mbps": line["down_mbps"]})


def find_visit_slots(
    ctx: ToolContext,
    earliest: dt.date | None = None,
    latest: dt.date | None = None,
    time_of_day: Literal["any", "morning", "afternoon"] = "any",
    max_results: int = 3,
) -> Envelope:
    """Free technician times in the customer's area, soonest first. The only source of a time that you may offer.

    Args:
        earliest: First day to look at, if the caller set one.
        latest: Last day to look at, if the caller set one.
        time_of_day: Only if the caller asked for mornings (before noon) or afternoons.
        max_results: How many at most, 1 to 10.
    """
    if refusal := _refuse(ctx, "service"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    found = ctx.rows(
        'SELECT id AS slot_id, "start", "end" FROM visit_slots WHERE area_id = ? AND visit_id IS NULL AND "start" > ?'
        ' ORDER BY "start", id',
        *(line["area_id"], ctx.now),
    )
    fits = [
        slot
        for slot in found
        if (earliest is None or slot["start"][:10] >= earliest.isoformat())
        and (latest is None or slot["start"][:10] <= latest.isoformat())
        and (time_of_day == "any" or (slot["start"][11:] < "12:00") == (time_of_day == "morning"))
    ][: min(max(max_results, 1), 10)]
    return ctx.ok({"slots": fits, "count": len(fits)})


def book_visit(ctx: ToolContext, slot_id: str, problem: str) -> Envelope:
    """Send a technician, after a line test that says weak_signal or no_signal, and a yes to day and time.

    Args:
        slot_id: Id of a free time, from find_visit_slots.
        problem: What is wrong, in one sentence.
    """
    if refusal := _refuse(ctx, "service"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    visit = _visit(ctx, line["id"])
    if visit is not None and visit["slot_id"] == slot_id:
        return ctx.ok({"visit": visit, "status": "booked"})
    if visit is not None:
        return ctx.fail("visit_booked", "A technician is already booked for you. Shall we move that visit?", visit)
    if line["id"] not in ctx.session["lines_tested"]:
        return ctx.fail("test_first", "Let me test the line first.")
    if line["line_reading"] not in ("weak_signal", "no_signal"):
        return ctx.fail("no_visit_needed", "The test shows nothing that a technician could mend at your place.")
    if not problem.strip():
        return ctx.fail("problem_empty", "What should the technician know?")
    if refusal := _refuse_slot(ctx, line, slot_id):
        return refusal
    visit_id = ctx.run(
        "INSERT INTO visits (subscription_id, slot_id, problem, status) VALUES (?, ?, ?, 'booked')",
        *(line["id"], slot_id, problem.strip()),
    )
    ctx.run("UPDATE visit_slots SET visit_id = ? WHERE id = ?", visit_id, slot_id)
    return ctx.ok({"visit": _visit(ctx, line["id"]), "status": "booked"})


def move_visit(ctx: ToolContext, visit_id: int, slot_id: str) -> Envelope:
    """Move a booked technician visit to another free time. Only after a yes to day and time. Costs nothing.

    Args:
        visit_id: Id of the visit, from get_service_status.
        slot_id: Id of a free time, from find_visit_slots.
    """
    visit = _own_visit(ctx, visit_id)
    line = _subscription(ctx)
    if visit is None or line is None or visit["status"] != "booked":
        return _no_visit(ctx)
    if visit["slot_id"] != slot_id:
        if refusal := _refuse_slot(ctx, line, slot_id):
            return refusal
        ctx.run("UPDATE visit_slots SET visit_id = NULL WHERE visit_id = ?", visit_id)
        ctx.run("UPDATE visit_slots SET visit_id = ? WHERE id = ?", visit_id, slot_id)
        ctx.run("UPDATE visits SET slot_id = ? WHERE id = ?", slot_id, visit_id)
    return ctx.ok({"visit": _visit(ctx, line["id"]), "status": "moved"})


def cancel_visit(ctx: ToolContext, visit_id: int) -> Envelope:
    """Call off a booked technician visit. Only after a yes; it frees the time for others.

    Args:
        visit_id: Id of the visit, from get_service_status.
    """
    visit = _own_visit(ctx, visit_id)
    if visit is None or visit["status"] == "done":
        return _no_visit(ctx)
    ctx.run("UPDATE visits SET status = 'cancelled' WHERE id = ?", visit_id)
    ctx.run("UPDATE visit_slots SET visit_id = NULL WHERE visit_id = ?", visit_id)
    return ctx.ok({"visit_id": visit_id, "status": "cancelled"})


def add_outage_alert(ctx: ToolContext, phone_e164: Annotated[str, Phone]) -> Envelope:
    """Text the customer when the outage in their area is over. Ask for the number; only the one on the account works.

    Args:
        phone_e164: The number that the caller gave.
    """
    if refusal := _refuse(ctx, "service"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    outage = _outage(ctx, line["area_id"])
    if outage is None:
        return ctx.fail("no_outage", "There is no outage in your area right now.")
    if refusal := _other_phone(ctx, phone_e164):
        return refusal
    ctx.run(
        "INSERT OR IGNORE INTO outage_alerts (outage_id, customer_id, phone_e164) VALUES (?, ?, ?)",
        *(outage["outage_id"], ctx.session["customer_id"], phone_e164),
    )
    return ctx.ok({"alert": True, "phone_e164": phone_e164})


# --- plans ----------------------------------------------------------------------------------------------------------


def get_subscription(ctx: ToolContext) -> Envelope:
    """The verified customer's plan: price in cents, fixed term, next billing day, and a change that is waiting."""
    if refusal := _refuse(ctx, "money"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    return ctx.ok(
        {
            "subscription_id": line["id"],
            "plan_code": line["plan_code"],
            "plan": line["plan"],
            "down_mbps": line["down_mbps"],
            "monthly_cents": line["monthly_cents"],
            "term_ends_on": line["term_ends_on"],
            "next_cycle_on": line["next_cycle_on"],
            "waiting_change": _waiting_change(ctx, line["id"]),
        }
    )


def quote_plan_change(ctx: ToolContext, plan_code: str) -> Envelope:
    """What a change would mean: new price, the day from which it counts, a fee if the fixed term is cut short.

    Writes nothing. Call it before change_plan, and read day, price and fee back to the caller.

    Args:
        plan_code: Code of the new plan, from list_plans.
    """
    if refusal := _refuse(ctx, "money"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    plan = ctx.row("SELECT * FROM plans WHERE code = ? AND offered = 1", plan_code)
    if plan is None:
        codes = [row["code"] for row in ctx.rows("SELECT code FROM plans WHERE offered = 1 ORDER BY code")]
        return ctx.fail("plan_unknown", "That plan isn't on offer. Let me look at the list.", {"known": codes})
    if plan_code == line["plan_code"]:
        return ctx.fail("same_plan", "You already have that plan.")
    effective, fee = _terms_of_change(ctx, line, plan)
    ctx.session["quoted"][plan_code] = effective.isoformat()
    return ctx.ok(
        {
            "plan_code": plan_code,
            "plan": plan["name"],
            "monthly_cents": plan["monthly_cents"],
            "effective_on": effective.isoformat(),
            "fee_cents": fee,
        }
    )


def change_plan(ctx: ToolContext, plan_code: str, effective_on: dt.date, fee_accepted: bool = False) -> Envelope:
    """Put a plan change in. Only after quote_plan_change, and after a yes to plan, price and day.

    Args:
        plan_code: Code of the new plan.
        effective_on: The day that the quote gave and the caller agreed to.
        fee_accepted: True only if the quote has a fee, and the caller has heard it and said yes to it.
    """
    if refusal := _refuse(ctx, "money"):
        return refusal
    line = _subscription(ctx)
    plan = ctx.row("SELECT * FROM plans WHERE code = ?", plan_code)
    if line is None or plan is None:
        return _no_service(ctx)
    if ctx.session["quoted"].get(plan_code) != effective_on.isoformat():
        return ctx.fail("not_quoted", "Let me look up from which day that would count.")
    waiting = _waiting_change(ctx, line["id"])
    if waiting is not None and (waiting["to_plan"], waiting["effective_on"]) != (plan_code, effective_on.isoformat()):
        return ctx.fail("change_waiting", "Another plan change is already waiting. It has to be called off first.")
    _, fee = _terms_of_change(ctx, line, plan)
    if fee and not fee_accepted:
        return ctx.fail("fee_not_accepted", "Changing now costs a fee of sixty dollars. Would you still like to?")
    if waiting is None:
        ctx.run(
            "INSERT INTO plan_changes (subscription_id, to_plan, effective_on, fee_cents, asked_on)"
            " VALUES (?, ?, ?, ?, ?)",
            *(line["id"], plan_code, effective_on, fee, ctx.now.date()),
        )
    return ctx.ok({"change": _waiting_change(ctx, line["id"])})


def cancel_plan_change(ctx: ToolContext) -> Envelope:
    """Call off the plan change that is waiting. Only after a yes; the plan stays as it is and nothing is charged."""
    if refusal := _refuse(ctx, "money"):
        return refusal
    line = _subscription(ctx)
    if line is None:
        return _no_service(ctx)
    if _waiting_change(ctx, line["id"]) is None and line["id"] not in ctx.session["removed"]:
        return ctx.fail("nothing_waiting", "There is no plan change waiting on your account.")
    ctx.run("DELETE FROM plan_changes WHERE subscription_id = ?", line["id"])
    _note(ctx, "removed", line["id"])
    return ctx.ok({"plan": line["plan"], "waiting_change": None})


# --- billing --------------------------------------------------------------------------------------------------------


def list_invoices(ctx: ToolContext) -> Envelope:
    """Bills of the verified customer, newest first: what is still due, and every charge with its id. In cents.

    The only source of an amount of a bill that you may say.
    """
    if refusal := _refuse(ctx, "money"):
        return refusal
    found = ctx.rows(
        "SELECT invoice_number, issued_on, due_on, status, pay_on FROM invoices WHERE customer_id = ?"
        " ORDER BY issued_on DESC, invoice_number LIMIT 6",
        ctx.session["customer_id"],
    )
    return ctx.ok({"invoices": [_with_charges(ctx, invoice) for invoice in found]})


def explain_charge(ctx: ToolContext, line_id: str) -> Envelope:
    """Why a charge is there, in the approved words, and what this desk itself may credit on it, in cents.

    Call it before any credit, review or dispute. credit_possible_cents 0: this desk may credit nothing on it.

    Args:
        line_id: Id of the charge, from list_invoices.
    """
    line = _own_charge(ctx, line_id)
    if line is None:
        return _no_charge(ctx)
    _note(ctx, "charges_explained", line_id)
    return ctx.ok(
        {
            "line_id": line_id,
            "amount_cents": line["amount_cents"],
            "approved_script": line["approved_script"],
            "credit_possible_cents": _creditable(ctx, line),
        }
    )


def apply_credit(ctx: ToolContext, line_id: str, amount_cents: int) -> Envelope:
    """Credit a charge, up to what explain_charge says is possible. Once a charge. Only after a yes to the amount.

    Args:
        line_id: Id of the charge.
        amount_cents: The amount, at most credit_possible_cents.
    """
    line = _own_charge(ctx, line_id)
    if line is None:
        return _no_charge(ctx)
    known = ctx.row("SELECT amount_cents FROM credits WHERE line_id = ?", line_id)
    if known is not None and known["amount_cents"] == amount_cents:
        return ctx.ok({"line_id": line_id, "credited_cents": amount_cents})
    if refusal := _unexplained(ctx, line_id):
        return refusal
    if known is not None:
        return ctx.fail(
            "already_credited", "That charge already has a credit.", {"credited_cents": known["amount_cents"]}
        )
    possible = _creditable(ctx, line)
    if not 0 < amount_cents <= possible:
        return ctx.fail(
            "above_limit", "I can't credit that much here. I can ask the refund team to look at it.",
            {"credit_possible_cents": possible},
        )  # fmt: skip
    ctx.run(
        "INSERT INTO credits (line_id, amount_cents, posted_on) VALUES (?, ?, ?)",
        *(line_id, amount_cents, ctx.now.date()),
    )
    return ctx.ok({"line_id": line_id, "credited_cents": amount_cents})


def request_refund_review(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Ask the refund team to give back what this desk may not: the rest of the charge. They decide; promise nothing.

    Only after explain_charge, for a charge that is right by the rules, and only if the caller wants it.

    Args:
        line_id: Id of the charge.
        reason: In one sentence, why the caller asks.
    """
    line = _own_charge(ctx, line_id)
    if line is None:
        return _no_charge(ctx)
    known = ctx.row("SELECT amount_cents FROM refund_reviews WHERE line_id = ?", line_id)
    if known is not None:
        return ctx.ok({"review": "asked", "line_id": line_id, "amount_cents": known["amount_cents"]})
    if refusal := _unexplained(ctx, line_id):
        return refusal
    if not reason.strip():
        return ctx.fail("reason_empty", "What should I tell the refund team?")
    credited = ctx.row("SELECT amount_cents FROM credits WHERE line_id = ?", line_id)
    rest = line["amount_cents"] - (credited["amount_cents"] if credited else 0)
    if credited is None and _creditable(ctx, line) > 0:
        return ctx.fail("credit_first", "I can credit something myself, so let's do that first.")
    if rest <= 0:
        return ctx.fail("nothing_left", "That charge has been credited in full.")
    ctx.run(
        "INSERT INTO refund_reviews (line_id, amount_cents, reason, asked_on) VALUES (?, ?, ?, ?)",
        *(line_id, rest, reason.strip(), ctx.now.date()),
    )
    return ctx.ok({"review": "asked", "line_id": line_id, "amount_cents": rest, "answer_within_days": 5})


def open_dispute(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Dispute a charge that the caller says is not theirs: never ordered, never had. Not due while it is looked into.

    Only after explain_charge, and only if this desk cannot credit the charge itself.

    Args:
        line_id: Id of the charge.
        reason: In one sentence, what the caller says.
    """
    line = _own_charge(ctx, line_id)
    if line is None:
        return _no_charge(ctx)
    if not ctx.row("SELECT 1 FROM disputes WHERE line_id = ?", line_id):
        if refusal := _unexplained(ctx, line_id):
            return refusal
        if not reason.strip():
            return ctx.fail("reason_empty", "What is wrong about that charge?")
        if line["creditable"] and line["amount_cents"] <= CREDIT_LIMIT_CENTS:
            return ctx.fail("credit_it", "I can credit that charge myself, so there is no need to dispute it.")
        ctx.run(
            "INSERT INTO disputes (line_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"dispute": "open", "line_id": line_id, "answer_within_days": 10})


def set_payment_date(ctx: ToolContext, invoice_number: str, pay_on: dt.date) -> Envelope:
    """Agree on a later day for an open bill: at most 14 days after it is due. Only after a yes to bill and day.

    Args:
        invoice_number: From list_invoices.
        pay_on: The day on which the caller will pay.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    if invoice["status"] != "open":
        return ctx.fail("already_paid", "That bill is paid already.")
    last = dt.date.fromisoformat(invoice["due_on"]) + dt.timedelta(days=PAYMENT_GRACE_DAYS)
    if not ctx.now.date() < pay_on <= last:
        return ctx.fail("day_not_possible", "That day isn't possible for this bill.", {"latest": last.isoformat()})
    ctx.run("UPDATE invoices SET pay_on = ? WHERE invoice_number = ?", pay_on, invoice_number)
    return ctx.ok({"invoice_number": invoice_number, "pay_on": pay_on.isoformat()})


def send_payment_link(ctx: ToolContext, invoice_number: str, phone_e164: Annotated[str, Phone]) -> Envelope:
    """Text a link to pay an open bill. Ask for the number first; only the one on the account works.

    Args:
        invoice_number: From list_invoices.
        phone_e164: The number that the caller gave.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    if invoice["status"] != "open":
        return ctx.fail("already_paid", "That bill is paid already.")
    if refusal := _other_phone(ctx, phone_e164):
        return refusal
    if not ctx.row("SELECT 1 FROM payment_links WHERE invoice_number = ? AND sent_at = ?", invoice_number, ctx.now):
        ctx.run(
            "INSERT INTO payment_links (invoice_number, phone_e164, sent_at) VALUES (?, ?, ?)",
            *(invoice_number, phone_e164, ctx.now),
        )
    return ctx.ok({"sent": True, "phone_e164": phone_e164})


# --- names ----------------------------------------------------------------------------------------------------------

_SOUNDS = (
    *(("sch", "s"), ("chr", "kr"), ("ch", "s"), ("sh", "s"), ("ph", "f"), ("gh", ""), ("ck", "k"), ("x", "ks")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s")),
    *(("v", "b"), ("w", "b")),
)
"""Spellings that a listener, or a recogniser on a telephone line, cannot tell apart; applied in this order."""


def sound_key(name: str) -> str:
    """How a name sounds, roughly: consonants only, lookalikes merged, so that Brian = Bryan and not Brenda."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    text = "".join(c for c in plain if c.isalpha())
    for spelled, sound in _SOUNDS:
        text = text.replace(spelled, sound)
    key = "a" if text[:1] in "aeiouy" else text[:1]
    for letter in text[1:]:
        if letter not in "aeiouyh" and letter != key[-1:]:
            key += letter
    return key


def _sounds_like(one: str, other: str) -> bool:
    """Whether first and last word of two names sound alike."""
    a, b = one.split(), other.split()
    return bool(a and b) and all(sound_key(a[i]) == sound_key(b[i]) for i in (0, -1))


def _same_text(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


# --- guards ---------------------------------------------------------------------------------------------------------


def _note(ctx: ToolContext, fact: str, value: str) -> None:
    """Remember in the session that something was read."""
    if value not in ctx.session[fact]:
        ctx.session[fact].append(value)


def _refuse(ctx: ToolContext, area: Area) -> Envelope | None:
    """Why the person on the phone may not do this, as an envelope; None if they may."""
    if ctx.session["customer_id"] is None:
        return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")
    if area not in MAY[ctx.session["acting"]]:
        return ctx.fail("not_for_this_caller", "Only the account holder can do that. I can leave a message about it.")
    return None


def _locked(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_locked", "I can't confirm your identity on this call. I can take a message.")


def _other_phone(ctx: ToolContext, phone_e164: str) -> Envelope | None:
    """Refuse a number that is not the one on the account."""
    own = ctx.row("SELECT phone_e164 FROM customers WHERE id = ?", ctx.session["customer_id"])
    if own and own["phone_e164"] == phone_e164:
        return None
    return ctx.fail("phone_not_on_file", "I can only text the number on the account. Which one would that be?")


# --- orders and returns, inside -------------------------------------------------------------------------------------


def _addresses(ctx: ToolContext) -> list[Row]:
    found = ctx.rows(
        "SELECT id AS address_id, label, street, city, zip, is_billing FROM addresses WHERE customer_id = ?"
        " ORDER BY is_billing DESC, id",
        ctx.session["customer_id"],
    )
    return [{**address, "is_billing": bool(address["is_billing"])} for address in found]


def _own_address(ctx: ToolContext, address_id: str) -> Row | None:
    return ctx.row("SELECT * FROM addresses WHERE id = ? AND customer_id = ?", address_id, ctx.session["customer_id"])


def _unknown_address(ctx: ToolContext) -> Envelope:
    known = {a["address_id"]: a["label"] for a in _addresses(ctx)}
    return ctx.fail("address_unknown", "I don't have that address on file. Let me look again.", {"known": known})


def _items(ctx: ToolContext, order_number: str) -> list[Row]:
    return ctx.rows(
        "SELECT order_items.id AS order_item_id, name, color, paid_cents, status FROM order_items"
        " JOIN products USING (sku) WHERE order_number = ? ORDER BY order_items.id",
        order_number,
    )


def _own_order(ctx: ToolContext, order_number: str) -> Row | None:
    return ctx.row(
        "SELECT * FROM orders WHERE order_number = ? AND customer_id = ?", order_number, ctx.session["customer_id"]
    )


def _unread_order(ctx: ToolContext, order_number: str) -> Envelope | None:
    """Refuse a write about an order that was not read in this call."""
    if refusal := _refuse(ctx, "orders"):
        return refusal
    if order_number in ctx.session["orders_read"]:
        return None
    return ctx.fail("read_order_first", "Let me open that order first.")


def _own_item(ctx: ToolContext, order_item_id: str) -> Row | None:
    if _refuse(ctx, "orders"):
        return None
    return ctx.row(
        "SELECT order_items.*, orders.status AS order_status, products.name, color, return_days,"
        " (SELECT delivered_on FROM shipments WHERE shipments.order_number = orders.order_number) AS delivered_on"
        " FROM order_items JOIN orders USING (order_number) JOIN products USING (sku)"
        " WHERE order_items.id = ? AND customer_id = ?",
        *(order_item_id, ctx.session["customer_id"]),
    )


def _no_item(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "orders")
    return refusal or ctx.fail("item_unknown", "I don't see that item on your account. Let me look again.")


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
    item = _own_item(ctx, order_item_id)
    if item is None:
        return _no_item(ctx)
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


# --- repairs, inside ------------------------------------------------------------------------------------------------


def _own_device(ctx: ToolContext, serial: str) -> Row | None:
    return ctx.row(
        "SELECT devices.*, name, color, repair_quote_cents FROM devices JOIN products USING (sku)"
        " WHERE serial = ? AND customer_id = ?",
        *(serial, ctx.session["customer_id"]),
    )


def _unchecked_device(ctx: ToolContext, serial: str) -> Envelope | None:
    """Refuse a write about a device that was not looked up in this call."""
    if refusal := _refuse(ctx, "repairs"):
        return refusal
    if serial in ctx.session["devices_checked"]:
        return None
    return ctx.fail("check_device_first", "Let me look that device up first.")


def _own_repair(ctx: ToolContext, repair_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """A repair of one of the customer's devices that is not over, or None."""
    if _refuse(ctx, "repairs"):
        return None
    found = ctx.row(
        "SELECT repairs.* FROM repairs JOIN devices USING (serial) WHERE repairs.id = ? AND customer_id = ?",
        *(repair_id, ctx.session["customer_id"]),
    )
    return found if found and found["status"] in ("open", "in_workshop", *also) else None


def _no_repair(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "repairs")
    return refusal or ctx.fail("repair_unknown", "I don't see that repair among your open ones. Let me look again.")


# --- internet service, inside ---------------------------------------------------------------------------------------


def _subscription(ctx: ToolContext) -> Row | None:
    """The verified customer's internet service with its plan and area, or None."""
    return ctx.row(
        "SELECT subscriptions.*, plans.name AS plan, down_mbps, monthly_cents, areas.name AS area FROM subscriptions"
        " JOIN plans ON plans.code = plan_code JOIN areas ON areas.id = area_id WHERE customer_id = ?",
        ctx.session["customer_id"],
    )


def _no_service(ctx: ToolContext) -> Envelope:
    return ctx.fail("no_service", "I don't see internet service on your account.")


def _own_line(ctx: ToolContext, subscription_id: str) -> Row | None:
    line = None if _refuse(ctx, "service") else _subscription(ctx)
    return line if line and line["id"] == subscription_id else None


def _no_line(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "service")
    return refusal or ctx.fail("line_unknown", "I don't see that line on your account. Let me look again.")


def _outage(ctx: ToolContext, area_id: str) -> Row | None:
    """The outage that an area has now, or None."""
    return ctx.row(
        "SELECT id AS outage_id, cause, began_at, expected_at FROM outages WHERE area_id = ? AND ended_at IS NULL",
        area_id,
    )


def _visit(ctx: ToolContext, subscription_id: str) -> Row | None:
    return ctx.row(
        'SELECT visits.id AS visit_id, slot_id, "start", "end" FROM visits JOIN visit_slots ON visit_slots.id = slot_id'
        " WHERE subscription_id = ? AND status = 'booked'",
        subscription_id,
    )


def _own_visit(ctx: ToolContext, visit_id: int) -> Row | None:
    line = None if _refuse(ctx, "service") else _subscription(ctx)
    return line and ctx.row("SELECT * FROM visits WHERE id = ? AND subscription_id = ?", visit_id, line["id"])


def _no_visit(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "service")
    return refusal or ctx.fail("visit_unknown", "I don't see that visit coming up for you. Let me look again.")


def _refuse_slot(ctx: ToolContext, line: Row, slot_id: str) -> Envelope | None:
    """Why a technician's time cannot be given to this line, as an envelope; None if it can."""
    slot = ctx.row("SELECT * FROM visit_slots WHERE id = ? AND area_id = ?", slot_id, line["area_id"])
    if slot is None or slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_unknown", "I don't have that time. Let me look at the free times again.")
    if slot["visit_id"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    return None


def _waiting_change(ctx: ToolContext, subscription_id: str) -> Row | None:
    return ctx.row(
        "SELECT to_plan, plans.name AS plan, effective_on, fee_cents FROM plan_changes"
        " JOIN plans ON plans.code = to_plan WHERE subscription_id = ?",
        subscription_id,
    )


def _terms_of_change(ctx: ToolContext, line: Row, plan: Row) -> tuple[dt.date, int]:
    """The day from which a change counts, and its fee in cents: up from tomorrow, down from the next billing day."""
    if plan["monthly_cents"] > line["monthly_cents"]:
        return ctx.now.date() + dt.timedelta(days=1), 0
    effective = dt.date.fromisoformat(line["next_cycle_on"])
    bound = line["term_ends_on"] is not None and line["term_ends_on"] > effective.isoformat()
    return effective, EARLY_CHANGE_FEE_CENTS if bound else 0


# --- billing, inside ------------------------------------------------------------------------------------------------


def _with_charges(ctx: ToolContext, invoice: Row) -> Row:
    """An invoice with its charges and what is due on it; disputed charges and credits count as not due."""
    charges = ctx.rows(
        "SELECT invoice_lines.id AS line_id, description, invoice_lines.amount_cents,"
        " coalesce(credits.amount_cents, 0) AS credited_cents, disputes.id IS NOT NULL AS disputed"
        " FROM invoice_lines LEFT JOIN credits ON credits.line_id = invoice_lines.id"
        " LEFT JOIN disputes ON disputes.line_id = invoice_lines.id WHERE invoice_number = ? ORDER BY invoice_lines.id",
        invoice["invoice_number"],
    )
    due = sum(c["amount_cents"] - c["credited_cents"] for c in charges if not c["disputed"])
    shown = [{**charge, "disputed": bool(charge["disputed"])} for charge in charges]
    return {**invoice, "due_cents": due if invoice["status"] == "open" else 0, "charges": shown}


def _own_charge(ctx: ToolContext, line_id: str) -> Row | None:
    if _refuse(ctx, "money"):
        return None
    return ctx.row(
        "SELECT invoice_lines.*, approved_script, creditable FROM invoice_lines JOIN invoices USING (invoice_number)"
        " JOIN charge_kinds USING (kind) WHERE invoice_lines.id = ? AND customer_id = ?",
        *(line_id, ctx.session["customer_id"]),
    )


def _no_charge(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "money")
    return refusal or ctx.fail("charge_unknown", "I don't see that charge on your account. Let me look again.")


def _unexplained(ctx: ToolContext, line_id: str) -> Envelope | None:
    if line_id in ctx.session["charges_explained"]:
        return None
    return ctx.fail("explain_first", "Let me look at that charge first.")


def _creditable(ctx: ToolContext, line: Row) -> int:
    """What the desk itself may credit on a charge, in cents; 0 if it has been credited or is above the limit."""
    if ctx.row("SELECT 1 FROM credits WHERE line_id = ?", line["id"]):
        return 0
    if line["kind"] == "service":
        return min(line["amount_cents"] * _days_without_service(ctx) // 30, CREDIT_LIMIT_CENTS)
    return int(line["amount_cents"]) if line["creditable"] and line["amount_cents"] <= CREDIT_LIMIT_CENTS else 0


def _days_without_service(ctx: ToolContext) -> int:
    """Whole days of outage in the customer's area, lately."""
    line = _subscription(ctx)
    if line is None:
        return 0
    since = (ctx.now - dt.timedelta(days=OUTAGE_CREDIT_DAYS)).isoformat(timespec="minutes")
    found = ctx.rows(
        "SELECT began_at, ended_at FROM outages WHERE area_id = ? AND began_at >= ?", line["area_id"], since
    )
    spans = [
        (dt.datetime.fromisoformat(o["ended_at"]) if o["ended_at"] else ctx.now)
        - dt.datetime.fromisoformat(o["began_at"])
        for o in found
    ]
    return sum(span.days for span in spans)


def _own_invoice(ctx: ToolContext, invoice_number: str) -> Row | None:
    if _refuse(ctx, "money"):
        return None
    return ctx.row(
        "SELECT * FROM invoices WHERE invoice_number = ? AND customer_id = ?",
        *(invoice_number, ctx.session["customer_id"]),
    )


def _no_invoice(ctx: ToolContext) -> Envelope:
    refusal = _refuse(ctx, "money")
    return refusal or ctx.fail("invoice_unknown", "I don't see that bill on your account. Let me look again.")
