"""Write seed.sql: the hand-written cast.sql, and behind it the bulk that a desk of this size has.

    python packs/customer_support/make_seed.py            # writes seed.sql beside it
    python packs/customer_support/make_seed.py --check    # exits 1 if seed.sql is not what would be written

Drawn from one seeded generator of which only `random()` is used, whose sequence Python keeps from version to version.
Bulk customers have telephone numbers of their own area codes, so that they can never be taken for a task's caller.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from callm_voice.desk.seedfile import insert_statement, seed_command

HERE = Path(__file__).parent
SEED = 20260915
TODAY = dt.date(2026, 9, 15)
CUSTOMERS = 160
FIRST_BULK_ID = 101
AREA_CODES = ("541", "458", "971")
SLOT_HOURS = (8, 10, 13, 15)
SLOT_DAYS = 13
BUSY_DAYS = 3
"""The first days of the technicians' calendar are nearly full."""
CAST_VISITS = {
    "sub_paul_jennings": "slot_northgate_0917_10",
    "sub_steven_holt": "slot_riverside_0918_13",
    "sub_andrew_mercer": "slot_riverside_0917_08",
    "sub_carla_benson": "slot_westhaven_0917_10",
}
"""Visits of people in the tasks. Their ids are 1 to 4 in this order."""
KEPT_FREE = (
    *("slot_riverside_0918_10", "slot_riverside_0919_08", "slot_riverside_0921_13", "slot_riverside_0921_15"),
    *("slot_northgate_0918_10", "slot_northgate_0919_13", "slot_westhaven_0918_15", "slot_westhaven_0922_08"),
)
"""Times that the tasks' callers take."""

AREAS = {
    "riverside": ("97214", "97215"),
    "northgate": ("97210", "97211"),
    "eastfield": ("97220", "97230"),
    "westhaven": ("97005", "97006"),
    "lakeview": ("97034", "97035"),
}
FIRST = (
    "Aaron", "Abigail", "Adele", "Albert", "Bella", "Bernard", "Bonnie", "Calvin", "Celia", "Clara", "Curtis",
    "Dalia", "Dean", "Doris", "Edgar", "Eileen", "Elliot", "Esther", "Fiona", "Floyd", "Gail", "Gordon", "Harriet",
    "Hugo", "Irene", "Isaac", "Jasper", "Joanna", "Karl", "Lena", "Lewis", "Lorna", "Lucas", "Mabel", "Martin",
    "Mavis", "Milo", "Nadia", "Nelson", "Odette", "Oscar", "Pamela", "Perry", "Quentin", "Ramona", "Reuben", "Rosa",
    "Selma", "Simon", "Stella", "Tobias", "Ursula", "Vera", "Wade", "Wilma", "Yusuf",
)  # fmt: skip
LAST = (
    "Abbott", "Archer", "Barlow", "Bishop", "Blackwood", "Bowen", "Briggs", "Calloway", "Chandler", "Colby",
    "Corbin", "Dalby", "Denton", "Drake", "Easton", "Ellery", "Fairfax", "Farley", "Fenwick", "Garland", "Gibbs",
    "Granger", "Hadley", "Harlow", "Hobbs", "Holloway", "Ingram", "Jarvis", "Keating", "Kirby", "Langley", "Lowell",
    "Maddox", "Marlow", "Merritt", "Norwood", "Oakley", "Osborn", "Paxton", "Pruitt", "Radley", "Ramsey", "Rowley",
    "Sawyer", "Selby", "Sheldon", "Tate", "Thorne", "Upton", "Vance", "Wakefield", "Weaver", "Whitlock", "Winslow",
    "Wyatt", "Yardley",
)  # fmt: skip
STREETS = (
    "Birch", "Cedar", "Chestnut", "Clover", "Dogwood", "Elm", "Fern", "Hazel",
    "Juniper", "Laurel", "Linden", "Maple", "Poplar", "Spruce", "Willow",
)  # fmt: skip
PROBLEMS = ("Does not turn on.", "Battery drains within an hour.", "Cracked glass.", "No sound.", "Keeps restarting.")
PRICES = {
    "LANTERN-GRAY": 12900, "LANTERN-WHITE": 12900, "MEADOW-BLACK": 17900, "MEADOW-GREEN": 17900, "PEBBLE-WHITE": 8900,
    "CANVAS-SILVER": 32900, "FALCON-GRAPHITE": 99900, "ROBIN-WHITE": 14900, "ROBIN-BRONZE": 14900,
    "HARBOR-WHITE": 15900, "COMPASS-BLACK": 21900, "COMPASS-SILVER": 21900,
    "CHARGER-BLACK": 4900, "COVER-BLUE": 3900, "STAND-GRAY": 2900,
}  # fmt: skip
WITH_SERIAL = tuple(sku for sku, cents in PRICES.items() if cents > 5000)
PLANS = {"FIBER_100": 4500, "FIBER_300": 6000, "FIBER_500": 7500, "FIBER_1000": 9500, "CLASSIC_25": 3900}
EXTRAS = (
    ("equipment_rental", "Modem rent", 1200),
    ("late_fee", "Late fee", 1000),
    ("paper_bill", "Paper bill", 300),
    ("video_package", "Video package", 2400),
)
T = TypeVar("T")


