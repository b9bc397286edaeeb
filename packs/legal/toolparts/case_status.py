"""Where a matter stands: deadlines, reminders, hearings."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import no_matter, not_verified, own_matter, verified
from .kinds import Row

EXTENSION_NOTICE_DAYS = 2


def get_matter_status(ctx: ToolContext, matter_number: str) -> Envelope:
    """Where a matter of the verified client stands, in the words that the attorney has approved. Say these words only.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    lead = ctx.row("SELECT name FROM attorneys WHERE id = ?", matter["lead_attorney_id"]) or {}
    shown = {k: matter[k] for k in ("title", "status", "phase", "status_note")}
    return ctx.ok({"matter_number": matter_number, **shown, "lead_attorney": lead.get("name")})


def list_deadlines(ctx: ToolContext, matter_number: str) -> Envelope:
    """Open deadlines of one matter: id, what is due, on which day, who has to act, and the reminders that are set.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    found = ctx.rows(
        "SELECT id AS deadline_id, title, due_on, owner, status FROM deadlines WHERE matter_id = ? AND status <> 'met'"
        " ORDER BY due_on, id",
        matter["id"],
    )
    for row in found:
        sent = ctx.rows("SELECT send_on FROM reminders WHERE deadline_id = ? ORDER BY send_on", row["deadline_id"])
        row["reminders"] = [r["send_on"] for r in sent]
    return ctx.ok({"matter_number": matter_number, "deadlines": found})


def report_deadline_done(ctx: ToolContext, deadline_id: str) -> Envelope:
    """Note that the client has done what a deadline asks of them. The attorney still checks it.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
    """
    deadline = own_deadline(ctx, deadline_id)
    if deadline is None:
        return no_deadline(ctx)
    if deadline["owner"] != "client":
        return ctx.fail("firm_acts", "That one is for the firm to do, so there is nothing for you to report.")
    ctx.run("UPDATE deadlines SET status = 'reported_done' WHERE id = ?", deadline_id)
    return ctx.ok({"noted": True, "title": deadline["title"]})


def request_extension(ctx: ToolContext, deadline_id: str, reason: str) -> Envelope:
    """Ask the attorney for more time on a deadline of the client's. Grants nothing.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        reason: In one sentence, why the client needs more time.
    """
    deadline = own_deadline(ctx, deadline_id)
    if deadline is None:
        return no_deadline(ctx)
    if not reason.strip():
        return ctx.fail("reason_empty", "Why do you need more time?")
    if deadline["owner"] != "client" or deadline["status"] != "open":
        return ctx.fail("nothing_to_extend", "There is nothing open for you on that one.")
    if (dt.date.fromisoformat(deadline["due_on"]) - ctx.now.date()).days < EXTENSION_NOTICE_DAYS:
        return ctx.fail("too_late_to_extend", "It is too close for that. Your attorney has to hear of it today.")
    if not ctx.row("SELECT id FROM extension_requests WHERE deadline_id = ?", deadline_id):
        ctx.run(
            "INSERT INTO extension_requests (deadline_id, reason, requested_on) VALUES (?, ?, ?)",
            *(deadline_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"requested": True, "title": deadline["title"], "due_on": deadline["due_on"]})


def set_reminder(ctx: ToolContext, deadline_id: str, send_on: dt.date) -> Envelope:
    """Set a text reminder of a deadline, sent at nine in the morning of a day up to the due day.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        send_on: Day of the reminder.
    """
    deadline = own_deadline(ctx, deadline_id)
    if deadline is None:
        return no_deadline(ctx)
    if not ctx.now.date().isoformat() < send_on.isoformat() <= deadline["due_on"]:
        return ctx.fail("day_not_possible", "A reminder can come on any day from tomorrow up to the due day.")
    ctx.run("INSERT OR IGNORE INTO reminders (deadline_id, send_on) VALUES (?, ?)", deadline_id, send_on)
    return ctx.ok({"set": True, "title": deadline["title"], "send_on": send_on.isoformat()})


def remove_reminder(ctx: ToolContext, deadline_id: str, send_on: dt.date) -> Envelope:
    """Take a reminder away. Only if the client asks for it.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        send_on: Day of the reminder that goes.
    """
    deadline = own_deadline(ctx, deadline_id)
    if deadline is None:
        return no_deadline(ctx)
    ctx.run("DELETE FROM reminders WHERE deadline_id = ? AND send_on = ?", deadline_id, send_on)
    return ctx.ok({"set": False, "title": deadline["title"], "send_on": send_on.isoformat()})


def list_hearings(ctx: ToolContext, matter_number: str) -> Envelope:
    """Coming hearings of one matter: id, kind, court, room, time, and whether the client has to attend.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    found = ctx.rows(
        'SELECT id AS hearing_id, kind, court, room, "start", client_attends, client_confirmed FROM hearings'
        ' WHERE matter_id = ? AND "start" >= ? ORDER BY "start"',
        *(matter["id"], ctx.now),
    )
    return ctx.ok({"hearings": [{**h, "client_confirmed": bool(h["client_confirmed"])} for h in found]})


def confirm_hearing(ctx: ToolContext, hearing_id: str) -> Envelope:
    """Note that the client will be at a hearing. Only after you said day, time, court and room, and they agreed.

    Args:
        hearing_id: Id of the hearing, from list_hearings.
    """
    hearing = ctx.row(
        "SELECT h.* FROM hearings AS h JOIN matters AS m ON m.id = h.matter_id WHERE h.id = ? AND m.client_id = ?",
        *(hearing_id, ctx.session["client_id"]),
    )
    if hearing is None:
        if verified(ctx) is None:
            return not_verified(ctx)
        return ctx.fail("hearing_unknown", "I don't see that hearing on your matter. Let me look again.")
    ctx.run("UPDATE hearings SET client_confirmed = 1 WHERE id = ?", hearing_id)
    return ctx.ok({"confirmed": True, "kind": hearing["kind"], "start": hearing["start"]})


def own_deadline(ctx: ToolContext, deadline_id: str) -> Row | None:
    return ctx.row(
        "SELECT d.* FROM deadlines AS d JOIN matters AS m ON m.id = d.matter_id WHERE d.id = ? AND m.client_id = ?",
        *(deadline_id, ctx.session["client_id"]),
    )


def no_deadline(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("deadline_unknown", "I don't see that deadline on your matter. Let me look again.")
