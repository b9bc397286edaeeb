-- Larkfield, as it stands on Tuesday 2026-09-15 at 14:20. Every person and number here is invented (555-01xx numbers
-- are reserved for fiction). Names and numbers that look alike are meant: desks have them. This part is written by hand
-- (cast.sql); make_seed.py puts the bulk behind it.

INSERT INTO areas (id, name) VALUES
    ('area_riverside', 'Riverside'), ('area_northgate', 'Northgate'), ('area_eastfield', 'Eastfield'),
    ('area_westhaven', 'Westhaven'), ('area_lakeview', 'Lakeview');

INSERT INTO area_zips (zip, area_id) VALUES
    ('97214', 'area_riverside'), ('97215', 'area_riverside'), ('97210', 'area_northgate'), ('97211', 'area_northgate'),
    ('97220', 'area_eastfield'), ('97230', 'area_eastfield'), ('97005', 'area_westhaven'), ('97006', 'area_westhaven'),
    ('97034', 'area_lakeview'), ('97035', 'area_lakeview');

INSERT INTO products (sku, name, color, category, price_cents, return_days, warranty_months, repair_quote_cents, in_stock) VALUES
    ('LANTERN-GRAY', 'Lantern speaker', 'gray', 'audio', 12900, 30, 24, 4900, 1),
    ('LANTERN-WHITE', 'Lantern speaker', 'white', 'audio', 12900, 30, 24, 4900, 1),
    ('LANTERN-RED', 'Lantern speaker', 'red', 'audio', 12900, 30, 24, 4900, 0),
    ('MEADOW-BLACK', 'Meadow headphones', 'black', 'audio', 17900, 30, 24, 5900, 1),
    ('MEADOW-GREEN', 'Meadow headphones', 'green', 'audio', 17900, 30, 24, 5900, 1),
    ('PEBBLE-WHITE', 'Pebble earbuds', 'white', 'audio', 8900, 0, 12, NULL, 1),
    ('CANVAS-SILVER', 'Canvas tablet', 'silver', 'computing', 32900, 30, 24, 8900, 1),
    ('FALCON-GRAPHITE', 'Falcon laptop', 'graphite', 'computing', 99900, 30, 24, 18900, 1),
    ('ROBIN-WHITE', 'Robin doorbell', 'white', 'home', 14900, 30, 24, 4500, 1),
    ('ROBIN-BRONZE', 'Robin doorbell', 'bronze', 'home', 14900, 30, 24, 4500, 1),
    ('HARBOR-WHITE', 'Harbor router', 'white', 'home', 15900, 30, 24, 4500, 1),
    ('COMPASS-BLACK', 'Compass watch', 'black', 'wearable', 21900, 30, 24, 6900, 1),
    ('COMPASS-SILVER', 'Compass watch', 'silver', 'wearable', 21900, 30, 24, 6900, 1),
    ('CHARGER-BLACK', 'Travel charger', 'black', 'accessory', 4900, 30, 12, NULL, 1),
    ('COVER-BLUE', 'Canvas cover', 'blue', 'accessory', 3900, 30, 12, NULL, 1),
    ('STAND-GRAY', 'Lantern stand', 'gray', 'accessory', 2900, 30, 12, NULL, 1);

INSERT INTO plans (code, name, down_mbps, monthly_cents, offered) VALUES
    ('FIBER_100', 'Fiber 100', 100, 4500, 1),
    ('FIBER_300', 'Fiber 300', 300, 6000, 1),
    ('FIBER_500', 'Fiber 500', 500, 7500, 1),
    ('FIBER_1000', 'Fiber 1000', 1000, 9500, 1),
    ('CLASSIC_25', 'Classic 25', 25, 3900, 0);

INSERT INTO outages (id, area_id, cause, began_at, expected_at, ended_at) VALUES
    ('out_lakeview_0915', 'area_lakeview', 'a cut fiber cable', '2026-09-15T09:40', NULL, NULL),
    ('out_westhaven_0908', 'area_westhaven', 'a flooded street cabinet', '2026-09-08T06:00', '2026-09-10T18:00', '2026-09-11T07:30'),
    ('out_eastfield_0705', 'area_eastfield', 'a power failure', '2026-07-05T01:10', '2026-07-05T09:00', '2026-07-05T08:20'),
    ('out_northgate_0830', 'area_northgate', 'planned work', '2026-08-30T02:00', '2026-08-30T05:00', '2026-08-30T04:40');

