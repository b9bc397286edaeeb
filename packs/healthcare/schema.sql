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
    chart_status     TEXT NOT NULL DEFAULT 'active' CHECK (chart_status IN ('active', 'merged', 'deceased')),
    merged_into      TEXT REFERENCES patients (id), -- the chart that goes on, for a duplicate
    UNIQUE (first_name, last_name, dob),
    CHECK ((chart_status = 'merged') = (merged_into IS NOT NULL))
) STRICT;
CREATE INDEX patients_by_dob ON patients (dob);

CREATE TABLE guardians (
    patient_id TEXT NOT NULL REFERENCES patients (id),
    first_name TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name  TEXT NOT NULL CHECK (length(last_name) > 0),
    relation   TEXT NOT NULL CHECK (relation IN ('mother', 'father', 'guardian')),
    PRIMARY KEY (patient_id, first_name, last_name)
) STRICT;

CREATE TABLE addresses (
    patient_id TEXT PRIMARY KEY REFERENCES patients (id),
    street     TEXT NOT NULL CHECK (length(street) > 0),
    city       TEXT NOT NULL CHECK (length(city) > 0),
    zip        TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]')
) STRICT;

CREATE TABLE mail_holds ( -- letters came back: nothing is mailed until the address is new
    patient_id  TEXT PRIMARY KEY REFERENCES patients (id),
    letter      TEXT NOT NULL CHECK (letter IN ('statement', 'recall', 'records')),
    returned_on TEXT NOT NULL
) STRICT;

CREATE TABLE contact_preferences (
    patient_id TEXT PRIMARY KEY REFERENCES patients (id),
    reminders  TEXT NOT NULL CHECK (reminders IN ('text', 'call', 'none'))
) STRICT;

CREATE TABLE portal_accounts ( -- no row: never invited
    patient_id TEXT PRIMARY KEY REFERENCES patients (id),
    status     TEXT NOT NULL CHECK (status IN ('invited', 'active', 'inactive', 'locked')),
    changed_on TEXT NOT NULL
) STRICT;

CREATE TABLE insurance_policies (
    patient_id      TEXT PRIMARY KEY REFERENCES patients (id),
    carrier         TEXT NOT NULL,
    plan_name       TEXT NOT NULL,
    member_id_last4 TEXT NOT NULL CHECK (length(member_id_last4) = 4)
) STRICT;

CREATE TABLE policy_terms ( -- as the insurer last told it
    patient_id      TEXT PRIMARY KEY REFERENCES insurance_policies (patient_id),
    status          TEXT NOT NULL CHECK (status IN ('active', 'ended')),
    ends_on         TEXT,
    network         TEXT NOT NULL CHECK (network IN ('in', 'out')),
    copay_cents     INTEGER NOT NULL CHECK (copay_cents >= 0),
    referral_needed INTEGER NOT NULL CHECK (referral_needed IN (0, 1)),
    CHECK ((status = 'ended') = (ends_on IS NOT NULL))
) STRICT;

CREATE TABLE insurance_updates ( -- told by the patient, not yet checked with the insurer
    id              INTEGER PRIMARY KEY,
    patient_id      TEXT NOT NULL REFERENCES patients (id),
    carrier         TEXT NOT NULL,
    member_id_last4 TEXT NOT NULL CHECK (member_id_last4 GLOB '[0-9][0-9][0-9][0-9]'),
    starts_on       TEXT NOT NULL,
    received_on     TEXT NOT NULL,
    UNIQUE (patient_id, carrier, member_id_last4)
) STRICT;

CREATE TABLE outside_practices (
    id        TEXT PRIMARY KEY CHECK (id GLOB 'out_*'),
    name      TEXT NOT NULL UNIQUE,
    specialty TEXT NOT NULL CHECK (specialty IN ('primary_care', 'surgery', 'rheumatology', 'oncology', 'dermatology')),
    city      TEXT NOT NULL
) STRICT;

