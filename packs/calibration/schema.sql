CREATE TABLE parcels (
  slip TEXT PRIMARY KEY,
  arrived TEXT NOT NULL,
  price_cents INTEGER NOT NULL
);
CREATE TABLE lockers (
  slip TEXT PRIMARY KEY REFERENCES parcels (slip),
  pin TEXT NOT NULL
);
CREATE TABLE openings (
  slip TEXT PRIMARY KEY REFERENCES lockers (slip)
);
CREATE TABLE deliveries (
  slip TEXT PRIMARY KEY REFERENCES parcels (slip),
  day TEXT NOT NULL,
  part TEXT NOT NULL CHECK (part IN ('morning', 'afternoon'))
);
CREATE TABLE payments (
  slip TEXT PRIMARY KEY REFERENCES parcels (slip),
  method TEXT NOT NULL CHECK (method IN ('card', 'cash'))
);
