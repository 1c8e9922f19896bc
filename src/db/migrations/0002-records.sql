-- The records of e-shops: products and their stock, orders, receivings, returns. Records are deleted only with
-- their whole e-shop, whose id is never used again. So `last_sequence`, written under the row's lock by the
-- statement of a change, never falls below a number that was sent. Money and counts are numeric without a scale: a
-- decimal is read back as written. Lists whose inner order matters are json, not jsonb.

create table products (
  eshop_id integer not null references eshops (id),
  sku text not null,
  name text not null,
  description text,
  ean text,
  upc text,
  price numeric check (price >= 0),
  currency text,
  weight integer,
  width integer,
  height integer,
  depth integer,
  origin_country text,
  hs_code text,
  battery_type text,
  exp_method text,
  product_type text not null,
  scan_serial_number boolean not null,
  track_lot boolean not null,
  track_expiration boolean not null,
  fragile boolean not null,
  age_check boolean not null,
  active boolean not null,
  note text,
  -- Units in the warehouse, never below zero.
  available numeric not null default 0 check (available >= 0),
  reserved numeric not null default 0 check (reserved >= 0),
  on_hold numeric not null default 0 check (on_hold >= 0),
  awaiting numeric not null default 0 check (awaiting >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The sequence of its last event; its creation fires the first.
  last_sequence bigint not null default 1 check (last_sequence >= 1),
  primary key (eshop_id, sku)
);
create index products_by_age on products (eshop_id, created_at, sku);
create index products_by_update on products (eshop_id, updated_at);

create table orders (
  eshop_id integer not null references eshops (id),
  eshop_order_id text not null,
  status text not null check (status in (
    'preOrder', 'preReceived', 'suspended', 'waitingForPayment', 'incorrect', 'received', 'productsNotAvailable',
    'processing', 'packed', 'waitingForCarrier', 'onTheWay', 'delivered', 'lost', 'returningBack', 'returnedBack',
    'receivedBack', 'canceled')),
  release_at timestamptz,
  required_expedition_date timestamptz,
  order_type text not null check (order_type in ('b2c', 'b2b', 'transfer')),
  transfer_company text,
  recipient_name text,
  recipient_company_name text,
  recipient_email text,
  recipient_phone text,
  recipient_street text,
  recipient_city text,
  recipient_post_code text,
  recipient_country text,
  billing_name text,
  billing_company_name text,
  billing_email text,
  billing_phone text,
  billing_street text,
  billing_city text,
  billing_post_code text,
  billing_country text,
  shipper text,
  shipper_service text,
  pickup_point text,
  paid boolean not null,
  payment_type smallint,
  cash_on_delivery numeric check (cash_on_delivery >= 0),
  currency text,
  note text,
  branch text,
  invoice_number text,
  invoice_print boolean not null,
  pick_from_quality boolean not null,
  tracking_numbers text[] not null,
  sanction boolean not null,
  priority smallint not null,
  disable_shipping_reorder boolean not null,
  marketplace text,
  order_files json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  delivered_at timestamptz,
  canceled_at timestamptz,
  status_history json not null,
  -- The sequence of its last event; its creation fires the first.
  last_sequence bigint not null default 1 check (last_sequence >= 1),
  primary key (eshop_id, eshop_order_id)
);
create index orders_by_age on orders (eshop_id, created_at, eshop_order_id);
create index orders_by_status on orders (eshop_id, status, created_at, eshop_order_id);
create index orders_by_update on orders (eshop_id, updated_at);
-- Pre-orders by release time, and those of an e-shop that are due in the same second.
create index orders_to_be_released on orders (release_at)
  where status = 'preOrder' and release_at is not null;
create index orders_of_a_second on orders (eshop_id, release_at) include (created_at, eshop_order_id)
  where status = 'preOrder' and release_at is not null;

create table order_products (
  eshop_id integer not null,
  eshop_order_id text not null,
  position integer not null,
  sku text not null,
  quantity numeric not null check (quantity > 0),
  unit_price numeric check (unit_price >= 0),
  vat_rate numeric,
  lot text,
  packing_lists json not null,
  primary key (eshop_id, eshop_order_id, position),
  foreign key (eshop_id, eshop_order_id) references orders (eshop_id, eshop_order_id) on delete cascade,
  -- Refuses unknown SKUs, which the API then names.
  foreign key (eshop_id, sku) references products (eshop_id, sku)
);
create index order_products_by_sku on order_products (eshop_id, sku);

-- Stock movements, and the units reserved for each order. The counts in a product's row follow from these:
-- on_hold and available + reserved + on_hold from the movements, reserved from the reservations.
create table stock_movements (
  id bigint generated always as identity primary key,
  eshop_id integer not null,
  type text not null,
  sku text not null,
  count numeric not null check (count <> 0),
  lot text,
  expiration_date timestamptz,
  reference text,
  note text,
  -- Available units after the movement.
  balance numeric not null check (balance >= 0),
  created_at timestamptz not null,
  foreign key (eshop_id, sku) references products (eshop_id, sku)
);
create index stock_movements_by_age on stock_movements (eshop_id, created_at, id);
create index stock_movements_by_sku on stock_movements (eshop_id, sku, created_at, id);
create index stock_movements_by_type on stock_movements (eshop_id, type, created_at, id);

create table stock_reservations (
  eshop_id integer not null,
  eshop_order_id text not null,
  sku text not null,
  count numeric not null check (count > 0),
  primary key (eshop_id, eshop_order_id, sku),
  foreign key (eshop_id, eshop_order_id) references orders (eshop_id, eshop_order_id),
  foreign key (eshop_id, sku) references products (eshop_id, sku)
);
create index stock_reservations_by_sku on stock_reservations (eshop_id, sku);

-- Goods from their announcement to their stocking.
create table receivings (
  eshop_id integer not null references eshops (id),
  eshop_receiving_id text not null,
  carrier_info text,
  delivery_note_number text,
  delivery_type text,
  description text,
  driver_company text,
  driver_dispatcher_contact text,
  driver_name text,
  driver_phone text,
  driver_trailer_license_plate text,
  duty boolean not null,
  estimated_delivery timestamptz,
  handling_units text,
  packagings json not null,
  status text not null check (status in ('awaiting', 'arrived', 'received', 'stocked', 'canceled')),
  supplier text not null,
  tracking_number text,
  urgent boolean,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The sequence of its last event; its creation fires the first.
  last_sequence bigint not null default 1 check (last_sequence >= 1),
  primary key (eshop_id, eshop_receiving_id)
);
create index receivings_by_age on receivings (eshop_id, created_at, eshop_receiving_id);
create index receivings_by_status on receivings (eshop_id, status, created_at, eshop_receiving_id);
create index receivings_by_update on receivings (eshop_id, updated_at);

create table receiving_products (
  eshop_id integer not null,
  eshop_receiving_id text not null,
  position integer not null,
  sku text not null,
  quantity numeric not null check (quantity >= 0),
  lot text,
  received numeric check (received >= 0),
  expiration_date timestamptz,
  line_state text not null check (line_state in ('E', 'D')),
  primary key (eshop_id, eshop_receiving_id, position),
  foreign key (eshop_id, eshop_receiving_id) references receivings (eshop_id, eshop_receiving_id) on delete cascade,
  foreign key (eshop_id, sku) references products (eshop_id, sku)
);
create index receiving_products_by_sku on receiving_products (eshop_id, sku);

-- Goods that customers send back.
create table returns (
  eshop_id integer not null references eshops (id),
  eshop_return_id text not null,
  eshop_order_id text,
  order_type text,
  description text,
  shipper text,
  shipper_service_code text,
  tracking_number text,
  eshop_note text,
  rma text,
  note text,
  status text not null check (status in ('awaiting', 'arrived', 'processing', 'completed', 'rejected', 'canceled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  confirmed_at timestamptz,
  received_at timestamptz,
  canceled_at timestamptz,
  -- The sequence of its last event; its creation fires the first.
  last_sequence bigint not null default 1 check (last_sequence >= 1),
  primary key (eshop_id, eshop_return_id)
);
create index returns_by_age on returns (eshop_id, created_at, eshop_return_id);
create index returns_by_status on returns (eshop_id, status, created_at, eshop_return_id);
create index returns_by_update on returns (eshop_id, updated_at);

create table returned_order_products (
  eshop_id integer not null,
  eshop_return_id text not null,
  position integer not null,
  sku text not null,
  quantity numeric not null check (quantity >= 0),
  received numeric check (received >= 0),
  return_reason text,
  resolution text,
  lot text,
  line_state text not null check (line_state in ('E', 'D')),
  primary key (eshop_id, eshop_return_id, position),
  foreign key (eshop_id, eshop_return_id) references returns (eshop_id, eshop_return_id) on delete cascade,
  foreign key (eshop_id, sku) references products (eshop_id, sku)
);
create index returned_order_products_by_sku on returned_order_products (eshop_id, sku);

-- The last write of a record that changed nothing and so fired no event: one row per record with such a write.
create table unchanged_writes (
  eshop_id integer not null references eshops (id),
  kind text not null,
  entity_id text not null,
  at timestamptz not null,
  -- The total number of such writes.
  writes integer not null default 1,
  primary key (eshop_id, kind, entity_id)
) with (fillfactor = 80);

-- Import lines that were applied under a key: sent again, they change nothing. Kept for 30 days.
create table import_keys (
  eshop_id integer not null references eshops (id),
  key text not null,
  -- SHA-256 of the line without its key.
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  primary key (eshop_id, key)
);
create index import_keys_by_age on import_keys (created_at);

-- The first responses to requests with an `Idempotency-Key`, for clients that repeat the request. Stored for 24 hours.
create table stored_responses (
  eshop_id integer not null references eshops (id),
  role text not null check (role in ('shop', 'warehouse')),
  key text not null,
  -- Sealed: the fingerprint of the request, and the response, which may hold a secret or personal data.
  response bytea not null,
  -- The record that the request creates: an erasure uses it to find the responses that show a customer.
  kind text,
  entity_id text,
  created_at timestamptz not null default now(),
  primary key (eshop_id, role, key)
);
create index stored_responses_by_age on stored_responses (created_at);
create index stored_responses_by_record on stored_responses (eshop_id, kind, entity_id) where entity_id is not null;