CREATE TABLE prior_approvals (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'pa_*'),
    patient_id  TEXT NOT NULL REFERENCES patients (id),
    service     TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('submitted', 'approved', 'denied', 'expired')),
    decided_on  TEXT,
    valid_until TEXT,
    reason_code TEXT CHECK (reason_code IN ('more_notes_needed', 'other_drug_first', 'not_covered')),
    CHECK ((status = 'submitted') = (decided_on IS NULL)),
    CHECK ((status = 'denied') = (reason_code IS NOT NULL)),
    UNIQUE (patient_id, service)
) STRICT;

CREATE TABLE approval_requests (
    id           INTEGER PRIMARY KEY,
    approval_id  TEXT NOT NULL REFERENCES prior_approvals (id),
    kind         TEXT NOT NULL CHECK (kind IN ('renewal', 'appeal')),
    requested_on TEXT NOT NULL,
    UNIQUE (approval_id, kind)
) STRICT;

CREATE TABLE referrals (
    id           TEXT PRIMARY KEY CHECK (id GLOB 'ref_*'),
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    practice_id  TEXT NOT NULL REFERENCES outside_practices (id),
    direction    TEXT NOT NULL CHECK (direction IN ('to_us', 'from_us')),
    reason       TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('valid', 'used_up', 'expired', 'sent')),
    visits_left  INTEGER NOT NULL CHECK (visits_left >= 0),
    valid_until  TEXT NOT NULL
) STRICT;
CREATE INDEX referrals_of_patient ON referrals (patient_id);

CREATE TABLE referral_requests (
    id           INTEGER PRIMARY KEY,
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    practice_id  TEXT NOT NULL REFERENCES outside_practices (id),
    kind         TEXT NOT NULL CHECK (kind IN ('new_to_us', 'send_again')),
    referral_id  TEXT REFERENCES referrals (id),
    requested_on TEXT NOT NULL,
    CHECK ((kind = 'send_again') = (referral_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_referral_request ON referral_requests (patient_id, practice_id, kind, coalesce(referral_id, ''));

CREATE TABLE orders (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'ord_*'),
    patient_id  TEXT NOT NULL REFERENCES patients (id),
    kind        TEXT NOT NULL CHECK (kind IN ('lab', 'pathology', 'prescription', 'referral')),
    description TEXT NOT NULL,
    ordered_on  TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('open', 'closed'))
) STRICT;

CREATE TABLE results (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'res_*'),
    order_id    TEXT NOT NULL UNIQUE REFERENCES orders (id),
    status      TEXT NOT NULL CHECK (status IN ('pending', 'released', 'nurse_call')),
    resulted_on TEXT,
    words       TEXT, -- what the desk may say; NULL: nothing but that a nurse calls, or that it is not back
    CHECK ((status = 'released') = (words IS NOT NULL)),
    CHECK ((status = 'pending') = (resulted_on IS NULL))
) STRICT;

CREATE TABLE pharmacies (
    id     TEXT PRIMARY KEY CHECK (id GLOB 'pharm_*'),
    name   TEXT NOT NULL,
    street TEXT NOT NULL,
    city   TEXT NOT NULL,
    UNIQUE (name, street)
) STRICT;

CREATE TABLE prescriptions (
    id             TEXT PRIMARY KEY CHECK (id GLOB 'rx_*'),
    patient_id     TEXT NOT NULL REFERENCES patients (id),
    provider_id    TEXT NOT NULL REFERENCES providers (id),
    pharmacy_id    TEXT NOT NULL REFERENCES pharmacies (id),
    drug           TEXT NOT NULL,
    directions     TEXT NOT NULL, -- as printed on the label; the only words about its use that the desk may say
    controlled     INTEGER NOT NULL CHECK (controlled IN (0, 1)),
    visit_needed   INTEGER NOT NULL CHECK (visit_needed IN (0, 1)), -- only at a visit, such as isotretinoin
    refills_left   INTEGER NOT NULL CHECK (refills_left BETWEEN 0 AND 12),
    last_filled_on TEXT NOT NULL,
    expires_on     TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('active', 'stopped')),
    UNIQUE (patient_id, drug)
) STRICT;

