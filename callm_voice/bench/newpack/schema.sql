-- Halden Cycles: customers, their bicycles in repair, and work that was found on the way. Money is in cents.

CREATE TABLE customers (
    id         TEXT PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name  TEXT NOT NULL,
    mobile     TEXT NOT NULL UNIQUE CHECK (mobile GLOB '+1*' AND length(mobile) = 12)
) STRICT;

CREATE TABLE repairs (
    id          INTEGER PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    bicycle     TEXT NOT NULL,
    work        TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('waiting', 'in_work', 'ready', 'collected')),
    ready_on    TEXT NOT NULL
) STRICT;

CREATE TABLE extra_work (
    id          INTEGER PRIMARY KEY,
    repair_id   INTEGER NOT NULL REFERENCES repairs (id),
    description TEXT NOT NULL,
    price_cents INTEGER NOT NULL CHECK (price_cents > 0),
    decision    TEXT NOT NULL DEFAULT 'open' CHECK (decision IN ('open', 'approved', 'declined')),
    decided_at  TEXT
) STRICT;
