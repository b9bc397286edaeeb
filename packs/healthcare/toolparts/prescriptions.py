"""Prescriptions, where they are filled, and what only the prescriber may decide."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, verified
from .kinds import PrescriberMatter, Row

EARLIEST_REFILL_DAYS = 21
"""Days after the last fill before which a refill is too early."""


def list_prescriptions(ctx: ToolContext) -> Envelope:
    """The verified patient's prescriptions with ids, directions, refills left, pharmacy, and a refill underway."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT rx.id AS prescription_id, drug, directions, controlled, refills_left, last_filled_on, expires_on,"
        " rx.pharmacy_id, ph.name || ', ' || ph.street AS pharmacy, rx.status, r.requested_at AS refill_requested_at"
        " FROM prescriptions AS rx JOIN pharmacies AS ph ON ph.id = rx.pharmacy_id LEFT JOIN refill_requests AS r"
        " ON r.prescription_id = rx.id AND r.status = 'open' WHERE rx.patient_id = ? ORDER BY rx.id",
        patient["id"],
    )
    return ctx.ok({"prescriptions": [{**rx, "controlled": bool(rx["controlled"])} for rx in found]})


def list_pharmacies(ctx: ToolContext, name: str | None = None) -> Envelope:
    """Pharmacies with id, street and city. Several share a name: ask for the street. Public.

    Args:
        name: A part of the name, if the caller named one.
    """
    found = ctx.rows("SELECT id AS pharmacy_id, name, street, city FROM pharmacies ORDER BY name, street")
    wanted = (name or "").strip().casefold()
    return ctx.ok({"pharmacies": [p for p in found if wanted in p["name"].casefold()]})


def request_refill(ctx: ToolContext, prescription_id: str) -> Envelope:
    """Send a refill to the pharmacy of the prescription. Refused if the rules or the prescriber stand against it.

    Args:
        prescription_id: Id of the prescription, from list_prescriptions.
    """
    rx = own_prescription(ctx, prescription_id)
    if rx is None:
        return no_prescription(ctx)
    underway = ctx.row("SELECT * FROM refill_requests WHERE prescription_id = ? AND status = 'open'", prescription_id)
    if underway is not None and underway["requested_at"] != ctx.now.isoformat(timespec="minutes"):
        data = {"requested_at": underway["requested_at"], "pharmacy_id": underway["pharmacy_id"]}
        return ctx.fail("refill_already_open", "That refill has been asked for already and is being worked on.", data)
    if underway is None:
        refusal = _refuse_refill(ctx, rx)
        if refusal is not None:
            return refusal
        ctx.run(
            "INSERT INTO refill_requests (prescription_id, pharmacy_id, status, requested_at) VALUES (?, ?, 'open', ?)",
            *(prescription_id, rx["pharmacy_id"], ctx.now),
        )
    return ctx.ok({"requested": True, "prescription_id": prescription_id, "pharmacy_id": rx["pharmacy_id"]})


def withdraw_refill_request(ctx: ToolContext, prescription_id: str) -> Envelope:
    """Take back a refill request that is underway.

    Args:
        prescription_id: Id of the prescription, from list_prescriptions.
    """
    rx = own_prescription(ctx, prescription_id)
    if rx is None:
        return no_prescription(ctx)
    ctx.run("DELETE FROM refill_requests WHERE prescription_id = ? AND status = 'open'", prescription_id)
    return ctx.ok({"requested": False, "prescription_id": prescription_id})


def change_pharmacy(ctx: ToolContext, prescription_id: str, pharmacy_id: str) -> Envelope:
    """Have a prescription filled at another pharmacy from now on. Also moves a refill request that is underway.

    Args:
        prescription_id: Id of the prescription, from list_prescriptions.
        pharmacy_id: Id of the pharmacy, from list_pharmacies, after the caller agreed to its street.
    """
    rx = own_prescription(ctx, prescription_id)
    if rx is None:
        return no_prescription(ctx)
    if not ctx.row("SELECT 1 FROM pharmacies WHERE id = ?", pharmacy_id):
        known = [row["id"] for row in ctx.rows("SELECT id FROM pharmacies ORDER BY id")]
        return ctx.fail("pharmacy_id_unknown", "Let me look that pharmacy up again.", {"known": known})
    if rx["controlled"]:
        return ctx.fail("controlled", "Only the prescriber can move that prescription. I can pass it on.")
    ctx.run("UPDATE prescriptions SET pharmacy_id = ? WHERE id = ?", pharmacy_id, prescription_id)
    ctx.run(
        "UPDATE refill_requests SET pharmacy_id = ? WHERE prescription_id = ? AND status = 'open'",
        *(pharmacy_id, prescription_id),
    )
    return ctx.ok({"changed": True, "prescription_id": prescription_id, "pharmacy_id": pharmacy_id})


def request_prescriber_review(ctx: ToolContext, prescription_id: str, matter: PrescriberMatter) -> Envelope:
    """Put a prescription before its prescriber. For what request_refill refused, a side effect, or a change of dose.

    Args:
        prescription_id: Id of the prescription, from list_prescriptions.
        matter: controlled, no_refills_left, expired or too_early as request_refill answered; side_effect or
            dose_change if that is what the caller wants decided.
    """
    rx = own_prescription(ctx, prescription_id)
    if rx is None:
        return no_prescription(ctx)
    if matter not in ("side_effect", "dose_change") and matter != _why_no_refill(ctx, rx):
        return ctx.fail("matter_does_not_fit", "Let me look at that prescription again.")
    ctx.run(
        "INSERT OR IGNORE INTO prescriber_requests (prescription_id, kind, requested_at) VALUES (?, ?, ?)",
        *(prescription_id, matter, ctx.now),
    )
    provider = ctx.row("SELECT name FROM providers WHERE id = ?", rx["provider_id"])
    return ctx.ok({"passed_on": True, "prescription_id": prescription_id, "to": (provider or {}).get("name")})


def own_prescription(ctx: ToolContext, prescription_id: str) -> Row | None:
    return ctx.row(
        "SELECT * FROM prescriptions WHERE id = ? AND patient_id = ?", prescription_id, ctx.session["patient_id"]
    )


def no_prescription(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("prescription_unknown", "I don't see that prescription in your chart. Let me look again.")


def _why_no_refill(ctx: ToolContext, rx: Row) -> str | None:
    """Why a refill cannot be sent, as an error code; None if it can."""
    if rx["status"] != "active":
        return "stopped"
    if rx["controlled"]:
        return "controlled"
    if rx["visit_needed"]:
        return "visit_needed"
    if rx["expires_on"] < ctx.now.date().isoformat():
        return "expired"
    if rx["refills_left"] == 0:
        return "no_refills_left"
    due = dt.date.fromisoformat(rx["last_filled_on"]) + dt.timedelta(days=EARLIEST_REFILL_DAYS)
    return "too_early" if due > ctx.now.date() else None


REFUSALS = {
    "stopped": "That medicine was stopped, so it can't be refilled. A nurse can call you about it.",
    "controlled": "That medicine can't be refilled on the phone. I can put it before the prescriber.",
    "visit_needed": "That medicine is only given at a visit. I can have one booked for you.",
    "expired": "That prescription has expired. I can put it before the prescriber.",
    "no_refills_left": "There are no refills left on it. I can put it before the prescriber.",
    "too_early": "It's too early for the next refill. I can put it before the prescriber if you need it sooner.",
}


def _refuse_refill(ctx: ToolContext, rx: Row) -> Envelope | None:
    why = _why_no_refill(ctx, rx)
    return None if why is None else ctx.fail(why, REFUSALS[why])
