-- Straus Dermatology: offices, calendar, charts and accounts. Times are local to the office, `YYYY-MM-DDTHH:MM`.
-- Money is in cents. Ids that people never see are readable text, so that a dump can be read.

CREATE TABLE locations (
    id              TEXT PRIMARY KEY CHECK (id GLOB 'loc_*'),
    name            TEXT NOT NULL UNIQUE,
    zip             TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'),
    offers_cosmetic INTEGER NOT NULL CHECK (offers_cosmetic IN (0, 1)),
    address         TEXT NOT NULL,
    floor           TEXT NOT NULL,
    suite           TEXT NOT NULL,
    hours           TEXT NOT NULL,
    services        TEXT NOT NULL,
    transit         TEXT NOT NULL,
    parking         TEXT NOT NULL,
    listed          INTEGER NOT NULL UNIQUE -- the order in which the desk names the offices
) STRICT;

CREATE TABLE providers (
    id            TEXT PRIMARY KEY CHECK (id GLOB 'prov_*'),
    name          TEXT NOT NULL UNIQUE,
    focus         TEXT NOT NULL,
    accepting_new INTEGER NOT NULL CHECK (accepting_new IN (0, 1))
) STRICT;

CREATE TABLE provider_locations (
    provider_id TEXT NOT NULL REFERENCES providers (id),
    location_id TEXT NOT NULL REFERENCES locations (id),
    PRIMARY KEY (provider_id, location_id)
) STRICT;

CREATE TABLE appointment_types (
    code     TEXT PRIMARY KEY CHECK (code = upper(code)),
    name     TEXT NOT NULL UNIQUE,
    service  TEXT NOT NULL CHECK (service IN ('medical', 'surgical', 'cosmetic', 'allergy')),
    minutes  INTEGER NOT NULL CHECK (minutes BETWEEN 10 AND 120),
    new_ok   INTEGER NOT NULL CHECK (new_ok IN (0, 1)) -- a new patient may book it
) STRICT;

CREATE TABLE provider_appointment_types (
    provider_id TEXT NOT NULL REFERENCES providers (id),
    code        TEXT NOT NULL REFERENCES appointment_types (code),
    PRIMARY KEY (provider_id, code)
) STRICT;

CREATE TABLE patients (
    id               TEXT PRIMARY KEY CHECK (id GLOB 'pat_*'),
    first_name       TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name        TEXT NOT NULL CHECK (length(last_name) > 0),
    dob              TEXT NOT NULL CHECK (dob GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    zip              TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'),
    mobile_e164      TEXT NOT NULL CHECK (mobile_e164 GLOB '+1[2-9]*' AND length(mobile_e164) = 12),
    language         TEXT NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'es')),
    home_location_id TEXT NOT NULL REFERENCES locations (id),
    portal_active    INTEGER NOT NULL DEFAULT 0 CHECK (portal_active IN (0, 1)),
    account_standing TEXT NOT NULL DEFAULT 'good' CHECK (account_standing IN ('good', 'collections')),
    UNIQUE (first_name, last_name, dob)
) STRICT;

CREATE TABLE insurance_policies (
    patient_id      TEXT PRIMARY KEY REFERENCES patients (id),
    carrier         TEXT NOT NULL,
    plan_name       TEXT NOT NULL,
    member_id_last4 TEXT NOT NULL CHECK (length(member_id_last4) = 4)
) STRICT;

CREATE TABLE orders (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'ord_*'),
    patient_id  TEXT NOT NULL REFERENCES patients (id),
    kind        TEXT NOT NULL CHECK (kind IN ('lab', 'pathology', 'prescription', 'referral')),
    description TEXT NOT NULL,
    ordered_on  TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('open', 'closed'))
) STRICT;

CREATE TABLE clinical_flags (
    patient_id TEXT NOT NULL REFERENCES patients (id),
    flag       TEXT NOT NULL,
    PRIMARY KEY (patient_id, flag)
) STRICT;

