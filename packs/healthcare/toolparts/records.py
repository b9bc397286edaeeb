"""Copies of the chart, who else may hear something, and the portal."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .guards import known, mail_held, not_verified, portal_active, unknown, verified
from .kinds import RecordKind, ReleaseScope, Row


def list_record_requests(ctx: ToolContext) -> Envelope:
    """Requests for copies of the verified patient's records: id, kind, how and where they go, status."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT r.id AS request_id, kind, delivery, p.name AS practice, l.name AS office, status, requested_on"
        " FROM record_requests AS r LEFT JOIN outside_practices AS p ON p.id = practice_id"
        " LEFT JOIN locations AS l ON l.id = location_id WHERE patient_id = ? ORDER BY r.id",
        patient["id"],
    )
    return ctx.ok({"record_requests": found})


def request_records(
    ctx: ToolContext,
    kind: RecordKind,
    delivery: Literal["portal", "mail", "pickup", "practice"],
    practice_id: str | None = None,
    location_id: str | None = None,
) -> Envelope:
    """Order a copy of the verified patient's records.

    Args:
        kind: What is copied.
        delivery: portal, mail (to the address on file), pickup at an office, or practice (another doctor's office).
        practice_id: Only for practice: its id, from list_outside_practices.
        location_id: Only for pickup: the office, by id.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    refusal = _refuse_delivery(ctx, delivery, practice_id, location_id)
    if refusal is not None:
        return refusal
    key = (patient["id"], kind, delivery, practice_id)
    open_one = ctx.row(
        "SELECT requested_on, location_id FROM record_requests WHERE patient_id = ? AND kind = ? AND delivery = ?"
        " AND practice_id IS ? AND status = 'open'",
        *key,
    )
    if open_one and (open_one["requested_on"], open_one["location_id"]) != (ctx.now.date().isoformat(), location_id):
        return ctx.fail("already_requested", "That copy has been asked for already and is being made.", open_one)
    if open_one is None:
        ctx.run(
            "INSERT INTO record_requests (patient_id, kind, delivery, practice_id, location_id, status, requested_on)"
            " VALUES (?, ?, ?, ?, ?, 'open', ?)",
            *(*key, location_id, ctx.now.date()),
        )
    return ctx.ok({"requested": True, "kind": kind, "delivery": delivery, "ready_in_working_days": 5})


def withdraw_record_request(ctx: ToolContext, request_id: int) -> Envelope:
    """Take back a request for records that has not gone out.

    Args:
        request_id: Id of the request, from list_record_requests.
    """
    if verified(ctx) is None:
        return not_verified(ctx)
    found = ctx.row(
        "SELECT * FROM record_requests WHERE id = ? AND patient_id = ?", request_id, ctx.session["patient_id"]
    )
    if found is None:
        return ctx.fail("request_unknown", "I don't see that request. Let me look again.")
    if found["status"] == "sent":
        return ctx.fail("already_sent", "Those records have already gone out, so I can't take them back.")
    ctx.run("DELETE FROM record_requests WHERE id = ?", request_id)
    return ctx.ok({"withdrawn": True, "request_id": request_id})


def list_releases(ctx: ToolContext) -> Envelope:
    """Who else may hear something about the verified patient, by signed forms: name, scope, until when, status."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT id AS release_id, first_name || ' ' || last_name AS name, relation, scope, expires_on, status"
        " FROM releases WHERE patient_id = ? ORDER BY id",
        patient["id"],
    )
    return ctx.ok({"releases": found})


def revoke_release(ctx: ToolContext, release_id: str) -> Envelope:
    """End a release at once, so that this person hears nothing any more.

    Args:
        release_id: Id of the release, from list_releases.
    """
    if verified(ctx) is None:
        return not_verified(ctx)
    if not ctx.row("SELECT 1 FROM releases WHERE id = ? AND patient_id = ?", release_id, ctx.session["patient_id"]):
        return ctx.fail("release_unknown", "I don't see that release in your chart. Let me look again.")
    ctx.run("UPDATE releases SET status = 'revoked' WHERE id = ?", release_id)
    return ctx.ok({"revoked": True, "release_id": release_id})