INSERT INTO charge_kinds (kind, approved_script, creditable) VALUES
    ('service', 'That is the monthly price of your internet plan, billed in advance.', 0),
    ('equipment_rental', 'That is the monthly rent for a Larkfield modem that is still listed on your account.', 1),
    ('late_fee', 'That is the fee for a payment that came in after the due date.', 1),
    ('paper_bill', 'That is the monthly fee for a bill on paper.', 1),
    ('early_change', 'That is the fee for changing the plan before the fixed term ended.', 0),
    ('activation', 'That is the one-time fee for bringing a new line into use.', 0),
    ('protection', 'That is the yearly fee for the protection plan on one of your devices.', 0),
    ('unreturned_equipment', 'That is the price of a rented modem that did not come back to us within thirty days.', 0),
    ('video_package', 'That is a video package that was added to the account.', 0);

INSERT INTO policy_facts (topic, fact) VALUES
    ('returns', 'Most products can be returned within thirty days of delivery. Earbuds cannot be returned once they are delivered, but they are covered by the warranty.'),
    ('exchanges', 'An exchange is for the same product, in the same or another color, within the return window.'),
    ('delivery', 'Orders leave the warehouse within two working days. Until then items can be cancelled and the address can be changed.'),
    ('warranty', 'The warranty runs for twenty-four months from purchase, and twelve months for earbuds and accessories.'),
    ('before_repair', 'Before a repair, back up your data and sign out of your Larkfield account on the device. The workshop erases it.'),
    ('technician_visit', 'A technician visit costs nothing when the line is at fault. Somebody over eighteen has to be at home.'),
    ('outage_credit', 'For every whole day without service in your area, one thirtieth of the monthly price can be credited.'),
    ('billing_cycle', 'The monthly price is billed in advance on the first of the month and is due on the twentieth.'),
    ('contract_terms', 'A move to a faster plan counts from the next day. A move to a slower one counts from the next billing day; inside a fixed term it costs sixty dollars.'),
    ('payment_methods', 'Bills can be paid by autopay, or through a link that we text. Card numbers are never taken on the phone.'),
    ('stores', 'Larkfield stores are in Riverside, at 1200 Division Street, and in Westhaven, at 85 Canyon Road. Both are open Monday to Saturday from 9 AM to 7 PM.');

