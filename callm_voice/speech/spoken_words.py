"""Word lists of the spoken form."""

from __future__ import annotations

_MONTH_NAMES = """January February March April May June July August September October November December"""
MONTHS = {name: name for name in _MONTH_NAMES.split()} | {name[:3]: name for name in _MONTH_NAMES.split()}
MONTHS["Sept"] = "September"
"""Names and short names in the year's order. With their capital, which tells May and March from the verbs."""

_STATE_LINES = """AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,
FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,
MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,
NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,
OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,
VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming,DC D C"""
STATES = dict(line.strip().split(" ", 1) for line in _STATE_LINES.split(","))
"""Postal codes, read out only before a zip."""

UNITS = {
    "mg": ("milligram", "milligrams"),
    "mcg": ("microgram", "micrograms"),
    "kg": ("kilogram", "kilograms"),
    "g": ("gram", "grams"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "km": ("kilometer", "kilometers"),
    "mi": ("mile", "miles"),
    "ft": ("foot", "feet"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "mph": ("mile per hour", "miles per hour"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "sec": ("second", "seconds"),
    "secs": ("second", "seconds"),
    "GB": ("gigabyte", "gigabytes"),
    "MB": ("megabyte", "megabytes"),
    "Mbps": ("megabit per second", "megabits per second"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "¢": ("cent", "cents"),
}
"""Units after a number: singular and plural."""

ABBREVIATIONS = {
    "mr.": "Mister",
    "mrs.": "Missus",
    "ms.": "Miz",
    "prof.": "Professor",
    "rev.": "Reverend",
    "sgt.": "Sergeant",
    "jr.": "Junior",
    "sr.": "Senior",
    "ave.": "Avenue",
    "blvd.": "Boulevard",
    "rd.": "Road",
    "ln.": "Lane",
    "hwy.": "Highway",
    "apt.": "Apartment",
    "ste.": "Suite",
    "inc.": "Incorporated",
    "ltd.": "Limited",
    "corp.": "Corporation",
    "dept.": "Department",
    "ext.": "extension",
    "appt.": "appointment",
    "appts.": "appointments",
    "approx.": "approximately",
    "est.": "estimated",
    "vs.": "versus",
    "etc.": "et cetera",
    "e.g.": "for example",
    "i.e.": "that is",
    "w/": "with",
    "w/o": "without",
    "dob": "date of birth",
}
"""As written, lower case, with the full stop that tells them from words."""

STREETS = {
    "St": "Street",
    "Dr": "Drive",
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Rd": "Road",
    "Ln": "Lane",
    "Ct": "Court",
    "Pl": "Place",
    "Pkwy": "Parkway",
}
"""After a house number and a name."""

DIGIT_CONTEXT = (
    r"\b(?:ending in|ends in|ends with|last (?:four|4)(?: digits)?(?: are| is)?|zip(?: code)?(?: is)?|pin(?: is)?|"
    r"code(?: is)?|extension|ext\.?|id(?: is)?|"
    r"(?:account|confirmation|member|claim|order|ticket|case|reference|policy|invoice|group|card) (?:number|id|#)"
    r"(?: is)?)[:,]? (?:#\s?)?"
)
"""Words after which a number is a code and is said digit by digit."""
