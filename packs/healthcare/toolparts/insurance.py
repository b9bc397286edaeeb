"""What the plan says, approvals that the insurer has to give, and referrals."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import known, not_verified, unknown, verified
from .kinds import Row, Specialty

Carrier = Literal[
    "Aetna",
    "Cigna",
    "Empire",
    "Florida Blue",
    "Healthfirst",
    "Medicare",
    "Oscar",
    "Oxford",
    "UnitedHealthcare",
    "other",
]


def get_coverage(ctx: ToolContext) -> Envelope:
    """The verified patient's plan as the insurer last told it, and a newer one that waits to be checked.

    Copay in cents. network: in or out. referral_needed: whether the plan wants one.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    plan = ctx.row(
        "SELECT carrier, plan_name, member_id_last4, status, ends_on, network, copay_cents, referral_needed"
        " FROM insurance_policies AS i LEFT JOIN policy_terms AS t ON t.patient_id = i.patient_id"
        " WHERE i.patient_id = ?",
        patient["id"],
    )
    waiting = ctx.rows(
        "SELECT carrier, member_id_last4, starts_on FROM insurance_updates WHERE patient_id = ? ORDER BY id",
        patient["id"],
    )
    shown = None if plan is None else {**plan, "referral_needed": bool(plan["referral_needed"])}
    return ctx.ok({"plan": shown, "waiting_to_be_checked": waiting})


def record_new_insurance(ctx: ToolContext, carrier: Carrier, member_id_last4: str, starts_on: dt.date) -> Envelope:
    """Note a new insurance that the verified patient tells of. It counts when the team has checked it.

    Args:
        carrier: Insurer; other if it is not one that the practice accepts.
        member_id_last4: Last four digits of the member number on the new card, after you have read them back.
        starts_on: First day of the new plan.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if len(member_id_last4) != 4 or not (member_id_last4.isascii() and member_id_last4.isdigit()):
        return ctx.fail("member_id_invalid", "Could you read me just the last four digits on the card?")
    ctx.run(
        "INSERT INTO insurance_updates (patient_id, carrier, member_id_last4, starts_on, received_on)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (patient_id, carrier, member_id_last4)"
        " DO UPDATE SET starts_on = excluded.starts_on",
        *(patient["id"], carrier, member_id_last4, starts_on, ctx.now.date()),
    )
    return ctx.ok({"noted": True, "accepted_here": carrier != "other", "carrier": carrier})


def list_prior_approvals(ctx: ToolContext) -> Envelope:
    """The insurer's approvals for the verified patient: id, service, status, dates, why denied, what is underway."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT a.id AS approval_id, service, status, decided_on, valid_until, reason_code, r.kind AS underway"
        " FROM prior_approvals AS a LEFT JOIN approval_requests AS r ON r.approval_id = a.id"
        " WHERE patient_id = ? ORDER BY a.id",
        patient["id"],
    )
    return ctx.ok({"prior_approvals": found})


def renew_prior_approval(ctx: ToolContext, approval_id: str) -> Envelope:
    """Ask the insurer to renew an approval that has expired or expires within thirty days.

    Args:
        approval_id: Id of the approval, from list_prior_approvals.
    """
    own = _own_approval(ctx, approval_id)
    if own is None:
        return _no_approval(ctx)
    soon = (ctx.now.date() + dt.timedelta(days=30)).isoformat()
    if own["status"] == "denied":
        return ctx.fail("denied", "That one was denied, so it can't be renewed. An appeal is possible.")
    if own["status"] == "submitted":
        return ctx.fail("still_open", "The insurer hasn't decided yet.")
    if own["status"] == "approved" and (own["valid_until"] or "") > soon:
        return ctx.fail("still_valid", "That approval is still good, so there is nothing to renew yet.")
    return _request(ctx, approval_id, "renewal")


def request_appeal(ctx: ToolContext, approval_id: str) -> Envelope:
    """Have the doctor appeal against a denial. Only for a denied approval, and only if the caller wants it.

    Args:
        approval_id: Id of the approval, from list_prior_approvals.
    """
    own = _own_approval(ctx, approval_id)
    if own is None:
        return _no_approval(ctx)
    if own["status"] != "denied":
        return ctx.fail("not_denied", "That one wasn't denied, so there is nothing to appeal.")
    if own["reason_code"] == "not_covered":
        return ctx.fail("not_covered", "The plan leaves that service out altogether, so an appeal isn't possible.")
    return _request(ctx, approval_id, "appeal")


