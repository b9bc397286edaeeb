"""The healthcare desk's seed, its transfer graph, and the rules that its tools enforce."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from callm_voice.bench.packcheck.play import HandDesk
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack

pytestmark = pytest.mark.unit

HEALTHCARE = installed_data_dir() / "packs" / "healthcare"
DOB = {
    "Maria Alvarez": "1972-06-30",
    "Karen Mitchell": "1984-09-14",
    "Paul Anderson": "1970-06-06",
    "Janet Cooper": "1959-12-02",
    "Martin Walker": "1975-01-30",
    "Diane Murphy": "1966-03-25",
    "Kevin Reed": "2003-07-18",
    "Frank Russell": "1962-08-08",
    "Scott Howard": "1994-05-05",
    "Martha Collins": "1957-04-03",
    "Peter Barnes": "1986-06-23",
    "Julia Bell": "1982-11-16",
    "Teresa Long": "1949-09-30",
    "Alan Perry": "1960-01-05",
    "Rachel Stone": "1995-08-22",
    "Henry Ward": "1956-06-18",
    "Edward Shaw": "1951-05-13",
    "Margaret Dunn": "1969-10-09",
    "Philip Grant": "1963-09-05",
    "Sarah Bishop": "1977-07-21",
    "Norman Drake": "1954-03-16",
    "Dennis Cole": "1967-05-17",
    "Anna Fleming": "1989-02-06",
    "Nancy Fields": "1974-04-26",
    "Howard Blake": "1961-11-04",
    "Gloria Sutton": "1955-01-27",
    "Joyce Warner": "1958-02-11",
    "Irene Fox": "1947-07-15",
    "Leonard West": "1964-08-02",
    "Walter Hughes": "1953-10-21",
    "Susan Parker": "1976-02-17",
    "Harold Jenkins": "1944-08-15",
}


@cache
def healthcare() -> Pack:
    return load_pack(HEALTHCARE)


class Desk(HandDesk):
    """One call's desk, worked by hand."""

    def anywhere(self, tool: str, **args: Any) -> dict[str, Any]:
        """Run a call in the first role that has the tool, whoever holds the floor."""
        self.role = next(role for role in self.pack.roles.values() if tool in role.tools)
        return self.call(tool, args).output

    def data(self, tool: str, **args: Any) -> Any:
        output = self.anywhere(tool, **args)
        assert output["ok"], output
        return output["data"]

    def code(self, tool: str, **args: Any) -> str | None:
        """The error code of a call."""
        return self.anywhere(tool, **args)["error_code"]

    def open(self, name: str) -> None:
        """Verify somebody."""
        self.data("verify_identity", full_name=name, dob=DOB[name])

    @property
    def untouched(self) -> bool:
        """Whether the database is as it was seeded."""
        return self.database.dump() == self.pack.seed_state()

    def new(self, table: str) -> list[dict[str, Any]]:
        """The rows that are new or changed."""
        seeded = self.pack.seed_state()[table]
        return [row for row in self.database.dump()[table] if row not in seeded]


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk(healthcare())
    yield made
    made.close()


# --- seed -----------------------------------------------------------------------------------------------------------


