"""The tools of the front desk of Calloway Finch; they stand in toolparts/, one file for each role that uses them.

What policy asks, the tools enforce: nothing of a matter without a verified client, no fact of a new case before the
conflict check is clear, money and papers only the way the file allows. Reading tools write nothing. A write that is
repeated answers as the first did.
"""

from __future__ import annotations

from .billing import (
    check_payment_plan,
    dispute_line,
    explain_line,
    get_account_balance,
    get_invoice,
    get_trust_statement,
    list_payments,
    request_trust_payment,
    request_trust_refund,
    send_payment_link,
    start_payment_plan,
)
from .case_status import (
    confirm_hearing,
    get_matter_status,
    list_deadlines,
    list_hearings,
    remove_reminder,
    report_deadline_done,
    request_extension,
    set_reminder,
)
from .conflicts import check_conflicts, record_referral, register_prospect
from .documents import list_documents, report_document_sent, request_copy, send_document, withdraw_copy_request
from .firm import get_firm_fact, list_attorneys, list_offices, list_practice_areas, take_message
from .identity import get_client_overview, identify_client, update_mobile, verify_identity
from .intake import get_consultation_fee, get_intake_questions, save_intake
from .scheduling import (
    book_appointment,
    cancel_appointment,
    confirm_appointment,
    find_slots,
    join_waitlist,
    leave_waitlist,
    list_appointments,
    reschedule_appointment,
)

__all__ = [
    "book_appointment",
    "cancel_appointment",
    "check_conflicts",
    "check_payment_plan",
    "confirm_appointment",
    "confirm_hearing",
    "dispute_line",
    "explain_line",
    "find_slots",
    "get_account_balance",
    "get_client_overview",
    "get_consultation_fee",
    "get_firm_fact",
    "get_intake_questions",
    "get_invoice",
    "get_matter_status",
    "get_trust_statement",
    "identify_client",
    "join_waitlist",
    "leave_waitlist",
    "list_appointments",
    "list_attorneys",
    "list_deadlines",
    "list_documents",
    "list_hearings",
    "list_offices",
    "list_payments",
    "list_practice_areas",
    "record_referral",
    "register_prospect",
    "remove_reminder",
    "report_deadline_done",
    "report_document_sent",
    "request_copy",
    "request_extension",
    "request_trust_payment",
    "request_trust_refund",
    "reschedule_appointment",
    "save_intake",
    "send_document",
    "send_payment_link",
    "set_reminder",
    "start_payment_plan",
    "take_message",
    "update_mobile",
    "verify_identity",
    "withdraw_copy_request",
]
