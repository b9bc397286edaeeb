"""Write seed.sql: the hand-written cast.sql, the people of cast.yaml, and behind them a practice's worth of others.

    python packs/healthcare/make_seed.py            # writes seed.sql beside it
    python packs/healthcare/make_seed.py --check    # exits 1 if seed.sql is not what would be written

Each part of the bulk has a random stream of its own, so that a change to one does not stir the others. The free times
of cast.sql stay the soonest ones at every office: the bulk books and blocks before FIRST_FREE_DAY and frees only after.
"""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
import sys
from pathlib import Path
from typing import Any

import yaml

from callm_voice.desk.seedfile import insert_statements, seed_command

HERE = Path(__file__).parent
CAST: dict[str, Any] = yaml.safe_load((HERE / "cast.yaml").read_text(encoding="utf-8"))
NOW: dt.datetime = yaml.safe_load((HERE / "pack.yaml").read_text(encoding="utf-8"))["now"]
TODAY = NOW.date()
BULK_PATIENTS = 90
FIRST_FREE_DAY = dt.date(2026, 9, 10)
LAST_DAY = dt.date(2026, 10, 2)
HOLIDAYS = (dt.date(2026, 9, 7),)
TIMES = ("08:30", "10:00", "13:30", "15:00")
EXTRA_FREE = (("prov_hale", "2026-08-27T14:00"), ("prov_hale", "2026-09-01T15:00"), ("prov_hale", "2026-09-03T09:00"))
"""Times that are free before FIRST_FREE_DAY."""
FULL = ("prov_bennett",)
LAST_VISIT = 999
"""Id of the last visit, so that one booked in a call is number 1000 however many there are."""
SLOT_MINUTES = 30
STAMP = "2026-08-01 08:00:00"
LABELS = {
    "Tretinoin cream": "A thin layer on the face every evening.",
    "Hydrocortisone cream": "Twice a day for up to ten days.",
    "Ketoconazole shampoo": "Twice a week on the scalp.",
    "Clindamycin lotion": "Every morning on the affected skin.",
    "Doxycycline tablets": "One tablet twice a day with water.",
    "Metronidazole gel": "Once a day on the cheeks.",
}
TESTS = (
    ("pathology", "Shave biopsy, left arm", "The biopsy was benign. Nothing more has to be done."),
    ("pathology", "Punch biopsy, lower back", "The biopsy was benign. Nothing more has to be done."),
    ("lab", "Blood count", "All values are in the normal range."),
    ("lab", "Liver panel", "The liver values are normal."),
)
CARRIERS = (
    ("Aetna", "Open Choice"),
    ("Cigna", "Open Access Plus"),
    ("Empire", "Blue Access PPO"),
    ("Oxford", "Freedom"),
    ("UnitedHealthcare", "Choice Plus"),
)
COLUMNS = {
    "providers": "id name focus accepting_new",
    "provider_locations": "provider_id location_id",
    "appointment_types": "code name service minutes new_ok",
    "provider_appointment_types": "provider_id code",
    "pharmacies": "id name street city",
    "outside_practices": "id name specialty city",
    "triage_guides": "symptom question if_yes if_no emergency same_day routine",
    "practice_facts": "topic fact",
    "patients": "id first_name last_name dob zip mobile_e164 home_location_id portal_active chart_status merged_into",
    "guardians": "patient_id first_name last_name relation",
    "addresses": "patient_id street city zip",
    "mail_holds": "patient_id letter returned_on",
    "contact_preferences": "patient_id reminders",
    "portal_accounts": "patient_id status changed_on",
    "insurance_policies": "patient_id carrier plan_name member_id_last4",
    "policy_terms": "patient_id status ends_on network copay_cents referral_needed",
    "prior_approvals": "id patient_id service status decided_on valid_until reason_code",
    "referrals": "id patient_id practice_id direction reason status visits_left valid_until",
    "orders": "id patient_id kind description ordered_on status",
    "results": "id order_id status resulted_on words",
    "prescriptions": "id patient_id provider_id pharmacy_id drug directions controlled visit_needed refills_left"
    " last_filled_on expires_on status",
    "refill_requests": "id prescription_id pharmacy_id status requested_at",
    "nurse_callbacks": "id patient_id reason order_id mobile_e164 time_of_day status requested_at",
    "record_requests": "id patient_id kind delivery practice_id location_id status requested_on",
    "releases": "id patient_id first_name last_name relation scope expires_on status",
    "appointments": "id patient_id location_id provider_id appointment_type_code start end description status"
    " created_at",
    "slots": "id location_id provider_id start end appointment_id blocked",
    "waitlist": "id patient_id location_id appointment_type_code added_on",
    "line_items": "id patient_id kind description amount_cents posted_on status",
    "payments": "id line_item_id amount_cents method paid_on",
    "payment_plans": "patient_id monthly_cents due_day day_changed started_on",
    "statements": "number patient_id issued_on total_cents",
}
"""Tables in the order in which their rows can be inserted."""


