-- Larkfield: devices that it makes and sells, and the internet service that it runs. Times are local,
-- `YYYY-MM-DDTHH:MM`. Money is in cents. Ids that people never see are readable text, so that a dump can be read.

CREATE TABLE areas (
    id   TEXT PRIMARY KEY CHECK (id GLOB 'area_*'),
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE area_zips (
    zip     TEXT PRIMARY KEY CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'),
    area_id TEXT NOT NULL REFERENCES areas (id)
) STRICT;

CREATE TABLE customers (
    id         TEXT PRIMARY KEY CHECK (id GLOB 'cus_*'),
    first_name TEXT NOT NULL CHECK (length(first_name) > 0),
    last_name  TEXT NOT NULL CHECK (length(last_name) > 0),
    phone_e164 TEXT NOT NULL CHECK (phone_e164 GLOB '+1[2-9]*' AND length(phone_e164) = 12), -- a household may share one
    zip        TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'), -- of the billing address, as the caller must know it
    since      TEXT NOT NULL
) STRICT;
CREATE INDEX customers_by_phone ON customers (phone_e164);

CREATE TABLE addresses (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'adr_*'),
    customer_id TEXT NOT NULL REFERENCES customers (id),
    label       TEXT NOT NULL,
    street      TEXT NOT NULL,
    city        TEXT NOT NULL,
    zip         TEXT NOT NULL CHECK (zip GLOB '[0-9][0-9][0-9][0-9][0-9]'),
    is_billing  INTEGER NOT NULL CHECK (is_billing IN (0, 1)),
    UNIQUE (customer_id, label)
) STRICT;
CREATE UNIQUE INDEX one_billing_address ON addresses (customer_id) WHERE is_billing = 1;

CREATE TABLE authorized_people (
    id          INTEGER PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    full_name   TEXT NOT NULL,
    scope       TEXT NOT NULL CHECK (scope IN ('full', 'service')), -- service: internet and repairs only
    UNIQUE (customer_id, full_name)
) STRICT;

CREATE TABLE products (
    sku            TEXT PRIMARY KEY CHECK (sku = upper(sku)),
    name           TEXT NOT NULL,
    color          TEXT NOT NULL,
    category       TEXT NOT NULL CHECK (category IN ('audio', 'computing', 'home', 'wearable', 'accessory')),
    price_cents    INTEGER NOT NULL CHECK (price_cents > 0),
    return_days    INTEGER NOT NULL CHECK (return_days >= 0), -- 0: cannot be returned once it was delivered
    warranty_months INTEGER NOT NULL CHECK (warranty_months >= 0),
    repair_quote_cents INTEGER CHECK (repair_quote_cents > 0), -- outside of the warranty; NULL: is not repaired
    in_stock       INTEGER NOT NULL CHECK (in_stock IN (0, 1)),
    UNIQUE (name, color)
) STRICT;

CREATE TABLE orders (
    order_number TEXT PRIMARY KEY CHECK (order_number GLOB '[1-9][0-9][0-9][0-9][0-9][0-9]'),
    customer_id  TEXT NOT NULL REFERENCES customers (id),
    address_id   TEXT NOT NULL REFERENCES addresses (id),
    placed_on    TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('processing', 'shipped', 'delivered', 'cancelled'))
) STRICT;
CREATE INDEX orders_of_customer ON orders (customer_id, placed_on);

CREATE TABLE order_items (
    id           TEXT PRIMARY KEY CHECK (id GLOB 'itm_*'),
    order_number TEXT NOT NULL REFERENCES orders (order_number),
    sku          TEXT NOT NULL REFERENCES products (sku),
    paid_cents   INTEGER NOT NULL CHECK (paid_cents >= 0),
    status       TEXT NOT NULL CHECK (status IN ('ordered', 'cancelled'))
) STRICT;
CREATE INDEX items_of_order ON order_items (order_number);

CREATE TABLE shipments (
    id           INTEGER PRIMARY KEY,
    order_number TEXT NOT NULL REFERENCES orders (order_number),
    carrier      TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('label_made', 'in_transit', 'out_for_delivery', 'delivered')),
    expected_on  TEXT NOT NULL,
    delivered_on TEXT,
    left_at      TEXT, -- where the carrier says that it was left
    CHECK ((status = 'delivered') = (delivered_on IS NOT NULL))
) STRICT;
CREATE INDEX shipments_of_order ON shipments (order_number);

CREATE TABLE delivery_traces (
    id           INTEGER PRIMARY KEY,
    order_number TEXT NOT NULL UNIQUE REFERENCES orders (order_number),
    problem      TEXT NOT NULL CHECK (problem IN ('not_received', 'late', 'damaged')),
    opened_on    TEXT NOT NULL
) STRICT;