def list_outside_practices(ctx: ToolContext, specialty: Specialty | None = None) -> Envelope:
    """Other doctors' offices with id, name, specialty and city. Some names are close: read name and city back. Public.

    Args:
        specialty: Only this specialty.
    """
    found = ctx.rows(
        "SELECT id AS practice_id, name, specialty, city FROM outside_practices WHERE ? IS NULL OR specialty = ?"
        " ORDER BY name",
        *(specialty, specialty),
    )
    return ctx.ok({"practices": found})


def list_referrals(ctx: ToolContext) -> Envelope:
    """Referrals of the verified patient: to_us from their doctor or from_us to a specialist, visits left, dates."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT r.id AS referral_id, direction, p.name AS practice, p.city, reason, status, visits_left, valid_until"
        " FROM referrals AS r JOIN outside_practices AS p ON p.id = practice_id WHERE patient_id = ? ORDER BY r.id",
        patient["id"],
    )
    return ctx.ok({"referrals": found})


def request_referral(ctx: ToolContext, practice_id: str) -> Envelope:
    """Ask the patient's own doctor for a referral to us. Refused while one is still good.

    Args:
        practice_id: Id of the doctor's office, from list_outside_practices.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not known(ctx, "outside_practices", practice_id):
        return unknown(ctx, "outside_practices", "practice_id")
    if ctx.row(
        "SELECT 1 FROM referrals WHERE patient_id = ? AND practice_id = ? AND direction = 'to_us' AND status = 'valid'",
        *(patient["id"], practice_id),
    ):
        return ctx.fail("still_valid", "There is a referral from them that is still good.")
    _ask(ctx, patient["id"], practice_id, "new_to_us", None)
    return ctx.ok({"asked": True, "practice_id": practice_id})


def resend_referral(ctx: ToolContext, referral_id: str) -> Envelope:
    """Send a referral that our doctor wrote to the specialist's office once more.

    Args:
        referral_id: Id of the referral, from list_referrals.
    """
    if verified(ctx) is None:
        return not_verified(ctx)
    own = ctx.row("SELECT * FROM referrals WHERE id = ? AND patient_id = ?", referral_id, ctx.session["patient_id"])
    if own is None:
        return ctx.fail("referral_unknown", "I don't see that referral in your chart. Let me look again.")
    if own["direction"] != "from_us":
        return ctx.fail("not_ours", "That referral is from your own doctor, so we can't send it. We can ask them.")
    if own["status"] == "expired":
        return ctx.fail("expired", "That referral has expired. Your doctor here has to write a new one.")
    _ask(ctx, own["patient_id"], own["practice_id"], "send_again", referral_id)
    return ctx.ok({"sent_again": True, "referral_id": referral_id})


def _own_approval(ctx: ToolContext, approval_id: str) -> Row | None:
    return ctx.row(
        "SELECT * FROM prior_approvals WHERE id = ? AND patient_id = ?", approval_id, ctx.session["patient_id"]
    )


def _no_approval(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("approval_unknown", "I don't see that approval in your chart. Let me look again.")


def _request(ctx: ToolContext, approval_id: str, kind: str) -> Envelope:
    ctx.run(
        "INSERT OR IGNORE INTO approval_requests (approval_id, kind, requested_on) VALUES (?, ?, ?)",
        *(approval_id, kind, ctx.now.date()),
    )
    return ctx.ok({"requested": kind, "approval_id": approval_id})


def _ask(ctx: ToolContext, patient_id: str, practice_id: str, kind: str, referral_id: str | None) -> None:
    ctx.run(
        "INSERT OR IGNORE INTO referral_requests (patient_id, practice_id, kind, referral_id, requested_on)"
        " VALUES (?, ?, ?, ?, ?)",
        *(patient_id, practice_id, kind, referral_id, ctx.now.date()),
    )
