"""The tools of the front desk of Straus Dermatology; they stand in toolparts/, one file for each kind of errand.

What policy asks, the tools enforce: nothing of a chart without a verified identity, a result only in the words that
were released, a payment link only to the mobile on file, a refill only where the prescriber left one, a time only if
it is free. Reading tools write nothing. A write that is repeated answers as the first did.
"""

from __future__ import annotations

from .billing import (
    explain_charge,
    get_account_balance,
    list_payments,
    offer_financing,
    request_charge_review,
    send_payment_link,
)
from .clinical import (
    get_results,
    get_triage_question,
    list_nurse_callbacks,
    record_triage,
    request_nurse_call,
)
from .front import (
    file_complaint,
    record_declined_request,
    set_reminders,
    update_address,
    update_mobile,
)
from .identity import (
    get_patient_summary,
    identify_patient,
    register_new_patient,
    verify_identity,
)
from .insurance import (
    get_coverage,
    list_outside_practices,
    list_prior_approvals,
    list_referrals,
    record_new_insurance,
    renew_prior_approval,
    request_appeal,
    request_referral,
    resend_referral,
)
from .practice import (
    get_practice_fact,
    list_appointment_types,
    list_locations,
    list_providers,
    take_message,
)
from .prescriptions import (
    change_pharmacy,
    list_pharmacies,
    list_prescriptions,
    request_prescriber_review,
    request_refill,
    withdraw_refill_request,
)
from .records import (
    get_portal_status,
    list_record_requests,
    list_releases,
    request_records,
    revoke_release,
    send_portal_invite,
    send_release_form,
    unlock_portal,
    withdraw_record_request,
)
from .scheduling import (
    book_appointment,
    cancel_appointment,
    confirm_appointment,
    find_slots,
    reschedule_appointment,
)
from .statements import (
    change_plan_day,
    get_payment_plan,
    list_statements,
    request_fee_waiver,
    send_statement_copy,
)
from .waitlist import (
    add_accommodation,
    join_waitlist,
    leave_waitlist,
    list_waitlist,
)

__all__ = [
    "add_accommodation",
    "book_appointment",
    "cancel_appointment",
    "change_pharmacy",
    "change_plan_day",
    "confirm_appointment",
    "explain_charge",
    "file_complaint",
    "find_slots",
    "get_account_balance",
    "get_coverage",
    "get_patient_summary",
    "get_payment_plan",
    "get_portal_status",
    "get_practice_fact",
    "get_results",
    "get_triage_question",
    "identify_patient",
    "join_waitlist",
    "leave_waitlist",
    "list_appointment_types",
    "list_locations",
    "list_nurse_callbacks",
    "list_outside_practices",
    "list_payments",
    "list_pharmacies",
    "list_prescriptions",
    "list_prior_approvals",
    "list_providers",
    "list_record_requests",
    "list_referrals",
    "list_releases",
    "list_statements",
    "list_waitlist",
    "offer_financing",
    "record_declined_request",
    "record_new_insurance",
    "record_triage",
    "register_new_patient",
    "renew_prior_approval",
    "request_appeal",
    "request_charge_review",
    "request_fee_waiver",
    "request_nurse_call",
    "request_prescriber_review",
    "request_records",
    "request_referral",
    "request_refill",
    "reschedule_appointment",
    "resend_referral",
    "revoke_release",
    "send_payment_link",
    "send_portal_invite",
    "send_release_form",
    "send_statement_copy",
    "set_reminders",
    "take_message",
    "unlock_portal",
    "update_address",
    "update_mobile",
    "verify_identity",
    "withdraw_record_request",
    "withdraw_refill_request",
]