CREATE TABLE intercepts (
    id           INTEGER PRIMARY KEY,
    order_number TEXT NOT NULL UNIQUE REFERENCES orders (order_number),
    asked_on     TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('asked', 'caught', 'missed'))
) STRICT;

CREATE TABLE returns (
    id            INTEGER PRIMARY KEY,
    order_item_id TEXT NOT NULL REFERENCES order_items (id),
    kind          TEXT NOT NULL CHECK (kind IN ('refund', 'exchange')),
    new_sku       TEXT REFERENCES products (sku),
    reason        TEXT NOT NULL CHECK (reason IN ('defective', 'wrong_item', 'changed_mind')),
    method        TEXT NOT NULL CHECK (method IN ('mail', 'store')),
    refund_cents  INTEGER NOT NULL CHECK (refund_cents >= 0),
    status        TEXT NOT NULL CHECK (status IN ('open', 'received', 'refunded', 'cancelled')),
    opened_on     TEXT NOT NULL,
    CHECK ((kind = 'exchange') = (new_sku IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_return_an_item ON returns (order_item_id) WHERE status <> 'cancelled';

CREATE TABLE return_exceptions (
    id            INTEGER PRIMARY KEY,
    order_item_id TEXT NOT NULL UNIQUE REFERENCES order_items (id),
    reason        TEXT NOT NULL,
    asked_on      TEXT NOT NULL
) STRICT;

CREATE TABLE devices (
    serial         TEXT PRIMARY KEY CHECK (serial GLOB '[1-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'),
    customer_id    TEXT NOT NULL REFERENCES customers (id),
    sku            TEXT NOT NULL REFERENCES products (sku),
    bought_on      TEXT NOT NULL,
    warranty_until TEXT NOT NULL
) STRICT;
CREATE INDEX devices_of_customer ON devices (customer_id);

CREATE TABLE repairs (
    id         INTEGER PRIMARY KEY,
    serial     TEXT NOT NULL REFERENCES devices (serial),
    problem    TEXT NOT NULL,
    mode       TEXT NOT NULL CHECK (mode IN ('mail_in', 'store')),
    cost_cents INTEGER NOT NULL CHECK (cost_cents >= 0), -- 0: under warranty
    status     TEXT NOT NULL CHECK (status IN ('open', 'in_workshop', 'done', 'cancelled')),
    opened_on  TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_open_repair ON repairs (serial) WHERE status IN ('open', 'in_workshop');

CREATE TABLE replacement_reviews (
    id        INTEGER PRIMARY KEY,
    serial    TEXT NOT NULL UNIQUE REFERENCES devices (serial),
    reason    TEXT NOT NULL,
    asked_on  TEXT NOT NULL
) STRICT;

CREATE TABLE plans (
    code          TEXT PRIMARY KEY CHECK (code = upper(code)),
    name          TEXT NOT NULL UNIQUE,
    down_mbps     INTEGER NOT NULL CHECK (down_mbps > 0),
    monthly_cents INTEGER NOT NULL CHECK (monthly_cents > 0),
    offered       INTEGER NOT NULL CHECK (offered IN (0, 1)) -- 0: old customers keep it, nobody can take it
) STRICT;

CREATE TABLE subscriptions (
    id           TEXT PRIMARY KEY CHECK (id GLOB 'sub_*'),
    customer_id  TEXT NOT NULL UNIQUE REFERENCES customers (id),
    plan_code    TEXT NOT NULL REFERENCES plans (code),
    area_id      TEXT NOT NULL REFERENCES areas (id),
    started_on   TEXT NOT NULL,
    term_ends_on TEXT, -- NULL: no fixed term
    next_cycle_on TEXT NOT NULL,
    line_reading TEXT NOT NULL CHECK (line_reading IN ('good', 'weak_signal', 'no_signal', 'modem_stuck')),
    autopay      INTEGER NOT NULL CHECK (autopay IN (0, 1))
) STRICT;

CREATE TABLE plan_changes (
    id              INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL UNIQUE REFERENCES subscriptions (id), -- one that is waiting, never two
    to_plan         TEXT NOT NULL REFERENCES plans (code),
    effective_on    TEXT NOT NULL,
    fee_cents       INTEGER NOT NULL CHECK (fee_cents >= 0),
    asked_on        TEXT NOT NULL
) STRICT;

CREATE TABLE outages (
    id          TEXT PRIMARY KEY CHECK (id GLOB 'out_*'),
    area_id     TEXT NOT NULL REFERENCES areas (id),
    cause       TEXT NOT NULL,
    began_at    TEXT NOT NULL,
    expected_at TEXT, -- NULL: the crew has not given a time
    ended_at    TEXT
) STRICT;

CREATE TABLE outage_alerts (
    id          INTEGER PRIMARY KEY,
    outage_id   TEXT NOT NULL REFERENCES outages (id),
    customer_id TEXT NOT NULL REFERENCES customers (id),
    phone_e164  TEXT NOT NULL,
    UNIQUE (outage_id, customer_id)
) STRICT;

CREATE TABLE restarts (
    id              INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    sent_at         TEXT NOT NULL,
    UNIQUE (subscription_id, sent_at)
) STRICT;

CREATE TABLE visits (
    id              INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    slot_id         TEXT NOT NULL REFERENCES visit_slots (id),
    problem         TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('booked', 'done', 'cancelled'))
) STRICT;
CREATE UNIQUE INDEX one_booked_visit ON visits (subscription_id) WHERE status = 'booked';

CREATE TABLE visit_slots (
    id       TEXT PRIMARY KEY CHECK (id GLOB 'slot_*'),
    area_id  TEXT NOT NULL REFERENCES areas (id),
    "start"  TEXT NOT NULL CHECK ("start" GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]'),
    "end"    TEXT NOT NULL CHECK ("end" > "start"),
    visit_id INTEGER UNIQUE REFERENCES visits (id), -- who has it; NULL: free
    UNIQUE (area_id, "start")
) STRICT;

CREATE TABLE invoices (
    invoice_number TEXT PRIMARY KEY CHECK (invoice_number GLOB 'inv_*'),
    customer_id    TEXT NOT NULL REFERENCES customers (id),
    issued_on      TEXT NOT NULL,
    due_on         TEXT NOT NULL CHECK (due_on >= issued_on),
    status         TEXT NOT NULL CHECK (status IN ('open', 'paid')),
    pay_on         TEXT -- a later day that was agreed on
) STRICT;
CREATE INDEX invoices_of_customer ON invoices (customer_id, issued_on);

CREATE TABLE charge_kinds (
    kind            TEXT PRIMARY KEY,
    approved_script TEXT NOT NULL, -- the only explanation that the desk may give
    creditable      INTEGER NOT NULL CHECK (creditable IN (0, 1)) -- the desk itself may credit it, up to its limit
) STRICT;

CREATE TABLE invoice_lines (
    id             TEXT PRIMARY KEY CHECK (id GLOB 'ln_*'),
    invoice_number TEXT NOT NULL REFERENCES invoices (invoice_number),
    kind           TEXT NOT NULL REFERENCES charge_kinds (kind),
    description    TEXT NOT NULL,
    amount_cents   INTEGER NOT NULL CHECK (amount_cents > 0)
) STRICT;
CREATE INDEX lines_of_invoice ON invoice_lines (invoice_number);

CREATE TABLE credits (
    id           INTEGER PRIMARY KEY,
    line_id      TEXT NOT NULL UNIQUE REFERENCES invoice_lines (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents BETWEEN 1 AND 5000),
    posted_on    TEXT NOT NULL
) STRICT;

CREATE TABLE disputes (
    id        INTEGER PRIMARY KEY,
    line_id   TEXT NOT NULL UNIQUE REFERENCES invoice_lines (id),
    reason    TEXT NOT NULL,
    opened_on TEXT NOT NULL
) STRICT;

CREATE TABLE refund_reviews (
    id           INTEGER PRIMARY KEY,
    line_id      TEXT NOT NULL UNIQUE REFERENCES invoice_lines (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    reason       TEXT NOT NULL,
    asked_on     TEXT NOT NULL
) STRICT;

CREATE TABLE payment_links (
    id             INTEGER PRIMARY KEY,
    invoice_number TEXT NOT NULL REFERENCES invoices (invoice_number),
    phone_e164     TEXT NOT NULL,
    sent_at        TEXT NOT NULL,
    UNIQUE (invoice_number, sent_at)
) STRICT;

CREATE TABLE messages (
    id            INTEGER PRIMARY KEY,
    customer_id   TEXT REFERENCES customers (id), -- NULL: the caller was not verified
    team          TEXT NOT NULL CHECK (team IN ('front_desk', 'network', 'accounts', 'care')),
    topic         TEXT NOT NULL,
    body          TEXT NOT NULL,
    callback_e164 TEXT,
    taken_at      TEXT NOT NULL
) STRICT;

CREATE TABLE policy_facts (
    topic TEXT PRIMARY KEY,
    fact  TEXT NOT NULL
) STRICT;