def _make_seed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("healthcare_make_seed", HEALTHCARE / "make_seed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_seed_is_what_its_script_writes() -> None:
    assert _make_seed().make() == (HEALTHCARE / "seed.sql").read_text(encoding="utf-8")


def test_the_free_times_of_the_first_cast_stay_the_soonest_of_each_office(desk: Desk) -> None:
    """What the bulk frees comes later, or belongs to a provider who does only one kind of visit."""
    first = sqlite3.connect(":memory:")
    for name in ("schema.sql", "cast.sql"):
        first.executescript((HEALTHCARE / name).read_text(encoding="utf-8"))
    for office in ("loc_park_ave", "loc_brooklyn_heights", "loc_windermere"):
        query = (
            "SELECT id FROM slots WHERE location_id = ? AND appointment_id IS NULL AND blocked IS NULL"
            ' AND "start" > ? ORDER BY "start" LIMIT 5'
        )
        soonest = [row[0] for row in first.execute(query, (office, "2026-08-18T09:30"))]
        found = desk.data("find_slots", location_ids=[office], max_results=5)["slots"]
        assert [slot["slot_id"] for slot in found] == soonest


def test_only_those_meant_to_be_alike_share_a_name_or_a_number() -> None:
    patients = healthcare().seed_state()["patients"]
    names = [(p["first_name"], p["last_name"]) for p in patients]
    assert {name for name in names if names.count(name) > 1} == {("John", "Carter")}
    mobiles = [p["mobile_e164"] for p in patients]
    shared = {p["id"] for p in patients if mobiles.count(p["mobile_e164"]) > 1}
    assert shared == {"pat_katherine_morgan", "pat_kathryn_morgan"}


def test_each_portal_flag_agrees_with_the_account() -> None:
    state = healthcare().seed_state()
    status = {row["patient_id"]: row["status"] for row in state["portal_accounts"]}
    for patient in state["patients"]:
        assert bool(patient["portal_active"]) == (status.get(patient["id"]) in ("active", "locked")), patient["id"]


# --- transfers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "other"),
    [
        *(("identity", d) for d in ("billing", "scheduling", "clinical", "records", "insurance", "front_office")),
        ("scheduling", "clinical"),
        ("clinical", "scheduling"),
        ("scheduling", "front_office"),
        ("clinical", "records"),
        ("insurance", "billing"),
        ("insurance", "scheduling"),
        ("records", "front_office"),
        ("front_office", "records"),
    ],
)
def test_desks_hand_over_to_each_other_without_the_router(role: str, other: str) -> None:
    assert other in healthcare().role(role).transfers


def test_the_router_reaches_every_desk() -> None:
    assert set(healthcare().role("router").transfers) == set(healthcare().roles) - {"router"}


# --- privacy --------------------------------------------------------------------------------------------------------

OF_A_CHART: dict[str, dict[str, Any]] = {
    "list_statements": {},
    "send_statement_copy": {"statement_number": "41902", "channel": "portal"},
    "get_payment_plan": {},
    "change_plan_day": {"due_day": 15},
    "request_fee_waiver": {"line_item_id": "li_dennis_cole_noshow", "reason": "illness"},
    "list_waitlist": {},
    "leave_waitlist": {"location_id": "loc_park_ave", "appointment_type_code": "MED_SKIN_CHECK"},
    "add_accommodation": {"appointment_id": 36, "kind": "wheelchair"},
    "list_prescriptions": {},
    "request_refill": {"prescription_id": "rx_mitchell_tretinoin"},
    "withdraw_refill_request": {"prescription_id": "rx_anderson_clobetasol"},
    "change_pharmacy": {"prescription_id": "rx_cooper_metronidazole", "pharmacy_id": "pharm_corner_court"},
    "request_prescriber_review": {"prescription_id": "rx_walker_tramadol", "matter": "controlled"},
    "get_results": {},
    "list_nurse_callbacks": {},
    "request_nurse_call": {"reason": "result", "order_id": "ord_201", "mobile_e164": "+19175550131"},
    "get_triage_question": {"symptom": "wound"},
    "record_triage": {"symptom": "wound", "answer": "yes"},
    "list_record_requests": {},
    "request_records": {"kind": "full_chart", "delivery": "portal"},
    "withdraw_record_request": {"request_id": 1},
    "list_releases": {},
    "revoke_release": {"release_id": "rel_shaw_nancy"},
    "send_release_form": {"scope": "all", "delivery": "portal"},
    "get_portal_status": {},
    "send_portal_invite": {"mobile_e164": "+13475550142"},
    "unlock_portal": {},
    "get_coverage": {},
    "record_new_insurance": {"carrier": "Aetna", "member_id_last4": "1111", "starts_on": "2026-09-01"},
    "list_prior_approvals": {},
    "renew_prior_approval": {"approval_id": "pa_fields_injections"},
    "request_appeal": {"approval_id": "pa_blake_light"},
    "list_referrals": {},
    "request_referral": {"practice_id": "out_lakeside"},
    "resend_referral": {"referral_id": "ref_west_hudson"},
    "update_mobile": {"old_mobile_e164": "+12125550133", "new_mobile_e164": "+12125550199"},
    "update_address": {"street": "1 Main Street", "city": "Brooklyn", "zip_code": "11201"},
    "set_reminders": {"reminders": "none"},
}