-- The callers of the tasks, in the order of the tasks, and people who could be taken for them.
INSERT INTO customers (id, first_name, last_name, phone_e164, zip, since) VALUES
    ('cus_walter_simmons', 'Walter', 'Simmons', '+15035550112', '97214', '2019-04-02'),
    ('cus_peter_novak', 'Peter', 'Novak', '+15035550117', '97210', '2021-10-11'),
    ('cus_denise_carter', 'Denise', 'Carter', '+15035550124', '97220', '2020-01-20'),
    ('cus_brian_hale', 'Brian', 'Hale', '+15035550110', '97215', '2015-06-30'),
    ('cus_bryan_hale', 'Bryan', 'Hale', '+15035550110', '97215', '2023-02-14'),
    ('cus_helen_reed', 'Helen', 'Reed', '+15035550139', '97211', '2018-08-08'),
    ('cus_sofia_lang', 'Sofia', 'Lang', '+15035550146', '97230', '2022-03-25'),
    ('cus_george_bennett', 'George', 'Bennett', '+15035550151', '97006', '2020-12-01'),
    ('cus_alice_morgan', 'Alice', 'Morgan', '+15035550153', '97034', '2024-05-17'),
    ('cus_daniel_foster', 'Daniel', 'Foster', '+15035550157', '97210', '2021-07-07'),
    ('cus_rachel_turner', 'Rachel', 'Turner', '+15035550161', '97215', '2023-09-19'),
    ('cus_oliver_grant', 'Oliver', 'Grant', '+15035550163', '97220', '2025-02-03'),
    ('cus_emma_douglas', 'Emma', 'Douglas', '+15035550166', '97005', '2022-11-29'),
    ('cus_nathan_wells', 'Nathan', 'Wells', '+15035550168', '97214', '2024-01-09'),
    ('cus_julia_barnes', 'Julia', 'Barnes', '+15035550171', '97211', '2023-06-21'),
    ('cus_frank_dawson', 'Frank', 'Dawson', '+15035550173', '97230', '2017-03-15'),
    ('cus_nora_kent', 'Nora', 'Kent', '+15035550175', '97006', '2025-08-30'),
    ('cus_victor_hughes', 'Victor', 'Hughes', '+15035550177', '97215', '2021-05-05'),
    ('cus_grace_palmer', 'Grace', 'Palmer', '+15035550179', '97210', '2024-10-10'),
    ('cus_samuel_porter', 'Samuel', 'Porter', '+15035550181', '97220', '2022-02-22'),
    ('cus_monica_hayes', 'Monica', 'Hayes', '+15035550183', '97005', '2020-09-09'),
    ('cus_arthur_lane', 'Arthur', 'Lane', '+15035550185', '97034', '2019-12-12'),
    ('cus_diana_rowe', 'Diana', 'Rowe', '+15035550187', '97214', '2018-04-18'),
    ('cus_kevin_marsh', 'Kevin', 'Marsh', '+15035550189', '97211', '2025-01-28'),
    ('cus_teresa_quinn', 'Teresa', 'Quinn', '+15035550191', '97006', '2021-11-02'),
    ('cus_howard_pierce', 'Howard', 'Pierce', '+15035550193', '97034', '2016-07-19'),
    ('cus_linda_crane', 'Linda', 'Crane', '+15035550194', '97214', '2023-03-30'),
    ('cus_paul_jennings', 'Paul', 'Jennings', '+15035550195', '97210', '2022-06-16'),
    ('cus_carla_benson', 'Carla', 'Benson', '+15035550196', '97005', '2024-02-27'),
    ('cus_steven_holt', 'Steven', 'Holt', '+15035550197', '97215', '2021-08-23'),
    ('cus_amy_fletcher', 'Amy', 'Fletcher', '+15035550113', '97220', '2020-10-05'),
    ('cus_ralph_norton', 'Ralph', 'Norton', '+15035550114', '97211', '2019-01-31'),
    ('cus_wendy_sharp', 'Wendy', 'Sharp', '+15035550115', '97214', '2022-09-13'),
    ('cus_leonard_cole', 'Leonard', 'Cole', '+15035550116', '97230', '2018-11-06'),
    ('cus_gloria_stanton', 'Gloria', 'Stanton', '+15035550118', '97210', '2017-05-24'),
    ('cus_andrew_mercer', 'Andrew', 'Mercer', '+15035550119', '97215', '2025-06-12'),
    ('cus_helen_reid', 'Helen', 'Reid', '+15035550140', '97211', '2020-04-14'),
    ('cus_george_barnett', 'George', 'Barnett', '+15035550152', '97006', '2019-10-25');

