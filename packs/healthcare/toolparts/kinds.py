"""The words that arguments may be, and what a row is."""

from __future__ import annotations

from typing import Any, Literal

Row = dict[str, Any]

Service = Literal["medical", "surgical", "cosmetic", "allergy"]

Topic = Literal[
    "billing_question",
    "medical_question",
    "patient_deceased",
    "third_party",
    "supplier",
    "other",
]

FactTopic = Literal[
    "new_patients",
    "what_to_bring",
    "cancellation",
    "self_pay",
    "insurance_accepted",
    "referrals",
    "results",
    "prescriptions",
    "minors",
    "records",
    "payment_methods",
    "portal",
    "approvals",
    "interpreters",
    "holidays",
]

Accommodation = Literal["wheelchair", "interpreter", "hearing", "extra_time"]

TimeOfDay = Literal["any", "morning", "afternoon"]

PrescriberMatter = Literal["controlled", "no_refills_left", "expired", "too_early", "side_effect", "dose_change"]

Symptom = Literal["wound", "reaction", "new_mole", "rash", "blister", "swelling"]

RecordKind = Literal["visit_notes", "pathology_report", "full_chart", "billing_records"]

ReleaseScope = Literal["appointments", "billing", "all"]

Specialty = Literal["primary_care", "surgery", "rheumatology", "oncology", "dermatology"]

Declined = Literal["chart_of_another", "record_changed", "staff_contact"]

WaiverReason = Literal["illness", "emergency", "weather", "office_error", "other"]

ComplaintKind = Literal["waiting", "staff", "care", "billing", "building"]