@pytest.mark.parametrize("tool", OF_A_CHART)
def test_nothing_of_a_chart_without_a_verified_caller(desk: Desk, tool: str) -> None:
    output = desk.anywhere(tool, **OF_A_CHART[tool])
    assert (output["ok"], output["error_code"], output["data"]) == (False, "identity_not_verified", None)
    assert desk.untouched


@pytest.mark.parametrize(
    "tool",
    [t for t, args in OF_A_CHART.items() if any(k.endswith("_id") or k == "statement_number" for k in args)],
)
def test_rows_of_another_patient_are_out_of_reach(desk: Desk, tool: str) -> None:
    """Henry Ward has none of these rows."""
    desk.open("Henry Ward")
    output = desk.anywhere(tool, **OF_A_CHART[tool])
    if tool not in ("leave_waitlist", "request_referral"):
        assert output["error_code"].endswith("_unknown")
        assert desk.untouched
    for table in ("waitlist", "refill_requests", "nurse_callbacks", "record_requests"):
        assert len(desk.database.dump()[table]) == len(healthcare().seed_state()[table])


def test_a_child_is_spoken_for_only_by_a_guardian_on_file(desk: Desk) -> None:
    lucy = {"full_name": "Lucy Palmer", "dob": "2013-03-20"}
    found = desk.data("identify_patient", first_name="Lucy", last_name="Palmer", dob="2013-03-20")
    assert found["guardian_needed"] is True
    assert desk.code("verify_identity", **lucy) == "guardian_needed"
    assert desk.code("verify_identity", **lucy, guardian_name="Mark Palmer") == "guardian_not_on_file"
    assert desk.code("list_prescriptions") == "identity_not_verified"
    assert desk.data("verify_identity", **lucy, guardian_name="Helen Palmer")["patient_id"] == "pat_lucy_palmer"


def test_guessing_guardians_closes_the_check(desk: Desk) -> None:
    lucy = {"full_name": "Lucy Palmer", "dob": "2013-03-20"}
    codes = [desk.code("verify_identity", **lucy, guardian_name=name) for name in ("A B", "C D", "E F")]
    assert codes == ["guardian_not_on_file", "guardian_not_on_file", "identity_locked"]


def test_a_joined_chart_leads_to_the_one_that_goes_on(desk: Desk) -> None:
    assert desk.code("verify_identity", full_name="Kathryn Morgan", dob="1978-02-28") == "chart_merged"
    found = desk.data("identify_patient", first_name="Kathryn", last_name="Morgan", dob="1978-02-28")
    assert found["read_back"]["full_name"] == "Katherine Morgan"


def test_the_chart_of_somebody_who_has_died_stays_closed(desk: Desk) -> None:
    assert desk.code("verify_identity", full_name="George Lambert", dob="1938-12-24") == "chart_closed"
    assert desk.code("get_account_balance") == "identity_not_verified"


def test_two_of_one_name_are_told_apart_by_the_day_of_birth(desk: Desk) -> None:
    for year in ("1961-04-12", "1989-12-04"):
        opened = desk.data("verify_identity", full_name="John Carter", dob=year)
        assert opened["patient_id"] == f"pat_john_carter_{year[:4]}"


def test_a_declined_wish_is_written_down_once_also_without_a_name(desk: Desk) -> None:
    for _ in range(2):
        assert desk.data("record_declined_request", kind="chart_of_another")["recorded"]
    assert [(r["patient_id"], r["kind"]) for r in desk.new("declined_requests")] == [(None, "chart_of_another")]


# --- prescriptions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "prescription_id", "code"),
    [
        ("Martin Walker", "rx_walker_tramadol", "controlled"),
        ("Diane Murphy", "rx_murphy_doxycycline", "no_refills_left"),
        ("Kevin Reed", "rx_reed_isotretinoin", "visit_needed"),
        ("Frank Russell", "rx_russell_fluorouracil", "expired"),
        ("Scott Howard", "rx_howard_clindamycin", "too_early"),
        ("Paul Anderson", "rx_anderson_clobetasol", "refill_already_open"),
    ],
)
def test_a_refill_that_the_rules_do_not_allow_is_refused(
    desk: Desk, name: str, prescription_id: str, code: str
) -> None:
    desk.open(name)
    assert desk.code("request_refill", prescription_id=prescription_id) == code
    assert desk.untouched