class Draw:
    """Everything that is drawn comes from here."""

    def __init__(self) -> None:
        self._rng = random.Random(SEED)
        self._used: set[str] = set()

    def below(self, n: int) -> int:
        return int(self._rng.random() * n)

    def one(self, of: Sequence[T]) -> T:
        return of[self.below(len(of))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def fresh_number(self, digits: int) -> str:
        """Digits that were not drawn before. The first is 2: of the cast's numbers only one begins with it."""
        while True:
            number = "2" + "".join(str(self.below(10)) for _ in range(digits - 1))
            if number not in self._used and number != "27460913":
                self._used.add(number)
                return number


Tables = dict[str, list[dict[str, Any]]]


def people(draw: Draw, tables: Tables) -> None:
    """Customers, addresses, authorized people."""
    names = [(first, last) for first in FIRST for last in LAST]
    phones = [f"+1{code}55501{n:02}" for code in AREA_CODES for n in range(100)]
    for number in range(CUSTOMERS):
        first, last = names.pop(draw.below(len(names)))
        area = draw.one(list(AREAS))
        zip_code, key = draw.one(AREAS[area]), f"{FIRST_BULK_ID + number:04}"
        since = dt.date(2015 + draw.below(11), 1 + draw.below(12), 1 + draw.below(28))
        tables["customers"].append(
            {"id": f"cus_{key}", "first_name": first, "last_name": last, "phone_e164": phones[number],
             "zip": zip_code, "since": since}
        )  # fmt: skip
        for label in ("home", "office")[: 2 if draw.chance(25) else 1]:
            tables["addresses"].append(
                {"id": f"adr_{key}_{label}", "customer_id": f"cus_{key}", "label": label,
                 "street": f"{1 + draw.below(999)} {draw.one(STREETS)} Street", "city": area.title(),
                 "zip": zip_code, "is_billing": int(label == "home")}
            )  # fmt: skip
        if draw.chance(15):
            tables["authorized_people"].append(
                {"id": FIRST_BULK_ID + len(tables["authorized_people"]), "customer_id": f"cus_{key}",
                 "full_name": f"{draw.one(FIRST)} {last}", "scope": draw.one(("full", "service"))}
            )  # fmt: skip


def purchases(draw: Draw, tables: Tables) -> None:
    """Orders, items, shipments, returns, devices, repairs."""
    for customer in tables["customers"]:
        for _ in range(1 + draw.below(3)):
            placed = TODAY - dt.timedelta(days=draw.below(420))
            age, number = (TODAY - placed).days, draw.fresh_number(6)
            status = (
                "processing" if age < 2 else "shipped" if age < 6 else "cancelled" if draw.chance(4) else "delivered"
            )
            tables["orders"].append(
                {"order_number": number, "customer_id": customer["id"],
                 "address_id": f"adr_{customer['id'].removeprefix('cus_')}_home", "placed_on": placed, "status": status}
            )  # fmt: skip
            items = _items(draw, number, status)
            tables["order_items"] += items
            if status in ("shipped", "delivered"):
                tables["shipments"].append(_shipment(draw, tables, number, placed, status))
            if status == "delivered":
                _afterwards(draw, tables, customer["id"], items, placed)


def _items(draw: Draw, number: str, status: str) -> list[dict[str, Any]]:
    skus = list(dict.fromkeys(draw.one(tuple(PRICES)) for _ in range(1 + draw.below(3))))
    state = "cancelled" if status == "cancelled" else "ordered"
    return [
        {"id": f"itm_{number}_{i}", "order_number": number, "sku": sku, "paid_cents": PRICES[sku], "status": state}
        for i, sku in enumerate(skus, start=1)
    ]


def _shipment(draw: Draw, tables: Tables, number: str, placed: dt.date, status: str) -> dict[str, Any]:
    arrives = placed + dt.timedelta(days=5)
    delivered = status == "delivered"
    return {
        "id": FIRST_BULK_ID + len(tables["shipments"]),
        "order_number": number,
        "carrier": draw.one(("Swiftway", "Bluebird Post")),
        "status": "delivered" if delivered else "in_transit",
        "expected_on": arrives,
        "delivered_on": arrives if delivered else None,
        "left_at": draw.one(("front door", "handed over", "mailbox")) if delivered else None,
    }


def _afterwards(draw: Draw, tables: Tables, customer_id: str, items: list[dict[str, Any]], placed: dt.date) -> None:
    """What happens to things that were delivered: returns, registered devices, repairs."""
    for item in items:
        if item["sku"] != "PEBBLE-WHITE" and draw.chance(8):
            tables["returns"].append(
                {"id": FIRST_BULK_ID + len(tables["returns"]), "order_item_id": item["id"], "kind": "refund",
                 "new_sku": None, "reason": draw.one(("defective", "changed_mind")),
                 "method": draw.one(("mail", "store")),
                 "refund_cents": item["paid_cents"], "status": "refunded", "opened_on": placed + dt.timedelta(days=9)}
            )  # fmt: skip
        elif item["sku"] in WITH_SERIAL and draw.chance(70):
            years = 1 if item["sku"] == "PEBBLE-WHITE" else 2
            until = dt.date(placed.year + years, placed.month, min(placed.day, 28))
            serial = draw.fresh_number(8)
            tables["devices"].append(
                {"serial": serial, "customer_id": customer_id, "sku": item["sku"], "bought_on": placed,
                 "warranty_until": until}
            )  # fmt: skip
            if draw.chance(14):
                days = (TODAY - placed).days
                tables["repairs"].append(
                    {"id": FIRST_BULK_ID + len(tables["repairs"]), "serial": serial, "problem": draw.one(PROBLEMS),
                     "mode": draw.one(("mail_in", "store")), "cost_cents": 0,
                     "status": "in_workshop" if days < 45 else "done",
                     "opened_on": placed + dt.timedelta(days=min(days, 30))}
                )  # fmt: skip


def service(draw: Draw, tables: Tables) -> None:
    """Internet lines and their bills."""
    for customer in tables["customers"]:
        if not draw.chance(70):
            continue
        key = customer["id"].removeprefix("cus_")
        area = next(area for area, zips in AREAS.items() if customer["zip"] in zips)
        plan = draw.one(tuple(PLANS))
        tables["subscriptions"].append(
            {"id": f"sub_{key}", "customer_id": customer["id"], "plan_code": plan, "area_id": f"area_{area}",
             "started_on": customer["since"], "term_ends_on": dt.date(2027, 3, 1) if draw.chance(20) else None,
             "next_cycle_on": dt.date(2026, 10, 1),
             "line_reading": draw.one(("good", "good", "good", "weak_signal", "modem_stuck")),
             "autopay": int(draw.chance(60))}
        )  # fmt: skip
        for month in (7, 8, 9):
            number = f"inv_{key}_{month:02}"
            paid = month < 9 or draw.chance(50)
            tables["invoices"].append(
                {"invoice_number": number, "customer_id": customer["id"], "issued_on": dt.date(2026, month, 1),
                 "due_on": dt.date(2026, month, 20), "status": "paid" if paid else "open", "pay_on": None}
            )  # fmt: skip
            charges = [("service", f"{plan.replace('_', ' ').title()}, month {month}", PLANS[plan])]
            charges += [draw.one(EXTRAS)] if draw.chance(25) else []
            tables["invoice_lines"] += [
                {"id": f"ln_{key}_{month:02}_{i}", "invoice_number": number, "kind": kind, "description": text,
                 "amount_cents": cents}
                for i, (kind, text, cents) in enumerate(charges, start=1)
            ]  # fmt: skip


def calendar(draw: Draw, tables: Tables) -> None:
    """The technicians' times, and the visits that hold some of them."""
    waiting = {area: [s["id"] for s in tables["subscriptions"] if s["area_id"] == f"area_{area}"] for area in AREAS}
    held = {slot: subscription for subscription, slot in CAST_VISITS.items()}
    numbers = {slot: number for number, slot in enumerate(held, start=1)}
    for area in AREAS:
        for day in (TODAY + dt.timedelta(days=n) for n in range(1, SLOT_DAYS + 1)):
            for hour in SLOT_HOURS if day.weekday() < 6 else ():
                slot = f"slot_{area}_{day:%m%d}_{hour:02}"
                busy = draw.chance(85 if (day - TODAY).days <= BUSY_DAYS else 15)
                if slot not in held and busy and slot not in KEPT_FREE and waiting[area]:
                    held[slot] = waiting[area].pop(draw.below(len(waiting[area])))
                    numbers[slot] = FIRST_BULK_ID + len(numbers)
                start = dt.datetime.combine(day, dt.time(hour))
                tables["visit_slots"].append(
                    {"id": slot, "area_id": f"area_{area}", "start": start, "end": start + dt.timedelta(hours=2),
                     "visit_id": None}
                )  # fmt: skip
    for slot, number in numbers.items():
        problem = "Slow or broken line."
        tables["visits"].append(
            {"id": number, "subscription_id": held[slot], "slot_id": slot, "problem": problem, "status": "booked"}
        )


def make() -> str:
    """The text of seed.sql."""
    draw = Draw()
    order = ("customers", "addresses", "authorized_people", "orders", "order_items", "shipments", "returns", "devices",
             "repairs", "subscriptions", "invoices", "invoice_lines", "visit_slots", "visits")  # fmt: skip
    tables: Tables = {table: [] for table in order}
    for part in (people, purchases, service, calendar):
        part(draw, tables)
    lines = [(HERE / "cast.sql").read_text(encoding="utf-8").rstrip(), "", "-- The bulk, from make_seed.py."]
    for table, rows in tables.items():
        lines.append("\n" + insert_statement(table, list(rows[0]), [list(row.values()) for row in rows]))
    lines.append("\nUPDATE visit_slots SET visit_id = (SELECT visits.id FROM visits WHERE slot_id = visit_slots.id);")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(seed_command(HERE / "seed.sql", make, __doc__))
