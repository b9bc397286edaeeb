"""Write seed.sql: the cast of cast.yaml, then a firm's worth of other clients, matters, calendars and accounts.

    python packs/legal/make_seed.py            # writes seed.sql beside it
    python packs/legal/make_seed.py --check    # exits 1 if seed.sql is not what would be written

Each part of the bulk has a random stream of its own, so that a change to one does not stir the others.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from callm_voice.desk.seedfile import insert_statements, seed_command

HERE = Path(__file__).parent
CAST: dict[str, Any] = yaml.safe_load((HERE / "cast.yaml").read_text(encoding="utf-8"))
NOW: dt.datetime = yaml.safe_load((HERE / "pack.yaml").read_text(encoding="utf-8"))["now"]
BULK_CLIENTS = 96
CALENDAR_DAYS = 18
"""From tomorrow on, weekends not counted."""
TIMES = ("09:00", "11:00", "14:00", "15:30")
SLOT_MINUTES = 30

TITLES = {
    "FAMILY": ("Divorce", "Custody", "Child support", "Adoption"),
    "EMPLOYMENT": ("Dismissal", "Unpaid wages", "Severance", "Warning letter at work"),
    "INJURY": ("Traffic accident", "Fall in a store", "Injury at work", "Dog bite"),
    "ESTATE": ("Will", "Living trust", "Probate", "Powers of attorney"),
    "TENANCY": ("Security deposit", "Eviction notice", "Repairs in the apartment", "Rent increase"),
    "BUSINESS": ("Supplier contract", "Lease of an office", "Partnership agreement", "Sale of a shop"),
    "IMMIGRATION": ("Residence permit", "Citizenship", "Work visa", "Family visa"),
}
PHASES = {
    "open": (
        ("negotiation", "The other side has the last letter, and its answer is awaited."),
        ("drafting", "The papers are being drafted."),
        ("court papers", "The papers are with the court."),
        ("disclosure", "Both sides are exchanging documents."),
    ),
    "on_hold": (("on hold", "The matter rests until the other side answers."),),
    "closed": (("closed", "The matter is closed."),),
}
BLOCKS = ("court", "filing day", "mediation", "staff meeting")
COLUMNS = {
    "offices": "id name address hours parking transit listed",
    "practice_areas": "code name covers consult_fee_cents takes_new",
    "intake_questions": "practice_area position question",
    "attorneys": "id name practice_area office_id hourly_rate_cents takes_new",
    "firm_facts": "topic fact",
    "clients": "id first_name last_name dob zip mobile_e164 email standing",
    "matters": "id number client_id practice_area title lead_attorney_id status phase status_note opened_on",
    "parties": "id matter_id name side",
    "deadlines": "id matter_id title due_on owner status",
    "reminders": "id deadline_id send_on",
    "hearings": "id matter_id kind court room start client_attends client_confirmed",
    "appointment_types": "code name audience place",
    "appointments": "id client_id matter_id attorney_id office_id type_code start end status created_at",
    "slots": "id attorney_id office_id start end appointment_id blocked",
    "waitlist": "id matter_id type_code added_on",
    "invoices": "number matter_id issued_on due_on status",
    "line_kinds": "kind approved_script",
    "invoice_lines": "id invoice_number kind description amount_cents",
    "payments": "id invoice_number amount_cents method paid_on",
    "payment_links": "id invoice_number mobile_e164 amount_cents sent_at",
    "payment_plans": "id invoice_number months monthly_cents first_due_on",
    "trust_ledger": "id matter_id entry_on kind amount_cents memo",
    "documents": "id matter_id title dated status releasable",
    "copy_requests": "id matter_id kind requested_on",
}
"""Tables in the order in which their rows can be inserted."""


class Seed:
    """Rows by table; integer ids are given in the order of adding."""

    def __init__(self, cast: dict[str, Any]) -> None:
        self.cast = cast
        self.rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in COLUMNS}
        self.area_of = {a["id"]: a["area"] for a in cast["attorneys"]}
        self.office_of = {a["id"]: a["office"] for a in cast["attorneys"]}
        self.taken: dict[tuple[str, str], int] = {}

    def add(self, table: str, *values: Any) -> int:
        """Add a row; where the first column is an integer id, it is put in front."""
        columns = COLUMNS[table].split()
        number = len(self.rows[table]) + 1
        row = (number, *values) if len(values) == len(columns) - 1 else values
        if len(row) != len(columns):
            raise ValueError(f"{table}: {len(row)} values for {len(columns)} columns")
        self.rows[table].append(row)
        return number

    def firm(self) -> None:
        cast = self.cast
        for listed, office in enumerate(cast["offices"], start=1):
            self.add("offices", *office.values(), listed)
        for area in cast["practice_areas"]:
            self.add("practice_areas", *area.values())
        for code, questions in cast["intake_questions"].items():
            for position, question in enumerate(questions, start=1):
                self.add("intake_questions", code, position, question)
        for attorney in cast["attorneys"]:
            self.add("attorneys", *attorney.values())
        for kind in cast["appointment_types"]:
            self.add("appointment_types", *kind.values())
        for table in ("firm_facts", "line_kinds"):
            for key, words in cast[table].items():
                self.rows[table].append((key, words))

    def client(self, person: dict[str, Any]) -> None:
        """A client with all that hangs on it."""
        first, last = person["name"].split()
        client_id = f"cli_{first}_{last}".lower()
        mobile = "+1" + person["mobile"].replace("-", "")
        email = f"{first}.{last}@mail.example".lower()
        zip_code = person.get("zip", "60614")
        self.add(
            "clients",
            *(client_id, first, last, person["dob"], zip_code, mobile, email, person.get("standing", "good")),
        )
        for matter in person["matters"]:
            self.matter(client_id, matter)

    def matter(self, client_id: str, matter: dict[str, Any]) -> None:
        matter_id, lead = f"mat_{matter['number']}", matter["lead"]
        self.add(
            "matters",
            *(matter_id, matter["number"], client_id, self.area_of[lead], matter["title"], lead),
            *(matter.get("status", "open"), matter["phase"], matter["note"], matter.get("opened", "2026-03-02")),
        )
        for side in ("adverse", "related"):
            for name in matter.get(side, ()):
                self.add("parties", matter_id, name, side)
        for item in matter.get("deadlines", ()):
            status = item.get("status", "open")
            self.add("deadlines", item["id"], matter_id, item["title"], item["due"], item["owner"], status)
            for day in item.get("reminders", ()):
                self.add("reminders", item["id"], day)
        for h in matter.get("hearings", ()):
            self.add("hearings", h["id"], matter_id, h["kind"], h["court"], h["room"], h["start"], h["attends"], 0)
        for booked in matter.get("appointments", ()):
            self.appointment(client_id, matter_id, lead, booked["type"], booked["start"])
        for code in matter.get("waitlist", ()):
            self.add("waitlist", matter_id, code, "2026-09-02")
        for invoice in matter.get("invoices", ()):
            self.invoice(matter_id, invoice)
        for entry in matter.get("trust", ()):
            self.add("trust_ledger", matter_id, *entry)
        for number, document in enumerate(matter.get("documents", ()), start=1):
            self.add("documents", f"doc_{matter['number']}_{number}", matter_id, *document)
        for kind in matter.get("copies", ()):
            self.add("copy_requests", matter_id, kind, "2026-09-11")

    def appointment(self, client_id: str, matter_id: str, attorney: str, code: str, start: str) -> None:
        office, end = self.office_of[attorney], _end(start)
        row = (client_id, matter_id, attorney, office, code, start, end, "booked", "2026-09-01 09:00:00")
        self.taken[attorney, start] = self.add("appointments", *row)

    def invoice(self, matter_id: str, invoice: dict[str, Any]) -> None:
        number, issued = invoice["number"], dt.date.fromisoformat(invoice["issued"])
        due = (issued + dt.timedelta(days=30)).isoformat()
        self.add("invoices", number, matter_id, invoice["issued"], due, invoice.get("status", "open"))
        for position, line in enumerate(invoice["lines"], start=1):
            self.add("invoice_lines", f"il_{number}_{position}", number, *line)
        for payment in invoice.get("paid", ()):
            self.add("payments", number, *payment)

    def slots(self) -> None:
        """Every attorney's calendar: the booked times, and of the others about a third free."""
        rng, day, left = random.Random("slots"), NOW.date(), CALENDAR_DAYS
        while left:
            day += dt.timedelta(days=1)
            if day.weekday() > 4:
                continue
            left -= 1
            for attorney, office in self.office_of.items():
                for time in TIMES:
                    start = f"{day}T{time}"
                    draw, why = rng.random(), rng.choice(BLOCKS)
                    booked = self.taken.get((attorney, start))
                    blocked = None if booked or draw < 0.34 else why
                    slot_id = f"slot_{attorney.removeprefix('att_')}_{day:%m%d}_{time.replace(':', '')}"
                    self.add("slots", slot_id, attorney, office, start, _end(start), booked, blocked)


