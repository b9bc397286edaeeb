"""Papers of a file, and copies of it."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import has_id, no_matter, not_verified, own_matter, unknown_id, verified
from .kinds import CopyKind, Row


def list_documents(ctx: ToolContext, matter_number: str) -> Envelope:
    """The papers of one matter with id, title, date, status and whether the desk may send them; open copy requests.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    papers = ctx.rows(
        "SELECT id AS document_id, title, dated, status, releasable FROM documents WHERE matter_id = ? ORDER BY id",
        matter["id"],
    )
    shown = [{**{k: p[k] for k in list(p)[:4]}, "may_be_sent": no_release(p) is None} for p in papers]
    copies = ctx.rows("SELECT kind, requested_on FROM copy_requests WHERE matter_id = ? ORDER BY id", matter["id"])
    return ctx.ok({"matter_number": matter_number, "documents": shown, "copy_requests": copies})


def send_document(
    ctx: ToolContext, document_id: str, channel: Literal["email", "pickup"], office_id: str | None = None
) -> Envelope:
    """Give the verified client a paper of their file: to the email address on file, or for pickup at an office.

    Args:
        document_id: Id of the paper, from list_documents.
        channel: email or pickup, as the caller wants it.
        office_id: Only for pickup: the office, by id.
    """
    paper = own_document(ctx, document_id)
    if paper is None:
        return no_document(ctx)
    refusal = no_release(paper)
    if refusal is not None:
        return ctx.fail(refusal, "I can't give that paper out from here. Your attorney can tell you more about it.")
    if (channel == "pickup") != (office_id is not None):
        return ctx.fail("office_missing", "At which office would you like to pick it up?")
    if office_id is not None and not has_id(ctx, "offices", office_id):
        return unknown_id(ctx, "offices", "office_id")
    ordered = ctx.row(
        "SELECT id FROM document_deliveries WHERE document_id = ? AND channel = ? AND office_id IS ?"
        " AND ordered_at = ?",
        *(document_id, channel, office_id, ctx.now),
    )
    if ordered is None:
        ctx.run(
            "INSERT INTO document_deliveries (document_id, channel, office_id, ordered_at) VALUES (?, ?, ?, ?)",
            *(document_id, channel, office_id, ctx.now),
        )
    return ctx.ok({"ordered": True, "title": paper["title"], "channel": channel, "office_id": office_id})


def report_document_sent(ctx: ToolContext, document_id: str) -> Envelope:
    """Note that the client has sent in a paper that the firm waits for.

    Args:
        document_id: Id of the awaited paper, from list_documents.
    """
    paper = own_document(ctx, document_id)
    if paper is None:
        return no_document(ctx)
    if paper["status"] not in ("awaited_from_client", "announced"):
        return ctx.fail("not_awaited", "We are not waiting for that paper.")
    ctx.run("UPDATE documents SET status = 'announced' WHERE id = ?", document_id)
    return ctx.ok({"noted": True, "title": paper["title"]})


def request_copy(ctx: ToolContext, matter_number: str, kind: CopyKind) -> Envelope:
    """Order a copy of the client's file.

    Args:
        matter_number: Four digits.
        kind: full_file or certified_copy.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    ctx.run(
        "INSERT OR IGNORE INTO copy_requests (matter_id, kind, requested_on) VALUES (?, ?, ?)",
        *(matter["id"], kind, ctx.now.date()),
    )
    return ctx.ok({"requested": True, "matter_number": matter_number, "kind": kind})


def withdraw_copy_request(ctx: ToolContext, matter_number: str, kind: CopyKind) -> Envelope:
    """Take back an order for a copy that has not been made yet.

    Args:
        matter_number: Four digits.
        kind: full_file or certified_copy.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    ctx.run("DELETE FROM copy_requests WHERE matter_id = ? AND kind = ?", matter["id"], kind)
    return ctx.ok({"requested": False, "matter_number": matter_number, "kind": kind})


def own_document(ctx: ToolContext, document_id: str) -> Row | None:
    return ctx.row(
        "SELECT d.* FROM documents AS d JOIN matters AS m ON m.id = d.matter_id WHERE d.id = ? AND m.client_id = ?",
        *(document_id, ctx.session["client_id"]),
    )


def no_document(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("document_unknown", "I don't see that paper in your file. Let me look again.")


def no_release(paper: Row) -> str | None:
    """Why the desk may not give a paper out, as an error code; None if it may."""
    if not paper["releasable"]:
        return "attorney_only"
    return None if paper["status"] in ("final", "signed", "awaiting_signature") else "not_final"