def test_a_refused_refill_goes_before_its_prescriber_for_the_reason_that_it_has(desk: Desk) -> None:
    desk.open("Martin Walker")
    rx = {"prescription_id": "rx_walker_tramadol"}
    assert desk.code("request_prescriber_review", **rx, matter="expired") == "matter_does_not_fit"
    for _ in range(2):
        assert desk.data("request_prescriber_review", **rx, matter="controlled")["to"] == "Dr. Omar Haddad, MD"
    assert [r["kind"] for r in desk.new("prescriber_requests")] == ["controlled"]


def test_a_refill_is_sent_once_and_to_the_pharmacy_of_the_prescription(desk: Desk) -> None:
    desk.open("Karen Mitchell")
    rx = {"prescription_id": "rx_mitchell_tretinoin"}
    assert desk.data("request_refill", **rx) == desk.data("request_refill", **rx)
    assert [r["pharmacy_id"] for r in desk.new("refill_requests")] == ["pharm_corner_lexington"]
    desk.data("withdraw_refill_request", **rx)
    assert desk.untouched


def test_a_refill_underway_moves_with_its_prescription(desk: Desk) -> None:
    desk.open("Paul Anderson")
    desk.data("change_pharmacy", prescription_id="rx_anderson_clobetasol", pharmacy_id="pharm_harbor")
    assert [r["pharmacy_id"] for r in desk.new("refill_requests")] == ["pharm_harbor"]
    assert [r["pharmacy_id"] for r in desk.new("prescriptions")] == ["pharm_harbor"]


def test_two_pharmacies_share_a_name_and_differ_by_street(desk: Desk) -> None:
    found = desk.data("list_pharmacies", name="corner pharmacy")["pharmacies"]
    assert [p["street"] for p in found] == ["Court Street", "Lexington Avenue"]


# --- results and symptoms -------------------------------------------------------------------------------------------


def test_a_result_for_the_nurse_has_no_words(desk: Desk) -> None:
    desk.open("Martha Collins")
    (result,) = desk.data("get_results")["results"]
    assert (result["status"], result["words"]) == ("nurse_call", None)
    wanted = {"reason": "result", "order_id": "ord_201", "mobile_e164": "+19175550131"}
    for _ in range(2):
        assert desk.data("request_nurse_call", **wanted)["nurse_calls"]
    assert len(desk.new("nurse_callbacks")) == 1


def test_no_nurse_calls_about_a_result_that_is_not_back(desk: Desk) -> None:
    desk.open("Peter Barnes")
    call = {"reason": "result", "mobile_e164": "+17185550134"}
    assert desk.code("request_nurse_call", **call, order_id="ord_203") == "result_pending"
    assert desk.code("request_nurse_call", **call) == "order_id_missing"
    assert desk.untouched


def test_a_call_that_is_open_gets_the_new_number(desk: Desk) -> None:
    desk.open("Julia Bell")
    desk.data(
        "request_nurse_call",
        reason="result",
        order_id="ord_205",
        mobile_e164="+19295550177",
        time_of_day="morning",
    )
    (row,) = desk.new("nurse_callbacks")
    assert (row["mobile_e164"], row["time_of_day"], row["requested_at"]) == (
        "+19295550177",
        "morning",
        "2026-08-17T11:05",
    )


@pytest.mark.parametrize(
    ("symptom", "answer", "outcome"),
    [("wound", "yes", "same_day"), ("wound", "no", "routine"), ("reaction", "yes", "emergency")],
)
def test_one_answer_decides_how_soon(desk: Desk, symptom: str, answer: str, outcome: str) -> None:
    desk.open("Teresa Long")
    assert desk.data("record_triage", symptom=symptom, answer=answer)["outcome"] == outcome
    assert [(r["symptom"], r["outcome"]) for r in desk.new("triage_notes")] == [(symptom, outcome)]


# --- records and portal ---------------------------------------------------------------------------------------------


