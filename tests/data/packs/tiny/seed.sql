INSERT INTO customers (id, name, mobile) VALUES (1, 'Ida Example', '+12125550101');
INSERT INTO customers (id, name, mobile) VALUES (2, 'Otto Sample', '+12125550102');
INSERT INTO orders (customer_id, item, quantity, day) VALUES (1, 'challah', 2, '2026-08-21');