def bulk(seed: Seed) -> Iterator[dict[str, Any]]:
    """The other clients, in the form of cast.yaml."""
    rng = random.Random("clients")
    names = sorted(f"{first} {last}" for first in CAST["bulk_first_names"] for last in CAST["bulk_last_names"])
    booked: set[tuple[str, str]] = set()
    for n, name in enumerate(rng.sample(names, BULK_CLIENTS)):
        born = dt.date(1940, 1, 1) + dt.timedelta(days=rng.randrange(23_000))
        person: dict[str, Any] = {
            "name": name,
            "dob": born.isoformat(),
            "zip": rng.choice(("60601", "60607", "60614", "60622", "60640")),
            "mobile": f"{rng.choice(('773', '872', '224'))}-555-01{n:02}",
            "standing": "collections" if rng.random() < 0.04 else "good",
            "matters": [],
        }
        for extra in range(1 + (rng.random() < 0.2)):
            number = 4000 + n * 13 + extra * 5
            person["matters"].append(_bulk_matter(seed, rng, number, name, booked))
        yield person


def _bulk_matter(
    seed: Seed, rng: random.Random, number: int, name: str, booked: set[tuple[str, str]]
) -> dict[str, Any]:
    lead = rng.choice(sorted(seed.area_of))
    status = rng.choices(("open", "on_hold", "closed"), (7, 1, 3))[0]
    phase, note = rng.choice(PHASES[status])
    opened = dt.date(2024, 1, 8) + dt.timedelta(days=rng.randrange(900))
    matter: dict[str, Any] = {
        "number": str(number),
        "lead": lead,
        "title": rng.choice(TITLES[seed.area_of[lead]]),
        "status": status,
        "phase": phase,
        "note": note,
        "opened": opened.isoformat(),
        "documents": [["Engagement letter", opened.isoformat(), "signed", 1]],
    }
    if rng.random() < 0.7:
        matter["adverse"] = [rng.choice(CAST["bulk_firms"])]
    if rng.random() < 0.15:
        matter["related"] = [f"{name.split()[1]} {rng.choice(('Design', 'Holdings', 'Farm', 'Consulting'))}"]
    if rng.random() < 0.5:
        matter["documents"].append(["Letter to the other side", "2026-08-14", "final", rng.randrange(2)])
    if status == "open" and rng.random() < 0.6:
        due = NOW.date() + dt.timedelta(days=rng.randrange(3, 50))
        owner = rng.choice(("client", "firm"))
        title = rng.choice(("Signed statement", "Reply to the other side", "List of witnesses", "Bank records"))
        matter["deadlines"] = [{"id": f"dl_{number}", "title": title, "due": due.isoformat(), "owner": owner}]
        if owner == "client" and rng.random() < 0.5:
            matter["deadlines"][0]["reminders"] = [(due - dt.timedelta(days=2)).isoformat()]
    if rng.random() < 0.6:
        matter["invoices"] = [_bulk_invoice(rng, number)]
    if rng.random() < 0.5:
        paid_in = rng.randrange(500, 4000, 250) * 100
        matter["trust"] = [[opened.isoformat(), "deposit", paid_in, "Advance payment"]]
        if rng.random() < 0.5:
            matter["trust"].append(["2026-07-30", "cost", -paid_in // 4, "Costs of the matter"])
    if status == "open" and rng.random() < 0.5:
        day = NOW.date() + dt.timedelta(days=rng.randrange(1, 24))
        start = f"{day}T{rng.choice(TIMES)}"
        if day.weekday() < 5 and (lead, start) not in booked and (lead, start) not in seed.taken:
            booked.add((lead, start))
            matter["appointments"] = [{"type": rng.choice(("CLIENT_MEETING", "PHONE_UPDATE")), "start": start}]
    return matter


def _bulk_invoice(rng: random.Random, matter_number: int) -> dict[str, Any]:
    lines: list[list[Any]] = [["time", "Attorney time", rng.randrange(8, 90) * 1500]]
    if rng.random() < 0.5:
        lines.append([*rng.choice((("filing", "Court filing fee"), ("copies", "Copies"))), rng.randrange(4, 60) * 500])
    settled = rng.random() < 0.6
    total = sum(int(line[2]) for line in lines)
    return {
        "number": str(20_000 + matter_number),
        "issued": f"2026-0{rng.randrange(3, 9)}-28",
        "status": "paid" if settled else "open",
        "lines": lines,
        "paid": [[total, rng.choice(("card", "check", "payment_link")), "2026-09-01"]] if settled else [],
    }


def _end(start: str) -> str:
    return (dt.datetime.fromisoformat(start) + dt.timedelta(minutes=SLOT_MINUTES)).isoformat(timespec="minutes")


def make() -> str:
    """The text of seed.sql."""
    seed = Seed(CAST)
    seed.firm()
    people = list(seed.cast["clients"])
    for person in people:
        seed.client(person)
    for person in bulk(seed):
        seed.client(person)
    seed.slots()
    parts = [
        "-- Calloway Finch as it stands on Tuesday 2026-09-15 at 10:00. Written by make_seed.py from cast.yaml:",
        "-- change those. Every person, firm and number is invented (555-01xx numbers are reserved for fiction).",
    ]
    return "\n".join([*parts, *insert_statements(COLUMNS, seed.rows)]) + "\n"


if __name__ == "__main__":
    sys.exit(seed_command(HERE / "seed.sql", make, __doc__))