def test_records_go_only_where_they_can(desk: Desk) -> None:
    desk.open("Philip Grant")
    assert desk.code("request_records", kind="visit_notes", delivery="mail") == "mail_on_hold"
    assert desk.code("request_records", kind="visit_notes", delivery="portal") == "portal_not_active"
    assert desk.code("request_records", kind="visit_notes", delivery="practice") == "practice_missing"
    assert desk.untouched
    desk.data("update_address", street="240 Lincoln Street", city="Brooklyn", zip_code="11215")
    assert desk.data("request_records", kind="visit_notes", delivery="mail")["requested"]


def test_the_same_copy_is_not_asked_for_twice(desk: Desk) -> None:
    desk.open("Alan Perry")
    copy = {"kind": "full_chart", "delivery": "practice", "practice_id": "out_north"}
    assert desk.code("request_records", **copy) == "already_requested"
    requests = desk.data("list_record_requests")["record_requests"]
    assert desk.code("withdraw_record_request", request_id=requests[1]["request_id"]) == "already_sent"
    assert desk.data("withdraw_record_request", request_id=requests[0]["request_id"])["withdrawn"]
    assert desk.data("request_records", **copy) == desk.data("request_records", **copy)


def test_one_release_ends_and_the_other_stays(desk: Desk) -> None:
    desk.open("Edward Shaw")
    desk.data("revoke_release", release_id="rel_shaw_nancy")
    assert [r["status"] for r in desk.data("list_releases")["releases"]] == ["revoked", "active"]


def test_the_portal_is_opened_or_unlocked_as_it_stands(desk: Desk) -> None:
    desk.open("Rachel Stone")
    assert desk.code("unlock_portal") == "not_locked"
    assert desk.code("send_portal_invite", mobile_e164="+13475550124") == "mobile_not_on_file"
    assert desk.data("send_portal_invite", mobile_e164="347-555-0142")["invited"]
    desk.open("Henry Ward")
    assert desk.code("send_portal_invite", mobile_e164="+14075550143") == "portal_locked"
    assert desk.data("unlock_portal") == desk.data("unlock_portal") == {"status": "active"}


# --- insurance ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "approval_id", "renewal", "appeal"),
    [
        ("Nancy Fields", "pa_fields_injections", None, "not_denied"),
        ("Howard Blake", "pa_blake_light", "denied", None),
        ("Howard Blake", "pa_blake_gel", "still_valid", "not_denied"),
        ("Gloria Sutton", "pa_sutton_patch", "still_open", "not_denied"),
    ],
)
def test_an_approval_allows_what_its_status_allows(
    desk: Desk, name: str, approval_id: str, renewal: str | None, appeal: str | None
) -> None:
    desk.open(name)
    for _ in range(2):
        assert desk.code("renew_prior_approval", approval_id=approval_id) == renewal
        assert desk.code("request_appeal", approval_id=approval_id) == appeal
    assert len(desk.new("approval_requests")) == (renewal is None) + (appeal is None)


def test_referrals_are_asked_for_or_sent_again_by_their_direction(desk: Desk) -> None:
    desk.open("Leonard West")
    assert desk.code("request_referral", practice_id="out_grand") == "still_valid"
    assert desk.code("resend_referral", referral_id="ref_west_grand") == "not_ours"
    assert desk.data("resend_referral", referral_id="ref_west_hudson")["sent_again"]
    desk.open("Irene Fox")
    for _ in range(2):
        assert desk.data("request_referral", practice_id="out_lakeshore")["asked"]
    assert [r["kind"] for r in desk.new("referral_requests")] == ["send_again", "new_to_us"]


def test_a_new_card_waits_to_be_checked(desk: Desk) -> None:
    desk.open("Joyce Warner")
    assert desk.data("get_coverage")["plan"]["ends_on"] == "2026-08-31"
    card = {"carrier": "Aetna", "starts_on": "2026-09-01"}
    assert desk.code("record_new_insurance", **card, member_id_last4="61045") == "member_id_invalid"
    for _ in range(2):
        assert desk.data("record_new_insurance", **card, member_id_last4="6104")["accepted_here"]
    assert len(desk.data("get_coverage")["waiting_to_be_checked"]) == 1


# --- billing, visits, front office ----------------------------------------------------------------------------------


