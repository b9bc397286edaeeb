-- Calloway Finch: people, matters, calendar, accounts and files. Times are local to the firm, `YYYY-MM-DDTHH:MM`.
-- Money is in cents. Ids that people never see are readable text, so that a dump can be read.

-- the firm ------------------------------------------------------------------------------------------------------------

CREATE TABLE offices (
    id      TEXT PRIMARY KEY CHECK (id GLOB 'off_*'),
    name    TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL,
    hours   TEXT NOT NULL,
    parking TEXT NOT NULL,
    transit TEXT NOT NULL,
    listed  INTEGER NOT NULL UNIQUE -- the order in which the desk names the offices
) STRICT;

CREATE TABLE practice_areas (
    code              TEXT PRIMARY KEY CHECK (code = upper(code)),
    name              TEXT NOT NULL UNIQUE,
    covers            TEXT NOT NULL,
    consult_fee_cents INTEGER NOT NULL CHECK (consult_fee_cents >= 0),
    takes_new         INTEGER NOT NULL CHECK (takes_new IN (0, 1))
) STRICT;

CREATE TABLE intake_questions (
    practice_area TEXT NOT NULL REFERENCES practice_areas (code),
    position      INTEGER NOT NULL CHECK (position BETWEEN 1 AND 9),
    question      TEXT NOT NULL,
    PRIMARY KEY (practice_area, position)
) STRICT;

CREATE TABLE attorneys (
    id                TEXT PRIMARY KEY CHECK (id GLOB 'att_*'),
    name              TEXT NOT NULL UNIQUE,
    practice_area     TEXT NOT NULL REFERENCES practice_areas (code),
    office_id         TEXT NOT NULL REFERENCES offices (id),
    hourly_rate_cents INTEGER NOT NULL CHECK (hourly_rate_cents > 0),
    takes_new         INTEGER NOT NULL CHECK (takes_new IN (0, 1))
) STRICT;

CREATE TABLE firm_facts (
    topic TEXT PRIMARY KEY,
    fact  TEXT NOT NULL -- may be said as it stands
) STRICT;

-- people and matters --------------------------------------------------------------------------------------------------

CREATE TABLE clients (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'cli_*'),
    first_name  TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name   TEXT NOT NULL CHECK (length(last_name) > 0),
    dob         TEXT NOT NULL CHECK (dob GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    zip         TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'),
    mobile_e164 TEXT NOT NULL CHECK (mobile_e164 GLOB '+1[2-9]*' AND length(mobile_e164) = 12),
    email       TEXT NOT NULL CHECK (email LIKE '%@%'),
    standing    TEXT NOT NULL DEFAULT 'good' CHECK (standing IN ('good', 'collections')),
    UNIQUE (first_name, last_name, dob)
) STRICT;
CREATE INDEX clients_by_dob ON clients (dob);

CREATE TABLE matters (
    id               TEXT PRIMARY KEY CHECK (id GLOB 'mat_*'),
    number           TEXT NOT NULL UNIQUE CHECK (number GLOB '[1-9][0-9][0-9][0-9]'),
    client_id        TEXT NOT NULL REFERENCES clients (id),
    practice_area    TEXT NOT NULL REFERENCES practice_areas (code),
    title            TEXT NOT NULL,
    lead_attorney_id TEXT NOT NULL REFERENCES attorneys (id),
    status           TEXT NOT NULL CHECK (status IN ('open', 'on_hold', 'closed')),
    phase            TEXT NOT NULL,
    status_note      TEXT NOT NULL, -- the only words about the course of the matter that the desk may say
    opened_on        TEXT NOT NULL
) STRICT;
CREATE INDEX matters_of_client ON matters (client_id);

CREATE TABLE parties (
    id        INTEGER PRIMARY KEY,
    matter_id TEXT NOT NULL REFERENCES matters (id),
    name      TEXT NOT NULL CHECK (length(name) > 0),
    side      TEXT NOT NULL CHECK (side IN ('adverse', 'related', 'witness')),
    UNIQUE (matter_id, name)
) STRICT;