INSERT INTO addresses (id, customer_id, label, street, city, zip, is_billing) VALUES
    ('adr_walter_simmons_home', 'cus_walter_simmons', 'home', '31 Alder Street', 'Riverside', '97214', 1),
    ('adr_peter_novak_home', 'cus_peter_novak', 'home', '608 Vaughn Street', 'Northgate', '97210', 1),
    ('adr_denise_carter_home', 'cus_denise_carter', 'home', '19 Glisan Court', 'Eastfield', '97220', 1),
    ('adr_brian_hale_home', 'cus_brian_hale', 'home', '77 Hawthorne Lane', 'Riverside', '97215', 1),
    ('adr_brian_hale_office', 'cus_brian_hale', 'office', '400 Harrison Street', 'Riverside', '97214', 0),
    ('adr_bryan_hale_home', 'cus_bryan_hale', 'home', '77 Hawthorne Lane', 'Riverside', '97215', 1),
    ('adr_bryan_hale_office', 'cus_bryan_hale', 'office', '12 Morrison Street', 'Riverside', '97214', 0),
    ('adr_helen_reed_home', 'cus_helen_reed', 'home', '250 Killdeer Road', 'Northgate', '97211', 1),
    ('adr_sofia_lang_old', 'cus_sofia_lang', 'old apartment', '1404 Halsey Street', 'Eastfield', '97230', 1),
    ('adr_sofia_lang_new', 'cus_sofia_lang', 'new house', '58 Salmon Street', 'Riverside', '97214', 0),
    ('adr_george_bennett_home', 'cus_george_bennett', 'home', '9 Walker Road', 'Westhaven', '97006', 1),
    ('adr_alice_morgan_home', 'cus_alice_morgan', 'home', '220 Boones Road', 'Lakeview', '97034', 1),
    ('adr_daniel_foster_home', 'cus_daniel_foster', 'home', '815 Thurman Street', 'Northgate', '97210', 1),
    ('adr_daniel_foster_office', 'cus_daniel_foster', 'office', '2 Front Avenue', 'Northgate', '97210', 0),
    ('adr_daniel_foster_parents', 'cus_daniel_foster', 'parents', '66 Kruse Way', 'Lakeview', '97035', 0),
    ('adr_rachel_turner_home', 'cus_rachel_turner', 'home', '501 Taylor Street', 'Riverside', '97215', 1),
    ('adr_oliver_grant_home', 'cus_oliver_grant', 'home', '1120 Burnside Court', 'Eastfield', '97220', 1),
    ('adr_emma_douglas_home', 'cus_emma_douglas', 'home', '43 Canyon Road', 'Westhaven', '97005', 1),
    ('adr_emma_douglas_cabin', 'cus_emma_douglas', 'cabin', '7 Lakeshore Trail', 'Lakeview', '97034', 0),
    ('adr_nathan_wells_home', 'cus_nathan_wells', 'home', '160 Ankeny Street', 'Riverside', '97214', 1),
    ('adr_julia_barnes_home', 'cus_julia_barnes', 'home', '35 Alberta Street', 'Northgate', '97211', 1),
    ('adr_frank_dawson_home', 'cus_frank_dawson', 'home', '930 Stark Street', 'Eastfield', '97230', 1),
    ('adr_nora_kent_home', 'cus_nora_kent', 'home', '14 Baseline Road', 'Westhaven', '97006', 1),
    ('adr_victor_hughes_home', 'cus_victor_hughes', 'home', '705 Belmont Street', 'Riverside', '97215', 1),
    ('adr_grace_palmer_home', 'cus_grace_palmer', 'home', '88 Raleigh Street', 'Northgate', '97210', 1),
    ('adr_samuel_porter_home', 'cus_samuel_porter', 'home', '51 Prescott Street', 'Eastfield', '97220', 1),
    ('adr_monica_hayes_home', 'cus_monica_hayes', 'home', '27 Allen Street', 'Westhaven', '97005', 1),
    ('adr_arthur_lane_home', 'cus_arthur_lane', 'home', '3 State Street', 'Lakeview', '97034', 1),
    ('adr_diana_rowe_home', 'cus_diana_rowe', 'home', '640 Clay Street', 'Riverside', '97214', 1),
    ('adr_kevin_marsh_home', 'cus_kevin_marsh', 'home', '212 Dekum Street', 'Northgate', '97211', 1),
    ('adr_teresa_quinn_home', 'cus_teresa_quinn', 'home', '99 Cornell Road', 'Westhaven', '97006', 1),
    ('adr_howard_pierce_home', 'cus_howard_pierce', 'home', '18 Oak Street', 'Lakeview', '97034', 1),
    ('adr_linda_crane_home', 'cus_linda_crane', 'home', '330 Main Street', 'Riverside', '97214', 1),
    ('adr_paul_jennings_home', 'cus_paul_jennings', 'home', '74 Savier Street', 'Northgate', '97210', 1),
    ('adr_carla_benson_home', 'cus_carla_benson', 'home', '505 Hall Street', 'Westhaven', '97005', 1),
    ('adr_steven_holt_home', 'cus_steven_holt', 'home', '29 Lincoln Street', 'Riverside', '97215', 1),
    ('adr_amy_fletcher_home', 'cus_amy_fletcher', 'home', '86 Sandy Street', 'Eastfield', '97220', 1),
    ('adr_ralph_norton_home', 'cus_ralph_norton', 'home', '41 Lombard Street', 'Northgate', '97211', 1),
    ('adr_wendy_sharp_home', 'cus_wendy_sharp', 'home', '700 Oak Grove', 'Riverside', '97214', 1),
    ('adr_leonard_cole_home', 'cus_leonard_cole', 'home', '155 Market Street', 'Eastfield', '97230', 1),
    ('adr_gloria_stanton_home', 'cus_gloria_stanton', 'home', '62 Overton Street', 'Northgate', '97210', 1),
    ('adr_andrew_mercer_home', 'cus_andrew_mercer', 'home', '318 Yamhill Street', 'Riverside', '97215', 1),
    ('adr_helen_reid_home', 'cus_helen_reid', 'home', '8 Ainsworth Street', 'Northgate', '97211', 1),
    ('adr_george_barnett_home', 'cus_george_barnett', 'home', '11 Walker Road', 'Westhaven', '97006', 1);