def test_the_day_of_a_plan_moves_once(desk: Desk) -> None:
    desk.open("Sarah Bishop")
    assert desk.code("change_plan_day", due_day=29) == "day_not_possible"
    assert desk.data("change_plan_day", due_day=15) == desk.data("change_plan_day", due_day=15)
    assert desk.code("change_plan_day", due_day=20) == "day_already_changed"
    desk.open("Norman Drake")
    assert desk.code("change_plan_day", due_day=15) == "day_already_changed"


def test_only_a_fee_is_put_to_the_manager(desk: Desk) -> None:
    desk.open("Dennis Cole")
    assert desk.code("request_fee_waiver", line_item_id="li_dennis_cole_visit", reason="illness") == "not_a_fee"
    for _ in range(2):
        assert desk.data("request_fee_waiver", line_item_id="li_dennis_cole_noshow", reason="illness")["requested"]
    assert len(desk.new("fee_waiver_requests")) == 1
    assert desk.new("line_items") == []


def test_a_statement_is_copied_the_way_that_is_open(desk: Desk) -> None:
    desk.open("Anna Fleming")
    assert desk.data("send_statement_copy", statement_number="41530", channel="mail")["sent"]
    assert desk.code("send_statement_copy", statement_number="41902", channel="mail") == "statement_unknown"
    desk.open("Philip Grant")
    assert desk.code("send_statement_copy", statement_number="41877", channel="mail") == "mail_on_hold"
    assert desk.code("send_statement_copy", statement_number="41877", channel="portal") == "portal_not_active"


def test_the_psoriasis_clinic_is_full_and_has_a_list(desk: Desk) -> None:
    desk.open("Walter Hughes")
    wanted = {"appointment_type_code": "MED_PSORIASIS"}
    assert desk.data("find_slots", location_ids=["loc_park_ave"], **wanted)["count"] == 0
    desk.data("join_waitlist", location_id="loc_park_ave", **wanted)
    assert len(desk.data("list_waitlist")["waiting_for"]) == 1
    desk.data("leave_waitlist", location_id="loc_park_ave", **wanted)
    assert desk.untouched


def test_leaving_one_list_keeps_the_other(desk: Desk) -> None:
    desk.open("Susan Parker")
    desk.data("leave_waitlist", location_id="loc_park_ave", appointment_type_code="MED_SKIN_CHECK")
    (left,) = desk.data("list_waitlist")["waiting_for"]
    assert left["location"] == "Brooklyn Heights"


def test_a_need_is_noted_once_on_an_own_visit(desk: Desk) -> None:
    desk.open("Harold Jenkins")
    (visit,) = desk.data("get_patient_summary")["upcoming_appointments"]
    for _ in range(2):
        desk.data("add_accommodation", appointment_id=visit["id"], kind="wheelchair")
    assert len(desk.new("accommodations")) == 1


def test_surgery_and_follow_ups_are_not_for_everybody(desk: Desk) -> None:
    desk.data(
        "register_new_patient",
        first_name="Nathan",
        last_name="Brooks",
        dob="1990-05-05",
        mobile_e164="+12125550199",
        zip_code="10016",
        home_location_id="loc_park_ave",
    )
    slot = {"slot_id": "slot_loc_park_ave_1"}
    assert desk.code("book_appointment", **slot, appointment_type_code="SURG_MOHS") == "surgeon_books"
    assert desk.code("book_appointment", **slot, appointment_type_code="MED_FOLLOWUP") == "not_for_new_patients"
    assert desk.data("book_appointment", **slot, appointment_type_code="MED_NEW")["status"] == "booked"


def test_a_number_changes_only_with_the_old_one(desk: Desk) -> None:
    desk.open("Maria Alvarez")
    new = {"new_mobile_e164": "+12125550199"}
    assert desk.code("update_mobile", old_mobile_e164="+12125550123", **new) == "old_mobile_mismatch"
    assert desk.data("update_mobile", old_mobile_e164="+12125550133", **new)["updated"]


def test_a_complaint_needs_no_name_and_is_filed_once(desk: Desk) -> None:
    wait = {"kind": "waiting", "location_id": "loc_park_ave"}
    assert desk.code("file_complaint", **wait, complaint=" ") == "complaint_empty"
    for words in ("Waited an hour.", "Waited more than an hour."):
        assert desk.data("file_complaint", **wait, complaint=words)["filed"]
    assert [r["body"] for r in desk.new("complaints")] == ["Waited more than an hour."]
