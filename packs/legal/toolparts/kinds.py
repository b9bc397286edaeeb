"""The words that arguments may be, and what a row is."""

from __future__ import annotations

from typing import Any, Literal

Row = dict[str, Any]


Area = Literal["FAMILY", "EMPLOYMENT", "INJURY", "ESTATE", "TENANCY", "BUSINESS", "IMMIGRATION"]


AppointmentType = Literal["CONSULT", "CLIENT_MEETING", "SIGNING", "PHONE_UPDATE", "HEARING_PREP"]


CopyKind = Literal["full_file", "certified_copy"]


Topic = Literal[
    "legal_question",
    "case_update",
    "billing_question",
    "contact_change",
    "complaint",
    "third_party",
    "opposing_side",
    "supplier",
    "other",
]


FactTopic = Literal[
    "first_consultation",
    "engagement",
    "confidentiality",
    "what_to_bring",
    "payment_methods",
    "trust_account",
    "new_referrals",
    "interpreters",
    "file_copies",
    "closing",
]