def send_release_form(ctx: ToolContext, scope: ReleaseScope, delivery: Literal["portal", "mail"]) -> Envelope:
    """Send the verified patient a blank release form. It counts only when it has come back signed.

    Args:
        scope: What the other person may hear: appointments, billing, or all.
        delivery: portal or mail.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    refusal = _refuse_delivery(ctx, delivery, None, None)
    if refusal is not None:
        return refusal
    ctx.run(
        "INSERT OR IGNORE INTO release_forms (patient_id, scope, delivery, sent_on) VALUES (?, ?, ?, ?)",
        *(patient["id"], scope, delivery, ctx.now.date()),
    )
    return ctx.ok({"sent": True, "scope": scope, "delivery": delivery})


def get_portal_status(ctx: ToolContext) -> Envelope:
    """Whether the verified patient's portal account is active, inactive, locked, invited, or was never opened."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    account = _portal(ctx)
    return ctx.ok({"status": account["status"] if account else "never_opened"})


def send_portal_invite(ctx: ToolContext, mobile_e164: Annotated[str, Phone]) -> Envelope:
    """Text a portal invitation to the verified patient's mobile. Only the one on the chart works.

    Args:
        mobile_e164: The mobile that the caller gave, after you have read it back.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if mobile_e164 != patient["mobile_e164"]:
        return ctx.fail("mobile_not_on_file", "I can only text the mobile on your chart. Which one would that be?")
    account = _portal(ctx)
    if account and account["status"] == "active":
        return ctx.fail("already_active", "Your portal account is active already.")
    if account and account["status"] == "locked":
        return ctx.fail("portal_locked", "The account is locked. I can unlock it instead.")
    ctx.run(
        "INSERT INTO portal_accounts (patient_id, status, changed_on) VALUES (?, 'invited', ?)"
        " ON CONFLICT (patient_id) DO UPDATE SET status = 'invited', changed_on = excluded.changed_on",
        *(patient["id"], ctx.now.date()),
    )
    return ctx.ok({"invited": True, "mobile_e164": mobile_e164})


def unlock_portal(ctx: ToolContext) -> Envelope:
    """Unlock the verified patient's portal account after too many wrong passwords."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    account = _portal(ctx)
    if account is None or account["status"] in ("inactive", "invited"):
        return ctx.fail("not_locked", "The account isn't locked; it was never finished. I can send an invitation.")
    if account["status"] == "locked":
        ctx.run(
            "UPDATE portal_accounts SET status = 'active', changed_on = ? WHERE patient_id = ?",
            *(ctx.now.date(), patient["id"]),
        )
    return ctx.ok({"status": "active"})


def _portal(ctx: ToolContext) -> Row | None:
    return ctx.row("SELECT * FROM portal_accounts WHERE patient_id = ?", ctx.session["patient_id"])


def _refuse_delivery(
    ctx: ToolContext, delivery: str, practice_id: str | None, location_id: str | None
) -> Envelope | None:
    """Why something cannot go out this way, as an envelope; None if it can."""
    if (delivery == "practice") != (practice_id is not None):
        return ctx.fail("practice_missing", "Which doctor's office should it go to?")
    if (delivery == "pickup") != (location_id is not None):
        return ctx.fail("office_missing", "At which of our offices would you like to pick it up?")
    if practice_id is not None and not known(ctx, "outside_practices", practice_id):
        return unknown(ctx, "outside_practices", "practice_id")
    if location_id is not None and not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
    if delivery == "mail" and mail_held(ctx):
        return ctx.fail("mail_on_hold", "A letter to you came back, so I need your current address before we mail it.")
    if delivery == "portal" and not portal_active(ctx):
        return ctx.fail("portal_not_active", "Your portal account isn't active, so it can't go there yet.")
    return None
