CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  mobile TEXT NOT NULL UNIQUE
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  item TEXT NOT NULL CHECK (item IN ('sourdough', 'challah')),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 50),
  day TEXT NOT NULL,
  pickup TEXT,
  notes TEXT NOT NULL DEFAULT '[]',
  gift INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE TABLE attempts (
  name TEXT NOT NULL,
  mobile TEXT NOT NULL,
  at TEXT NOT NULL
);
