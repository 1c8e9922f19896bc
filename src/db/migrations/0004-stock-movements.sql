-- Stock movements, and which units are reserved for which order. What is on a product's row follows from these:
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
