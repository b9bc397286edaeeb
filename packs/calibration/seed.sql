INSERT INTO parcels (slip, arrived, price_cents) VALUES ('417', '2026-08-17', 450);
INSERT INTO parcels (slip, arrived, price_cents) VALUES ('418', '2026-08-17', 700);
INSERT INTO lockers (slip, pin) VALUES ('418', '4711');