class Seed:
    """Rows to add, by table; ids that are running numbers go on after those of cast.sql."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in COLUMNS}
        self.given = sqlite3.connect(":memory:")
        for name in ("schema.sql", "cast.sql"):
            self.given.executescript((HERE / name).read_text(encoding="utf-8"))
        self.taken: set[tuple[str, str]] = set(self.given.execute('SELECT provider_id, "start" FROM slots'))
        self.busy: set[tuple[str, str]] = set()
        self.used: set[tuple[str, str]] = set(self.given.execute('SELECT location_id, "start" FROM slots'))
        self.works_at: dict[str, list[str]] = {}
        self.does: dict[str, list[str]] = {}
        for provider, office in self.given.execute("SELECT * FROM provider_locations ORDER BY 1, 2"):
            self.works_at.setdefault(provider, []).append(office)
        for provider, code in self.given.execute("SELECT * FROM provider_appointment_types ORDER BY 1, 2"):
            self.does.setdefault(provider, []).append(code)
        self.offices = [row[0] for row in self.given.execute("SELECT id FROM locations ORDER BY id")]

    def add(self, table: str, *values: Any) -> int:
        """Add a row; where the first column is a running number, it is put in front."""
        columns = COLUMNS[table].split()
        number = len(self.rows[table]) + 1
        if len(values) == len(columns) - 1:
            number += self.given.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            values = (number, *values)
        if len(values) != len(columns):
            raise ValueError(f"{table}: {len(values)} values for {len(columns)} columns")
        self.rows[table].append(values)
        return number

    def practice(self) -> None:
        for p in CAST["providers"]:
            self.add("providers", p["id"], p["name"], p["focus"], p["accepting_new"])
            self.works_at[p["id"]], self.does[p["id"]] = p["offices"], p["types"]
            for office in p["offices"]:
                self.rows["provider_locations"].append((p["id"], office))
            for code in p["types"]:
                self.rows["provider_appointment_types"].append((p["id"], code))
        for table in ("appointment_types", "pharmacies", "outside_practices"):
            for row in CAST[table]:
                self.add(table, *row)
        for symptom, (question, if_yes, if_no) in CAST["triage_guides"].items():
            self.add("triage_guides", symptom, question, if_yes, if_no, *CAST["triage_words"].values())
        for topic, fact in CAST["practice_facts"].items():
            self.rows["practice_facts"].append((topic, fact))

    # --- people

    def person(self, p: dict[str, Any]) -> None:
        """A patient with all that is theirs."""
        if "id" in p:
            patient = p["id"]
        else:
            first, last = p["name"].split()
            patient = "pat_" + p.get("key", f"{first}_{last}").lower()
            mobile = "+1" + p["mobile"].replace("-", "")
            opened = int(p["portal"] in ("active", "locked"))
            self.add(
                "patients",
                *(patient, first, last, p["dob"], p["zip"], mobile, p["home"], opened),
                *(p.get("status", "active"), p.get("merged_into")),
            )
        if p.get("portal", "none") != "none":
            self.add("portal_accounts", patient, p["portal"], "2026-02-02")
        for name, relation in p.get("guardians", ()):
            self.add("guardians", patient, *name.split(), relation)
        if "address" in p:
            known = self.given.execute("SELECT zip FROM patients WHERE id = ?", [patient]).fetchone()
            zip_code = p["zip"] if "zip" in p else known[0]
            self.add("addresses", patient, *p["address"], zip_code)
        if "mail_hold" in p:
            self.add("mail_holds", patient, *p["mail_hold"])
        if "reminders" in p:
            self.rows["contact_preferences"].append((patient, p["reminders"]))
        self._plan(patient, p)
        self._care(patient, p)
        self._money(patient, p)
        for code, provider, office, start, what, *status in p.get("visits", ()):
            self.visit(patient, office, provider, code, start, what, *status)
        for office, code, added in p.get("waitlist", ()):
            self.add("waitlist", patient, office, code, added)
        for row in p.get("record_requests", ()):
            self.add("record_requests", patient, *row)
        for suffix, name, *rest in p.get("releases", ()):
            self.add("releases", f"rel_{suffix}", patient, *name.split(), *rest)

    def _plan(self, patient: str, p: dict[str, Any]) -> None:
        if "insurance" in p:
            self.add("insurance_policies", patient, *p["insurance"])
        if "terms" in p:
            network, copay, referral, *ended = p["terms"]
            status = "ended" if ended else "active"
            self.add("policy_terms", patient, status, ended[0] if ended else None, network, copay, referral)
        for suffix, *approval in p.get("approvals", ()):
            self.add("prior_approvals", f"pa_{suffix}", patient, *approval)
        for suffix, *referral_row in p.get("referrals", ()):
            self.add("referrals", f"ref_{suffix}", patient, *referral_row)

    def _care(self, patient: str, p: dict[str, Any]) -> None:
        for order, *rest in p.get("orders", ()):
            self.add("orders", order, patient, *rest)
        for order, *rest in p.get("results", ()):
            self.add("results", f"res_{order.removeprefix('ord_')}", order, *rest)
        for suffix, drug, directions, provider, pharmacy, left, filled, expires, *flags in p.get("rx", ()):
            self.add(
                "prescriptions",
                *(f"rx_{suffix}", patient, provider, pharmacy, drug, directions),
                *(int("controlled" in flags), int("visit" in flags), left, filled, expires, "active"),
            )
        if "refill_open" in p:
            suffix, _, _, _, pharmacy, *_ = p["rx"][0]
            self.add("refill_requests", f"rx_{suffix}", pharmacy, "open", p["refill_open"])
        for reason, order, time_of_day, asked in p.get("callbacks", ()):
            mobile = "+1" + p["mobile"].replace("-", "")
            self.add("nurse_callbacks", patient, reason, order, mobile, time_of_day, "open", asked)

    def _money(self, patient: str, p: dict[str, Any]) -> None:
        for suffix, kind, what, cents, posted, status, *paid in p.get("charges", ()):
            item = f"li_{patient.removeprefix('pat_')}_{suffix}"
            self.add("line_items", item, patient, kind, what, cents, posted, status)
            if paid:
                self.add("payments", item, *paid)
        if "plan" in p:
            self.rows["payment_plans"].append((patient, *p["plan"]))
        for number, issued, total in p.get("statements", ()):
            self.add("statements", number, patient, issued, total)

    # --- calendar

    def visit(
        self, patient: str, office: str, provider: str, code: str, start: str, what: str, status: str = "booked"
    ) -> None:
        """A visit, with the slot that it takes if it is still to come."""
        number = self.add("appointments", patient, office, provider, code, start, _end(start), what, status, STAMP)
        if status in ("booked", "confirmed"):
            self.slot(office, provider, start, number, None)

    def slot(self, office: str, provider: str, start: str, appointment: int | None, blocked: str | None) -> None:
        if (provider, start) in self.taken:
            raise ValueError(f"{provider} has two slots at {start}")
        self.taken.add((provider, start))
        at = dt.datetime.fromisoformat(start)
        slot = f"slot_{office}_{provider.removeprefix('prov_')}_{at:%m%d}_{at:%H%M}"
        self.add("slots", slot, office, provider, start, _end(start), appointment, blocked)

    def clear(self, provider: str, start: str) -> bool:
        """Whether a provider has nothing within an hour of a time, so that longer slots of cast.sql stay whole."""
        at = dt.datetime.fromisoformat(start)
        near = ((at + dt.timedelta(minutes=m)).isoformat(timespec="minutes") for m in range(-30, 31, 30))
        return not any((provider, time) in self.taken for time in near)

    def calendar(self, patients: dict[str, str]) -> None:
        """What is left of the calendars: taken or blocked up to FIRST_FREE_DAY, and from then on about a third free.

        Args:
            patients: Who takes the times: patient → home office.
        """
        rng, day = random.Random("calendar"), TODAY
        near = {office: sorted(p for p, home in patients.items() if home == office) for office in self.offices}
        while day < LAST_DAY:
            day += dt.timedelta(days=1)
            if day.weekday() > 4 or day in HOLIDAYS:
                continue
            for provider in sorted(self.works_at):
                office = rng.choice(self.works_at[provider])
                for time in TIMES:
                    draw, patient, start = rng.random(), rng.choice(near[office]), f"{day}T{time}"
                    code = rng.choice(self.does[provider])
                    if self.clear(provider, start) and (office, start) not in self.used:
                        self._fill(provider, office, start, draw, patient, code)
        for provider, start in EXTRA_FREE:
            self.slot(self.works_at[provider][0], provider, start, None, None)

    def last_visit(self, patient: str) -> None:
        start = f"{TODAY - dt.timedelta(days=1)}T09:00"
        row = (patient, "loc_park_ave", "prov_chen", "MED_FOLLOWUP", start, _end(start), "Follow-up visit", "completed")
        self.add("appointments", LAST_VISIT, *row, STAMP)

    def _fill(self, provider: str, office: str, start: str, draw: float, patient: str, code: str) -> None:
        if (provider, start) in EXTRA_FREE:
            return
        full = provider in FULL
        if draw < (0.8 if full else 0.3) and code != "SURG_MOHS" and (patient, start) not in self.busy:
            self.busy.add((patient, start))
            kinds = {row[0]: row[1] for row in self.given.execute("SELECT code, name FROM appointment_types")}
            kinds.update({row[0]: row[1] for row in CAST["appointment_types"]})
            self.visit(patient, office, provider, code, start, kinds[code])
        elif full or start < FIRST_FREE_DAY.isoformat():
            self.slot(office, provider, start, None, "surgery" if provider == "prov_haddad" else "meeting")
        elif draw > 0.62:
            self.slot(office, provider, start, None, None)


def bulk() -> list[dict[str, Any]]:
    """The other patients, in the form of cast.yaml."""
    rng = random.Random("patients")
    names = sorted(f"{first} {last}" for first in CAST["bulk_first_names"] for last in CAST["bulk_last_names"])
    made = []
    for n, name in enumerate(rng.sample(names, BULK_PATIENTS)):
        home = rng.choices(("loc_park_ave", "loc_brooklyn_heights", "loc_windermere"), (5, 4, 2))[0]
        florida = home == "loc_windermere"
        carrier, plan = rng.choice(CARRIERS)
        born = dt.date(1938, 1, 1) + dt.timedelta(days=rng.randrange(24_500))
        made.append(
            {
                "name": name,
                "dob": born.isoformat(),
                "mobile": f"{rng.choice(('321', '689') if florida else ('332', '838'))}-555-01{n:02}",
                "zip": "34786" if florida else rng.choice(("10016", "10003", "11201", "11215", "11222")),
                "home": home,
                "portal": rng.choices(("active", "none", "inactive"), (6, 3, 1))[0],
                "insurance": [carrier, plan, f"{born:%y%m}"],
                "terms": ["in", rng.choice((3000, 4000, 4500, 5000)), int(rng.random() < 0.15)],
                **_bulk_care(rng, n, florida),
                **_bulk_money(rng, n),
            }
        )
    return made


def _bulk_care(rng: random.Random, n: int, florida: bool) -> dict[str, Any]:
    care: dict[str, Any] = {}
    day = TODAY - dt.timedelta(days=rng.randrange(20, 200))
    day -= dt.timedelta(days=max(0, day.weekday() - 4))
    office, provider = ("loc_windermere", "prov_sorensen") if florida else ("loc_park_ave", "prov_ferreira")
    care["visits"] = [["MED_FOLLOWUP", provider, office, f"{day}T11:00", "Follow-up visit", "completed"]]
    if rng.random() < 0.5:
        drug = rng.choice(sorted(LABELS))
        pharmacy = "pharm_lake" if florida else rng.choice(("pharm_union", "pharm_harbor", "pharm_corner_lexington"))
        filled = (TODAY - dt.timedelta(days=rng.randrange(8, 80))).isoformat()
        care["rx"] = [[f"{500 + n}", drug, LABELS[drug], provider, pharmacy, rng.randrange(4), filled, "2027-01-31"]]
        if rng.random() < 0.2:
            care["refill_open"] = f"2026-08-{rng.randrange(12, 18)}T{rng.randrange(9, 16):02}:40"
    if rng.random() < 0.45:
        kind, what, words = rng.choice(TESTS)
        order, back = f"ord_{500 + n}", (day + dt.timedelta(days=7)).isoformat()
        care["orders"] = [[order, kind, what, day.isoformat(), "closed"]]
        care["results"] = [[order, "released", back, words]]
    if rng.random() < 0.12:
        care["approvals"] = [[f"{500 + n}", "Light therapy", "approved", "2026-04-01", "2027-03-31", None]]
    if rng.random() < 0.15:
        practice = "out_oak" if florida else rng.choice(("out_lakeside", "out_lakeshore", "out_grand"))
        care["referrals"] = [[f"{500 + n}", practice, "to_us", "Skin check", "valid", 2, "2026-12-31"]]
    if rng.random() < 0.15:
        care["record_requests"] = [["visit_notes", "practice", "out_grand", None, "sent", "2026-07-15"]]
    return care


def _bulk_money(rng: random.Random, n: int) -> dict[str, Any]:
    cents, posted = rng.randrange(20, 260) * 100, f"2026-0{rng.randrange(3, 8)}-1{rng.randrange(10)}"
    if rng.random() < 0.6:
        method = rng.choice(("card", "check", "payment_link", "hsa"))
        charge = ["visit", "visit_balance", "Office visit balance", cents, posted, "paid", cents, method, "2026-08-03"]
    else:
        charge = ["visit", "visit_balance", "Office visit balance", cents, posted, "open"]
    return {"charges": [charge], "statements": [[str(30_000 + n * 17), posted[:8] + "28", cents]]}


def _end(start: str) -> str:
    return (dt.datetime.fromisoformat(start) + dt.timedelta(minutes=SLOT_MINUTES)).isoformat(timespec="minutes")


def make() -> str:
    """The text of seed.sql."""
    seed = Seed()
    seed.practice()
    others = bulk()
    for person in [*CAST["people"], *others]:
        seed.person(person)
    homes = {f"pat_{p['name'].replace(' ', '_').lower()}": p["home"] for p in others}
    seed.calendar(homes)
    seed.last_visit(min(p for p, home in homes.items() if home == "loc_park_ave"))
    parts = [
        "-- Straus Dermatology as it stands on Tuesday 2026-08-18 at 09:30. Written by make_seed.py from cast.sql and",
        "-- cast.yaml: change those.",
        "",
        (HERE / "cast.sql").read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join([*parts, *insert_statements(COLUMNS, seed.rows)]) + "\n"


if __name__ == "__main__":
    sys.exit(seed_command(HERE / "seed.sql", make, __doc__))