INSERT INTO authorized_people (id, customer_id, full_name, scope) VALUES
    (1, 'cus_peter_novak', 'Mary Novak', 'full'),
    (2, 'cus_peter_novak', 'Greg Dalton', 'full'),
    (3, 'cus_helen_reed', 'Marcus Reed', 'service'),
    (4, 'cus_sofia_lang', 'Tina Brooks', 'full');

INSERT INTO orders (order_number, customer_id, address_id, placed_on, status) VALUES
    ('538241', 'cus_brian_hale', 'adr_brian_hale_home', '2026-09-14', 'processing'),
    ('538214', 'cus_bryan_hale', 'adr_bryan_hale_home', '2026-09-14', 'processing'),
    ('561930', 'cus_sofia_lang', 'adr_sofia_lang_old', '2026-09-14', 'processing'),
    ('402716', 'cus_george_bennett', 'adr_george_bennett_home', '2026-09-08', 'delivered'),
    ('402761', 'cus_george_barnett', 'adr_george_barnett_home', '2026-09-08', 'delivered'),
    ('477205', 'cus_alice_morgan', 'adr_alice_morgan_home', '2026-09-14', 'processing'),
    ('613480', 'cus_daniel_foster', 'adr_daniel_foster_home', '2026-09-15', 'processing'),
    ('412780', 'cus_rachel_turner', 'adr_rachel_turner_home', '2026-09-13', 'processing'),
    ('412870', 'cus_rachel_turner', 'adr_rachel_turner_home', '2026-09-14', 'processing'),
    ('720355', 'cus_oliver_grant', 'adr_oliver_grant_home', '2026-09-11', 'shipped'),
    ('698114', 'cus_oliver_grant', 'adr_oliver_grant_home', '2026-09-01', 'delivered'),
    ('755092', 'cus_emma_douglas', 'adr_emma_douglas_home', '2026-09-14', 'processing'),
    ('430618', 'cus_nathan_wells', 'adr_nathan_wells_home', '2026-08-29', 'delivered'),
    ('445903', 'cus_julia_barnes', 'adr_julia_barnes_home', '2026-08-31', 'delivered'),
    ('318527', 'cus_frank_dawson', 'adr_frank_dawson_home', '2026-08-06', 'delivered'),
    ('459036', 'cus_nora_kent', 'adr_nora_kent_home', '2026-09-04', 'delivered'),
    ('466281', 'cus_victor_hughes', 'adr_victor_hughes_home', '2026-09-01', 'delivered'),
    ('471640', 'cus_grace_palmer', 'adr_grace_palmer_home', '2026-08-31', 'delivered'),
    ('488350', 'cus_kevin_marsh', 'adr_kevin_marsh_home', '2026-09-05', 'shipped');