CREATE TABLE deadlines (
    id        TEXT PRIMARY KEY CHECK (id GLOB 'dl_*'),
    matter_id TEXT NOT NULL REFERENCES matters (id),
    title     TEXT NOT NULL,
    due_on    TEXT NOT NULL CHECK (due_on GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    owner     TEXT NOT NULL CHECK (owner IN ('client', 'firm')), -- who has to act
    status    TEXT NOT NULL CHECK (status IN ('open', 'reported_done', 'met'))
) STRICT;
CREATE INDEX deadlines_of_matter ON deadlines (matter_id, due_on);

CREATE TABLE reminders (
    id          INTEGER PRIMARY KEY,
    deadline_id TEXT NOT NULL REFERENCES deadlines (id),
    send_on     TEXT NOT NULL CHECK (send_on GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    UNIQUE (deadline_id, send_on)
) STRICT;

CREATE TABLE extension_requests (
    id           INTEGER PRIMARY KEY,
    deadline_id  TEXT NOT NULL UNIQUE REFERENCES deadlines (id),
    reason       TEXT NOT NULL,
    requested_on TEXT NOT NULL
) STRICT;

CREATE TABLE hearings (
    id               TEXT PRIMARY KEY CHECK (id GLOB 'hear_*'),
    matter_id        TEXT NOT NULL REFERENCES matters (id),
    kind             TEXT NOT NULL,
    court            TEXT NOT NULL,
    room             TEXT NOT NULL,
    "start"          TEXT NOT NULL CHECK ("start" GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    client_attends   TEXT NOT NULL CHECK (client_attends IN ('required', 'optional', 'not_needed')),
    client_confirmed INTEGER NOT NULL DEFAULT 0 CHECK (client_confirmed IN (0, 1))
) STRICT;

-- new callers ---------------------------------------------------------------------------------------------------------

CREATE TABLE prospects (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'pro_*'),
    first_name  TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name   TEXT NOT NULL CHECK (length(last_name) > 0),
    mobile_e164 TEXT NOT NULL CHECK (mobile_e164 GLOB '+1[2-9]*' AND length(mobile_e164) = 12),
    status      TEXT NOT NULL CHECK (status IN ('new', 'declined', 'intake')),
    called_on   TEXT NOT NULL,
    UNIQUE (first_name, last_name, mobile_e164)
) STRICT;

CREATE TABLE conflict_checks (
    id            INTEGER PRIMARY KEY,
    client_id     TEXT REFERENCES clients (id),
    prospect_id   TEXT REFERENCES prospects (id),
    practice_area TEXT NOT NULL REFERENCES practice_areas (code),
    other_party   TEXT NOT NULL CHECK (length(other_party) > 0),
    result        TEXT NOT NULL CHECK (result IN ('clear', 'conflict')),
    checked_at    TEXT NOT NULL,
    CHECK ((client_id IS NULL) <> (prospect_id IS NULL))
) STRICT;

CREATE TABLE referrals (
    id          INTEGER PRIMARY KEY,
    prospect_id TEXT NOT NULL UNIQUE REFERENCES prospects (id),
    reason      TEXT NOT NULL CHECK (reason IN ('conflict', 'area_closed', 'area_not_practised')),
    referred_to TEXT NOT NULL,
    made_on     TEXT NOT NULL
) STRICT;

CREATE TABLE intakes (
    id            INTEGER PRIMARY KEY,
    client_id     TEXT REFERENCES clients (id),
    prospect_id   TEXT REFERENCES prospects (id),
    practice_area TEXT NOT NULL REFERENCES practice_areas (code),
    event_on      TEXT NOT NULL,
    court_date    TEXT,
    urgent        INTEGER NOT NULL CHECK (urgent IN (0, 1)),
    summary       TEXT NOT NULL,
    taken_at      TEXT NOT NULL,
    CHECK ((client_id IS NULL) <> (prospect_id IS NULL)),
    UNIQUE (prospect_id, practice_area),
    UNIQUE (client_id, practice_area, taken_at)
) STRICT;

-- the calendar --------------------------------------------------------------------------------------------------------

CREATE TABLE appointment_types (
    code     TEXT PRIMARY KEY CHECK (code = upper(code)),
    name     TEXT NOT NULL UNIQUE,
    audience TEXT NOT NULL CHECK (audience IN ('client', 'intake')), -- intake: wants a saved intake
    place    TEXT NOT NULL CHECK (place IN ('office', 'phone'))
) STRICT;

CREATE TABLE appointments (
    id          INTEGER PRIMARY KEY,
    client_id   TEXT REFERENCES clients (id),
    prospect_id TEXT REFERENCES prospects (id),
    matter_id   TEXT REFERENCES matters (id),
    attorney_id TEXT NOT NULL REFERENCES attorneys (id),
    office_id   TEXT NOT NULL REFERENCES offices (id),
    type_code   TEXT NOT NULL REFERENCES appointment_types (code),
    "start"     TEXT NOT NULL CHECK ("start" GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    "end"       TEXT NOT NULL CHECK ("end" > "start"),
    status      TEXT NOT NULL CHECK (status IN ('booked', 'confirmed', 'completed', 'cancelled')),
    created_at  TEXT NOT NULL,
    CHECK ((client_id IS NULL) <> (prospect_id IS NULL))
) STRICT;
CREATE INDEX appointments_of_client ON appointments (client_id, "start");

CREATE TABLE slots (
    id             TEXT PRIMARY KEY CHECK (id GLOB 'slot_*'),
    attorney_id    TEXT NOT NULL REFERENCES attorneys (id),
    office_id      TEXT NOT NULL REFERENCES offices (id),
    "start"        TEXT NOT NULL CHECK ("start" GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    "end"          TEXT NOT NULL CHECK ("end" > "start"),
    appointment_id INTEGER UNIQUE REFERENCES appointments (id), -- who has it; NULL: free, unless blocked
    blocked        TEXT, -- why it cannot be given away (court, filing day); NULL: it can
    UNIQUE (attorney_id, "start"),
    CHECK (appointment_id IS NULL OR blocked IS NULL)
) STRICT;

CREATE TABLE waitlist (
    id        INTEGER PRIMARY KEY,
    matter_id TEXT NOT NULL REFERENCES matters (id),
    type_code TEXT NOT NULL REFERENCES appointment_types (code),
    added_on  TEXT NOT NULL,
    UNIQUE (matter_id, type_code)
) STRICT;

-- accounts ------------------------------------------------------------------------------------------------------------

CREATE TABLE invoices (
    number    TEXT PRIMARY KEY CHECK (number GLOB '[1-9][0-9][0-9][0-9][0-9]'),
    matter_id TEXT NOT NULL REFERENCES matters (id),
    issued_on TEXT NOT NULL,
    due_on    TEXT NOT NULL CHECK (due_on >= issued_on),
    status    TEXT NOT NULL CHECK (status IN ('open', 'paid', 'void'))
) STRICT;
CREATE INDEX invoices_of_matter ON invoices (matter_id);

CREATE TABLE line_kinds (
    kind            TEXT PRIMARY KEY,
    approved_script TEXT NOT NULL -- the only explanation that the desk may give
) STRICT;

CREATE TABLE invoice_lines (
    id             TEXT PRIMARY KEY CHECK (id GLOB 'il_*'),
    invoice_number TEXT NOT NULL REFERENCES invoices (number),
    kind           TEXT NOT NULL REFERENCES line_kinds (kind),
    description    TEXT NOT NULL,
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0)
) STRICT;
CREATE INDEX lines_of_invoice ON invoice_lines (invoice_number);

CREATE TABLE payments (
    id             INTEGER PRIMARY KEY,
    invoice_number TEXT NOT NULL REFERENCES invoices (number),
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0),
    method         TEXT NOT NULL CHECK (method IN ('card', 'check', 'payment_link', 'trust')),
    paid_on        TEXT NOT NULL
) STRICT;
CREATE INDEX payments_of_invoice ON payments (invoice_number);

CREATE TABLE payment_links (
    id             INTEGER PRIMARY KEY,
    invoice_number TEXT NOT NULL REFERENCES invoices (number),
    mobile_e164    TEXT NOT NULL,
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0),
    sent_at        TEXT NOT NULL,
    UNIQUE (invoice_number, mobile_e164, amount_cents, sent_at)
) STRICT;

CREATE TABLE payment_plans (
    id             INTEGER PRIMARY KEY,
    invoice_number TEXT NOT NULL UNIQUE REFERENCES invoices (number),
    months         INTEGER NOT NULL CHECK (months IN (3, 6, 12)),
    monthly_cents  INTEGER NOT NULL CHECK (monthly_cents > 0),
    first_due_on   TEXT NOT NULL
) STRICT;

CREATE TABLE fee_disputes (
    id        INTEGER PRIMARY KEY,
    line_id   TEXT NOT NULL UNIQUE REFERENCES invoice_lines (id),
    reason    TEXT NOT NULL,
    opened_on TEXT NOT NULL
) STRICT;

CREATE TABLE trust_ledger (
    id           INTEGER PRIMARY KEY,
    matter_id    TEXT NOT NULL REFERENCES matters (id),
    entry_on     TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('deposit', 'applied', 'cost', 'refund')),
    amount_cents INTEGER NOT NULL CHECK (amount_cents <> 0), -- deposits are positive, all others negative
    memo         TEXT NOT NULL,
    CHECK ((kind = 'deposit') = (amount_cents > 0))
) STRICT;
CREATE INDEX ledger_of_matter ON trust_ledger (matter_id, entry_on);

