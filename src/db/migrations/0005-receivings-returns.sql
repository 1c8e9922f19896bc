-- Receivings (goods that are announced, arrive and are stocked) and returns (goods that customers send back).

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
  handling_units text not null,
  packagings json not null,
  status text not null check (status in ('awaiting', 'arrived', 'received', 'stocked', 'canceled')),
  supplier text not null,
  tracking_number text,
  urgent boolean,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
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