INSERT INTO order_items (id, order_number, sku, paid_cents, status) VALUES
    ('itm_538241_1', '538241', 'HARBOR-WHITE', 15900, 'ordered'),
    ('itm_538214_1', '538214', 'HARBOR-WHITE', 15900, 'ordered'),
    ('itm_561930_1', '561930', 'ROBIN-BRONZE', 14900, 'ordered'),
    ('itm_402716_1', '402716', 'ROBIN-WHITE', 14900, 'ordered'),
    ('itm_402761_1', '402761', 'ROBIN-WHITE', 14900, 'ordered'),
    ('itm_477205_1', '477205', 'CANVAS-SILVER', 32900, 'ordered'),
    ('itm_477205_2', '477205', 'MEADOW-BLACK', 17900, 'ordered'),
    ('itm_613480_1', '613480', 'COMPASS-SILVER', 21900, 'ordered'),
    ('itm_412780_1', '412780', 'LANTERN-GRAY', 12900, 'ordered'),
    ('itm_412870_1', '412870', 'COMPASS-BLACK', 21900, 'ordered'),
    ('itm_720355_1', '720355', 'FALCON-GRAPHITE', 99900, 'ordered'),
    ('itm_698114_1', '698114', 'MEADOW-GREEN', 17900, 'ordered'),
    ('itm_698114_2', '698114', 'STAND-GRAY', 2900, 'ordered'),
    ('itm_755092_1', '755092', 'ROBIN-WHITE', 14900, 'ordered'),
    ('itm_755092_2', '755092', 'LANTERN-WHITE', 12900, 'ordered'),
    ('itm_430618_1', '430618', 'MEADOW-BLACK', 17900, 'ordered'),
    ('itm_445903_1', '445903', 'LANTERN-WHITE', 12900, 'ordered'),
    ('itm_318527_1', '318527', 'HARBOR-WHITE', 15900, 'ordered'),
    ('itm_459036_1', '459036', 'LANTERN-GRAY', 12900, 'ordered'),
    ('itm_459036_2', '459036', 'ROBIN-WHITE', 14900, 'ordered'),
    ('itm_466281_1', '466281', 'LANTERN-GRAY', 12900, 'ordered'),
    ('itm_466281_2', '466281', 'LANTERN-WHITE', 12900, 'ordered'),
    ('itm_466281_3', '466281', 'STAND-GRAY', 2900, 'ordered'),
    ('itm_471640_1', '471640', 'PEBBLE-WHITE', 8900, 'ordered'),
    ('itm_488350_1', '488350', 'CHARGER-BLACK', 4900, 'ordered');

INSERT INTO shipments (id, order_number, carrier, status, expected_on, delivered_on, left_at) VALUES
    (1, '402716', 'Swiftway', 'delivered', '2026-09-12', '2026-09-12', 'front door'),
    (2, '402761', 'Swiftway', 'delivered', '2026-09-12', '2026-09-12', 'handed over'),
    (3, '720355', 'Swiftway', 'in_transit', '2026-09-17', NULL, NULL),
    (4, '698114', 'Swiftway', 'delivered', '2026-09-05', '2026-09-05', 'handed over'),
    (5, '430618', 'Swiftway', 'delivered', '2026-09-02', '2026-09-02', 'front door'),
    (6, '445903', 'Swiftway', 'delivered', '2026-09-04', '2026-09-04', 'handed over'),
    (7, '318527', 'Swiftway', 'delivered', '2026-08-10', '2026-08-10', 'front door'),
    (8, '459036', 'Bluebird Post', 'delivered', '2026-09-08', '2026-09-08', 'handed over'),
    (9, '466281', 'Swiftway', 'delivered', '2026-09-04', '2026-09-04', 'handed over'),
    (10, '471640', 'Bluebird Post', 'delivered', '2026-09-03', '2026-09-03', 'mailbox'),
    (11, '488350', 'Bluebird Post', 'in_transit', '2026-09-10', NULL, NULL);

INSERT INTO returns (id, order_item_id, kind, new_sku, reason, method, refund_cents, status, opened_on) VALUES
    (1, 'itm_698114_2', 'refund', NULL, 'changed_mind', 'mail', 2900, 'cancelled', '2026-09-07'),
    (2, 'itm_445903_1', 'refund', NULL, 'changed_mind', 'store', 12900, 'open', '2026-09-09');