CREATE TABLE trust_requests (
    id             INTEGER PRIMARY KEY,
    matter_id      TEXT NOT NULL REFERENCES matters (id),
    kind           TEXT NOT NULL CHECK (kind IN ('apply', 'refund')),
    invoice_number TEXT REFERENCES invoices (number),
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0),
    requested_on   TEXT NOT NULL,
    CHECK ((kind = 'apply') = (invoice_number IS NOT NULL)),
    UNIQUE (matter_id, kind, invoice_number)
) STRICT;

-- files and messages --------------------------------------------------------------------------------------------------

CREATE TABLE documents (
    id         TEXT PRIMARY KEY CHECK (id GLOB 'doc_*'),
    matter_id  TEXT NOT NULL REFERENCES matters (id),
    title      TEXT NOT NULL,
    dated      TEXT NOT NULL,
    status     TEXT NOT NULL
        CHECK (status IN ('draft', 'final', 'signed', 'awaiting_signature', 'awaited_from_client', 'announced')),
    releasable INTEGER NOT NULL CHECK (releasable IN (0, 1)) -- 0: only an attorney may give it out
) STRICT;
CREATE INDEX documents_of_matter ON documents (matter_id);

CREATE TABLE document_deliveries (
    id          INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES documents (id),
    channel     TEXT NOT NULL CHECK (channel IN ('email', 'pickup')),
    office_id   TEXT REFERENCES offices (id),
    ordered_at  TEXT NOT NULL,
    CHECK ((channel = 'pickup') = (office_id IS NOT NULL))
) STRICT;

CREATE TABLE copy_requests (
    id           INTEGER PRIMARY KEY,
    matter_id    TEXT NOT NULL REFERENCES matters (id),
    kind         TEXT NOT NULL CHECK (kind IN ('full_file', 'certified_copy')),
    requested_on TEXT NOT NULL,
    UNIQUE (matter_id, kind)
) STRICT;

CREATE TABLE messages (
    id            INTEGER PRIMARY KEY,
    client_id     TEXT REFERENCES clients (id), -- NULL: the caller was not verified
    matter_id     TEXT REFERENCES matters (id),
    team          TEXT NOT NULL CHECK (team IN ('front_desk', 'billing', 'attorney', 'managing_partner')),
    topic         TEXT NOT NULL,
    body          TEXT NOT NULL,
    callback_e164 TEXT,
    taken_at      TEXT NOT NULL
) STRICT;
