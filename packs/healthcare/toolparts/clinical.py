"""Results, calls from a nurse, and the one question that decides how soon somebody is seen."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .guards import not_verified, us_number, verified
from .kinds import Symptom, TimeOfDay


def get_results(ctx: ToolContext) -> Envelope:
    """The verified patient's test results: released with words that may be said, pending, or only by a nurse's call."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT o.id AS order_id, o.description, o.ordered_on, r.status, r.resulted_on, r.words FROM results AS r"
        " JOIN orders AS o ON o.id = r.order_id WHERE o.patient_id = ? ORDER BY o.ordered_on DESC, o.id",
        patient["id"],
    )
    return ctx.ok({"results": found})


def list_nurse_callbacks(ctx: ToolContext) -> Envelope:
    """Calls from a nurse that the verified patient is waiting for: reason, order, time of day, and since when."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT reason, order_id, time_of_day, requested_at FROM nurse_callbacks WHERE patient_id = ?"
        " AND status = 'open' ORDER BY id",
        patient["id"],
    )
    return ctx.ok({"nurse_callbacks": found})


def request_nurse_call(
    ctx: ToolContext,
    reason: Literal["result", "symptom", "medicine"],
    mobile_e164: Annotated[str, Phone],
    order_id: str | None = None,
    time_of_day: TimeOfDay = "any",
) -> Envelope:
    """Have a nurse call the verified patient. A call that is open already gets the new number and time of day.

    Args:
        reason: result for a test, symptom for something on the skin, medicine for a question about a medicine.
        mobile_e164: The number that the caller gives for the call, after you have read it back.
        order_id: Only with reason result: id of the order, from get_results.
        time_of_day: Only if the caller asked for mornings or afternoons.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not us_number(mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me the ten digits of that number again?")
    if (reason == "result") != (order_id is not None):
        return ctx.fail("order_id_missing", "Which test is it about?")
    if order_id is not None:
        result = ctx.row(
            "SELECT r.status FROM results AS r JOIN orders AS o ON o.id = r.order_id WHERE o.id = ?"
            " AND o.patient_id = ?",
            *(order_id, patient["id"]),
        )
        if result is None:
            return ctx.fail("order_unknown", "I don't see that test in your chart. Let me look again.")
        if result["status"] == "pending":
            return ctx.fail("result_pending", "That result isn't back yet. A nurse calls when it is.")
    key = (patient["id"], reason, order_id)
    where = "patient_id = ? AND reason = ? AND order_id IS ? AND status = 'open'"
    if ctx.row(f"SELECT 1 FROM nurse_callbacks WHERE {where}", *key):
        ctx.run(
            f"UPDATE nurse_callbacks SET mobile_e164 = ?, time_of_day = ? WHERE {where}",
            *(mobile_e164, time_of_day, *key),
        )
    else:
        ctx.run(
            "INSERT INTO nurse_callbacks (patient_id, reason, order_id, mobile_e164, time_of_day, status, requested_at)"
            " VALUES (?, ?, ?, ?, ?, 'open', ?)",
            *(*key, mobile_e164, time_of_day, ctx.now),
        )
    return ctx.ok({"nurse_calls": True, "reason": reason, "order_id": order_id, "time_of_day": time_of_day})


def get_triage_question(ctx: ToolContext, symptom: Symptom) -> Envelope:
    """The one question to ask a verified patient about a symptom. Ask it word for word, then record_triage.

    Args:
        symptom: wound (a cut, stitches, surgery), reaction (to a medicine or cream), new_mole (new or changing), rash,
            blister, swelling.
    """
    if verified(ctx) is None:
        return not_verified(ctx)
    found = ctx.row("SELECT symptom, question FROM triage_guides WHERE symptom = ?", symptom)
    return ctx.ok(found) if found else ctx.fail("symptom_unknown", "I can have a nurse call you about that.")


def record_triage(ctx: ToolContext, symptom: Symptom, answer: Literal["yes", "no"]) -> Envelope:
    """Write down the answer to the question of get_triage_question; says how soon, and the words to say.

    Args:
        symptom: The same as before.
        answer: What the caller answered.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    guide = ctx.row("SELECT * FROM triage_guides WHERE symptom = ?", symptom)
    if guide is None:
        return ctx.fail("symptom_unknown", "I can have a nurse call you about that.")
    outcome = guide[f"if_{answer}"]
    noted = ctx.row(
        "SELECT id FROM triage_notes WHERE patient_id = ? AND symptom = ? AND noted_at = ?",
        *(patient["id"], symptom, ctx.now),
    )
    if noted is None:
        ctx.run(
            "INSERT INTO triage_notes (patient_id, symptom, answer, outcome, noted_at) VALUES (?, ?, ?, ?, ?)",
            *(patient["id"], symptom, answer, outcome, ctx.now),
        )
    else:
        ctx.run("UPDATE triage_notes SET answer = ?, outcome = ? WHERE id = ?", answer, outcome, noted["id"])
    return ctx.ok({"outcome": outcome, "words": guide[outcome]})