INSERT INTO devices (serial, customer_id, sku, bought_on, warranty_until) VALUES
    ('53180246', 'cus_emma_douglas', 'COMPASS-SILVER', '2025-11-20', '2027-11-20'),
    ('27460913', 'cus_grace_palmer', 'PEBBLE-WHITE', '2026-08-31', '2027-08-31'),
    ('41069253', 'cus_samuel_porter', 'CANVAS-SILVER', '2025-05-02', '2027-05-02'),
    ('36502817', 'cus_monica_hayes', 'FALCON-GRAPHITE', '2025-12-18', '2027-12-18'),
    ('60417325', 'cus_arthur_lane', 'COMPASS-BLACK', '2026-02-09', '2028-02-09'),
    ('72031654', 'cus_diana_rowe', 'FALCON-GRAPHITE', '2024-03-01', '2026-03-01'),
    ('72031645', 'cus_diana_rowe', 'FALCON-GRAPHITE', '2025-01-15', '2027-01-15'),
    ('84603172', 'cus_kevin_marsh', 'FALCON-GRAPHITE', '2025-01-28', '2027-01-28'),
    ('95820437', 'cus_teresa_quinn', 'ROBIN-BRONZE', '2025-10-03', '2027-10-03'),
    ('31570624', 'cus_helen_reed', 'HARBOR-WHITE', '2024-06-11', '2026-06-11');

INSERT INTO repairs (id, serial, problem, mode, cost_cents, status, opened_on) VALUES
    (1, '53180246', 'Does not charge.', 'mail_in', 0, 'open', '2026-09-11'),
    (2, '36502817', 'Fan is loud.', 'mail_in', 0, 'open', '2026-09-12'),
    (3, '60417325', 'Strap lock is broken.', 'mail_in', 0, 'open', '2026-09-10'),
    (4, '95820437', 'Camera stays dark.', 'mail_in', 0, 'done', '2026-02-16'),
    (5, '95820437', 'Camera stays dark.', 'mail_in', 0, 'done', '2026-05-04'),
    (6, '95820437', 'Camera stays dark.', 'store', 0, 'done', '2026-07-27');

INSERT INTO subscriptions (id, customer_id, plan_code, area_id, started_on, term_ends_on, next_cycle_on, line_reading, autopay) VALUES
    ('sub_helen_reed', 'cus_helen_reed', 'FIBER_100', 'area_northgate', '2018-08-08', NULL, '2026-10-01', 'weak_signal', 1),
    ('sub_victor_hughes', 'cus_victor_hughes', 'FIBER_300', 'area_riverside', '2021-05-05', NULL, '2026-10-01', 'good', 1),
    ('sub_teresa_quinn', 'cus_teresa_quinn', 'FIBER_100', 'area_westhaven', '2021-11-02', NULL, '2026-10-01', 'good', 0),
    ('sub_howard_pierce', 'cus_howard_pierce', 'FIBER_300', 'area_lakeview', '2016-07-19', NULL, '2026-10-01', 'no_signal', 1),
    ('sub_linda_crane', 'cus_linda_crane', 'FIBER_300', 'area_riverside', '2023-03-30', NULL, '2026-10-01', 'weak_signal', 1),
    ('sub_paul_jennings', 'cus_paul_jennings', 'FIBER_500', 'area_northgate', '2022-06-16', NULL, '2026-10-01', 'modem_stuck', 1),
    ('sub_carla_benson', 'cus_carla_benson', 'FIBER_500', 'area_westhaven', '2024-02-27', NULL, '2026-10-01', 'weak_signal', 0),
    ('sub_steven_holt', 'cus_steven_holt', 'FIBER_100', 'area_riverside', '2021-08-23', NULL, '2026-10-01', 'good', 1),
    ('sub_amy_fletcher', 'cus_amy_fletcher', 'FIBER_1000', 'area_eastfield', '2020-10-05', NULL, '2026-10-01', 'good', 1),
    ('sub_ralph_norton', 'cus_ralph_norton', 'FIBER_300', 'area_northgate', '2019-01-31', NULL, '2026-10-01', 'good', 0),
    ('sub_wendy_sharp', 'cus_wendy_sharp', 'FIBER_500', 'area_riverside', '2022-09-13', NULL, '2026-10-01', 'good', 1),
    ('sub_leonard_cole', 'cus_leonard_cole', 'FIBER_100', 'area_eastfield', '2018-11-06', NULL, '2026-10-01', 'good', 0),
    ('sub_gloria_stanton', 'cus_gloria_stanton', 'FIBER_500', 'area_northgate', '2017-05-24', NULL, '2026-10-01', 'good', 0),
    ('sub_andrew_mercer', 'cus_andrew_mercer', 'FIBER_500', 'area_riverside', '2025-06-12', '2027-06-12', '2026-10-01', 'weak_signal', 0),
    ('sub_bryan_hale', 'cus_bryan_hale', 'FIBER_100', 'area_riverside', '2023-02-14', NULL, '2026-10-01', 'good', 1);