CREATE TABLE appointments (
    id                    INTEGER PRIMARY KEY,
    patient_id            TEXT NOT NULL REFERENCES patients (id),
    location_id           TEXT NOT NULL REFERENCES locations (id),
    provider_id           TEXT NOT NULL REFERENCES providers (id),
    appointment_type_code TEXT NOT NULL REFERENCES appointment_types (code),
    "start"               TEXT NOT NULL CHECK ("start" GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    "end"                 TEXT NOT NULL CHECK ("end" > "start"),
    description           TEXT NOT NULL,
    status                TEXT NOT NULL CHECK (status IN ('booked', 'confirmed', 'completed', 'cancelled', 'no_show')),
    created_at            TEXT NOT NULL,
    FOREIGN KEY (provider_id, location_id) REFERENCES provider_locations (provider_id, location_id)
) STRICT;
CREATE INDEX appointments_of_patient ON appointments (patient_id, "start");

CREATE TABLE slots (
    id             TEXT PRIMARY KEY CHECK (id GLOB 'slot_loc_*'),
    location_id    TEXT NOT NULL REFERENCES locations (id),
    provider_id    TEXT NOT NULL REFERENCES providers (id),
    "start"        TEXT NOT NULL CHECK ("start" GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    "end"          TEXT NOT NULL CHECK ("end" > "start"),
    appointment_id INTEGER UNIQUE REFERENCES appointments (id), -- who has it; NULL: free, unless blocked
    blocked        TEXT, -- why it cannot be given away (surgery day, meeting); NULL: it can
    UNIQUE (provider_id, "start"),
    CHECK (appointment_id IS NULL OR blocked IS NULL),
    FOREIGN KEY (provider_id, location_id) REFERENCES provider_locations (provider_id, location_id)
) STRICT;
CREATE INDEX slots_of_location ON slots (location_id, "start");

CREATE TABLE waitlist (
    id                    INTEGER PRIMARY KEY,
    patient_id            TEXT NOT NULL REFERENCES patients (id),
    location_id           TEXT NOT NULL REFERENCES locations (id),
    appointment_type_code TEXT NOT NULL REFERENCES appointment_types (code),
    added_on              TEXT NOT NULL,
    UNIQUE (patient_id, location_id, appointment_type_code)
) STRICT;

CREATE TABLE charge_kinds (
    kind            TEXT PRIMARY KEY,
    approved_script TEXT NOT NULL -- the only explanation that the desk may give
) STRICT;

CREATE TABLE line_items (
    id           TEXT PRIMARY KEY CHECK (id GLOB 'li_*'),
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    kind         TEXT NOT NULL REFERENCES charge_kinds (kind),
    description  TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    posted_on    TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('open', 'paid', 'waived'))
) STRICT;
CREATE INDEX line_items_of_patient ON line_items (patient_id, status);

CREATE TABLE payments (
    id           INTEGER PRIMARY KEY,
    line_item_id TEXT NOT NULL REFERENCES line_items (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    method       TEXT NOT NULL CHECK (method IN ('card', 'check', 'payment_link', 'hsa')),
    paid_on      TEXT NOT NULL
) STRICT;

CREATE TABLE financing_programs (
    provider          TEXT PRIMARY KEY,
    min_balance_cents INTEGER NOT NULL CHECK (min_balance_cents > 0),
    active            INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE payment_links (
    id           INTEGER PRIMARY KEY,
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    channel      TEXT NOT NULL CHECK (channel = 'sms'),
    mobile_e164  TEXT NOT NULL,
    amount_cents INTEGER CHECK (amount_cents > 0), -- NULL: whatever the balance is on the day it is opened
    sent_at      TEXT NOT NULL,
    UNIQUE (patient_id, sent_at, amount_cents)
) STRICT;

CREATE TABLE charge_reviews (
    id           INTEGER PRIMARY KEY,
    line_item_id TEXT NOT NULL UNIQUE REFERENCES line_items (id),
    reason       TEXT NOT NULL,
    opened_on    TEXT NOT NULL
) STRICT;

CREATE TABLE messages (
    id          INTEGER PRIMARY KEY,
    patient_id  TEXT REFERENCES patients (id), -- NULL: the caller was not verified
    team        TEXT NOT NULL CHECK (team IN ('front_desk', 'billing', 'nurses', 'manager')),
    topic       TEXT NOT NULL,
    body        TEXT NOT NULL,
    callback_e164 TEXT,
    taken_at    TEXT NOT NULL
) STRICT;

CREATE TABLE practice_facts (
    topic TEXT PRIMARY KEY,
    fact  TEXT NOT NULL
) STRICT;
