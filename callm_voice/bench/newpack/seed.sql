INSERT INTO customers VALUES
    ('cus_nora_field', 'Nora', 'Field', '+12125550141'),
    ('cus_omar_hale', 'Omar', 'Hale', '+12125550142'),
    ('cus_ruth_calder', 'Ruth', 'Calder', '+12125550143');

INSERT INTO repairs VALUES
    (1, 'cus_nora_field', 'blue touring bicycle', 'Spring check', 'in_work', '2026-03-12'),
    (2, 'cus_omar_hale', 'folding bicycle', 'New tires', 'ready', '2026-03-09'),
    (3, 'cus_ruth_calder', 'city bicycle', 'Brake service', 'waiting', '2026-03-13');

INSERT INTO extra_work VALUES
    (1, 1, 'New chain', 3500, 'open', NULL),
    (2, 1, 'Bell replaced', 900, 'declined', '2026-03-09T16:20'),
    (3, 3, 'New brake cable', 1800, 'open', NULL);