INSERT INTO plan_changes (id, subscription_id, to_plan, effective_on, fee_cents, asked_on) VALUES
    (1, 'sub_wendy_sharp', 'FIBER_100', '2026-10-01', 0, '2026-09-02'),
    (2, 'sub_gloria_stanton', 'FIBER_100', '2026-10-01', 0, '2026-09-07');

INSERT INTO invoices (invoice_number, customer_id, issued_on, due_on, status, pay_on) VALUES
    ('inv_victor_hughes_09', 'cus_victor_hughes', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_teresa_quinn_09', 'cus_teresa_quinn', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_carla_benson_08', 'cus_carla_benson', '2026-08-01', '2026-08-20', 'paid', NULL),
    ('inv_carla_benson_09', 'cus_carla_benson', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_ralph_norton_09', 'cus_ralph_norton', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_leonard_cole_08', 'cus_leonard_cole', '2026-08-01', '2026-08-20', 'paid', NULL),
    ('inv_leonard_cole_09', 'cus_leonard_cole', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_gloria_stanton_09', 'cus_gloria_stanton', '2026-09-01', '2026-09-20', 'open', NULL),
    ('inv_andrew_mercer_09', 'cus_andrew_mercer', '2026-09-01', '2026-09-20', 'open', NULL);

INSERT INTO invoice_lines (id, invoice_number, kind, description, amount_cents) VALUES
    ('ln_victor_hughes_09_1', 'inv_victor_hughes_09', 'service', 'Fiber 300, September', 6000),
    ('ln_victor_hughes_09_2', 'inv_victor_hughes_09', 'video_package', 'Video package, September', 2400),
    ('ln_teresa_quinn_09_1', 'inv_teresa_quinn_09', 'service', 'Fiber 100, September', 4500),
    ('ln_teresa_quinn_09_2', 'inv_teresa_quinn_09', 'protection', 'Protection plan, Robin doorbell', 8900),
    ('ln_carla_benson_08_1', 'inv_carla_benson_08', 'service', 'Fiber 500, August', 7500),
    ('ln_carla_benson_09_1', 'inv_carla_benson_09', 'service', 'Fiber 500, September', 7500),
    ('ln_ralph_norton_09_1', 'inv_ralph_norton_09', 'service', 'Fiber 300, September', 6000),
    ('ln_leonard_cole_08_1', 'inv_leonard_cole_08', 'service', 'Fiber 100, August', 4500),
    ('ln_leonard_cole_09_1', 'inv_leonard_cole_09', 'service', 'Fiber 100, September', 4500),
    ('ln_leonard_cole_09_2', 'inv_leonard_cole_09', 'equipment_rental', 'Modem rent, September', 1200),
    ('ln_leonard_cole_09_3', 'inv_leonard_cole_09', 'paper_bill', 'Paper bill, September', 300),
    ('ln_gloria_stanton_09_1', 'inv_gloria_stanton_09', 'service', 'Fiber 500, September', 7500),
    ('ln_gloria_stanton_09_2', 'inv_gloria_stanton_09', 'unreturned_equipment', 'Modem not returned', 18000),
    ('ln_andrew_mercer_09_1', 'inv_andrew_mercer_09', 'service', 'Fiber 500, September', 7500),
    ('ln_andrew_mercer_09_2', 'inv_andrew_mercer_09', 'activation', 'Activation of a second line', 9900);