CREATE TABLE refill_requests (
    id              INTEGER PRIMARY KEY,
    prescription_id TEXT NOT NULL REFERENCES prescriptions (id),
    pharmacy_id     TEXT NOT NULL REFERENCES pharmacies (id),
    status          TEXT NOT NULL CHECK (status IN ('open', 'done')),
    requested_at    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_open_refill ON refill_requests (prescription_id) WHERE status = 'open';

CREATE TABLE prescriber_requests ( -- what only the prescriber may decide
    id              INTEGER PRIMARY KEY,
    prescription_id TEXT NOT NULL REFERENCES prescriptions (id),
    kind            TEXT NOT NULL CHECK (kind IN ('controlled', 'no_refills_left', 'expired', 'too_early', 'side_effect', 'dose_change')),
    requested_at    TEXT NOT NULL,
    UNIQUE (prescription_id, kind)
) STRICT;

CREATE TABLE nurse_callbacks (
    id           INTEGER PRIMARY KEY,
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    reason       TEXT NOT NULL CHECK (reason IN ('result', 'symptom', 'medicine')),
    order_id     TEXT REFERENCES orders (id),
    mobile_e164  TEXT NOT NULL CHECK (mobile_e164 GLOB '+1[2-9]*' AND length(mobile_e164) = 12),
    time_of_day  TEXT NOT NULL CHECK (time_of_day IN ('any', 'morning', 'afternoon')),
    status       TEXT NOT NULL CHECK (status IN ('open', 'done')),
    requested_at TEXT NOT NULL,
    CHECK ((reason = 'result') = (order_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_open_callback ON nurse_callbacks (patient_id, reason, coalesce(order_id, '')) WHERE status = 'open';

CREATE TABLE triage_guides (
    symptom     TEXT PRIMARY KEY,
    question    TEXT NOT NULL, -- the one question that the desk asks
    if_yes      TEXT NOT NULL CHECK (if_yes IN ('emergency', 'same_day', 'routine')),
    if_no       TEXT NOT NULL CHECK (if_no IN ('emergency', 'same_day', 'routine')),
    emergency   TEXT NOT NULL, -- words to say for each outcome
    same_day    TEXT NOT NULL,
    routine     TEXT NOT NULL
) STRICT;

CREATE TABLE triage_notes (
    id         INTEGER PRIMARY KEY,
    patient_id TEXT NOT NULL REFERENCES patients (id),
    symptom    TEXT NOT NULL REFERENCES triage_guides (symptom),
    answer     TEXT NOT NULL CHECK (answer IN ('yes', 'no')),
    outcome    TEXT NOT NULL CHECK (outcome IN ('emergency', 'same_day', 'routine')),
    noted_at   TEXT NOT NULL,
    UNIQUE (patient_id, symptom, noted_at)
) STRICT;

CREATE TABLE record_requests (
    id           INTEGER PRIMARY KEY,
    patient_id   TEXT NOT NULL REFERENCES patients (id),
    kind         TEXT NOT NULL CHECK (kind IN ('visit_notes', 'pathology_report', 'full_chart', 'billing_records')),
    delivery     TEXT NOT NULL CHECK (delivery IN ('portal', 'mail', 'pickup', 'practice')),
    practice_id  TEXT REFERENCES outside_practices (id),
    location_id  TEXT REFERENCES locations (id),
    status       TEXT NOT NULL CHECK (status IN ('open', 'sent')),
    requested_on TEXT NOT NULL,
    CHECK ((delivery = 'practice') = (practice_id IS NOT NULL)),
    CHECK ((delivery = 'pickup') = (location_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_open_record_request ON record_requests (patient_id, kind, delivery, coalesce(practice_id, ''))
    WHERE status = 'open';

CREATE TABLE releases ( -- who else may hear something, by a form that the patient signed
    id         TEXT PRIMARY KEY CHECK (id GLOB 'rel_*'),
    patient_id TEXT NOT NULL REFERENCES patients (id),
    first_name TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name  TEXT NOT NULL CHECK (length(last_name) > 0),
    relation   TEXT NOT NULL,
    scope      TEXT NOT NULL CHECK (scope IN ('appointments', 'billing', 'all')),
    expires_on TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('active', 'revoked')),
    UNIQUE (patient_id, first_name, last_name, scope)
) STRICT;

CREATE TABLE release_forms ( -- blank forms that were sent for signing
    id         INTEGER PRIMARY KEY,
    patient_id TEXT NOT NULL REFERENCES patients (id),
    scope      TEXT NOT NULL CHECK (scope IN ('appointments', 'billing', 'all')),
    delivery   TEXT NOT NULL CHECK (delivery IN ('portal', 'mail')),
    sent_on    TEXT NOT NULL,
    UNIQUE (patient_id, scope, delivery, sent_on)
) STRICT;

CREATE TABLE declined_requests ( -- what was asked for and is not given; the privacy officer reads it
    id          INTEGER PRIMARY KEY,
    patient_id  TEXT REFERENCES patients (id), -- NULL: the caller was not verified
    kind        TEXT NOT NULL CHECK (kind IN ('chart_of_another', 'record_changed', 'staff_contact')),
    declined_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_declined_request ON declined_requests (coalesce(patient_id, ''), kind, declined_at);

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

CREATE TABLE accommodations (
    appointment_id INTEGER NOT NULL REFERENCES appointments (id),
    kind           TEXT NOT NULL CHECK (kind IN ('wheelchair', 'interpreter', 'hearing', 'extra_time')),
    PRIMARY KEY (appointment_id, kind)
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

CREATE TABLE fee_waiver_requests ( -- the billing manager decides
    id           INTEGER PRIMARY KEY,
    line_item_id TEXT NOT NULL UNIQUE REFERENCES line_items (id),
    reason       TEXT NOT NULL CHECK (reason IN ('illness', 'emergency', 'weather', 'office_error', 'other')),
    requested_on TEXT NOT NULL
) STRICT;

CREATE TABLE payment_plans (
    patient_id    TEXT PRIMARY KEY REFERENCES patients (id),
    monthly_cents INTEGER NOT NULL CHECK (monthly_cents > 0),
    due_day       INTEGER NOT NULL CHECK (due_day BETWEEN 1 AND 28),
    day_changed   INTEGER NOT NULL DEFAULT 0 CHECK (day_changed IN (0, 1)), -- it can be changed once
    started_on    TEXT NOT NULL
) STRICT;

CREATE TABLE statements (
    number      TEXT PRIMARY KEY CHECK (number GLOB '[1-9][0-9][0-9][0-9][0-9]'),
    patient_id  TEXT NOT NULL REFERENCES patients (id),
    issued_on   TEXT NOT NULL,
    total_cents INTEGER NOT NULL CHECK (total_cents > 0)
) STRICT;
CREATE INDEX statements_of_patient ON statements (patient_id, issued_on);

CREATE TABLE statement_copies (
    id               INTEGER PRIMARY KEY,
    statement_number TEXT NOT NULL REFERENCES statements (number),
    channel          TEXT NOT NULL CHECK (channel IN ('portal', 'mail')),
    sent_on          TEXT NOT NULL,
    UNIQUE (statement_number, channel, sent_on)
) STRICT;

CREATE TABLE complaints (
    id          INTEGER PRIMARY KEY,
    patient_id  TEXT REFERENCES patients (id), -- NULL: the caller was not verified
    kind        TEXT NOT NULL CHECK (kind IN ('waiting', 'staff', 'care', 'billing', 'building')),
    location_id TEXT NOT NULL REFERENCES locations (id),
    body        TEXT NOT NULL,
    filed_at    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_complaint ON complaints (coalesce(patient_id, ''), kind, location_id, filed_at);

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
