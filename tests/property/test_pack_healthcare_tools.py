"""Whatever a model sends to the healthcare desk's tools: an answer comes back, and the database stays sound."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pack_calls import Made, assert_answered_and_sound, calls

from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack

pytestmark = pytest.mark.property


@cache
def healthcare() -> Pack:
    return load_pack(installed_data_dir() / "packs" / "healthcare")


PLAUSIBLE: dict[str, list[Any]] = {
    "prescription_id": [
        "rx_mitchell_tretinoin",
        "rx_anderson_clobetasol",
        "rx_walker_tramadol",
        "rx_palmer_hydrocortisone",
    ],
    "pharmacy_id": ["pharm_corner_court", "Corner Pharmacy"],
    "order_id": ["ord_203", "ord_204", "ord_201"],
    "appointment_id": [2, 10, 31],
    "slot_id": ["slot_loc_park_ave_1", "slot_loc_brooklyn_heights_1", "slot_loc_windermere_5"],
    "new_slot_id": ["slot_loc_park_ave_2", "slot_loc_brooklyn_heights_3"],
    "new_start": ["2026-08-24T09:00", "2026-08-25T11:30"],
    "new_end": ["2026-08-24T09:30", "2026-08-25T12:00"],
    "location_id": ["loc_park_ave", "Park Avenue"],
    "location_ids": [["loc_park_ave"], ["loc_brooklyn_heights", "nowhere"]],
    "home_location_id": ["loc_windermere"],
    "provider_id": ["prov_bennett", "prov_chen"],
    "appointment_type_code": ["MED_FOLLOWUP", "MED_PSORIASIS", "COS_CONSULT", "SURG_MOHS"],
    "practice_id": ["out_lakeside", "Lakeside Family Medicine"],
    "approval_id": ["pa_fields_injections", "pa_blake_light", "pa_sutton_patch"],
    "referral_id": ["ref_west_hudson", "ref_west_grand", "ref_fox_lakeshore"],
    "request_id": [1, 2, 5],
    "release_id": ["rel_shaw_nancy", "rel_shaw_peter"],
    "statement_number": ["41902", "41877"],
    "line_item_id": ["li_visit", "li_noshow", "li_dennis_cole_noshow"],
    "member_id_last4": ["6104"],
    "due_day": [15, 1, 0, 29],
    "zip_code": ["11215"],
    "mobile_e164": ["+12125550133", "646-555-0120"],
    "old_mobile_e164": ["+12125550133"],
    "new_mobile_e164": ["+12125550134"],
    "full_name": ["Maria Alvarez", "Lucy Palmer", "Kathryn Morgan", "George Lambert"],
    "guardian_name": ["Helen Palmer", "Mark Palmer", "Helen"],
    "dob": ["1972-06-30", "2013-03-20", "1978-02-28", "1938-12-24"],
}
"""Argument → values that get a call past its first guard."""
CALLERS = [
    None,
    "pat_maria_alvarez",
    "pat_karen_mitchell",
    "pat_martin_walker",
    "pat_peter_barnes",
    "pat_edward_shaw",
    "pat_howard_blake",
    "pat_leonard_west",
    "pat_philip_grant",
    "pat_dennis_cole",
]


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(st.deferred(lambda: calls(healthcare(), PLAUSIBLE)), min_size=1, max_size=12),
    who=st.sampled_from(CALLERS),
)
def test_any_arguments_get_an_answer_and_leave_the_database_sound(made: Made, who: str | None) -> None:
    assert_answered_and_sound(healthcare(), {"patient_id": who}, made)
