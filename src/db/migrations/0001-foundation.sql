-- E-shops, their users, webhooks, events, deliveries and the outbox.
-- Identifiers of events, deliveries and attempts are UUIDv7: they rise with time, so that these tables
-- can later be partitioned by id ranges without changing a key. They carry no foreign keys for that reason.

create table settings (
  name text primary key,
  value text not null
);

create table eshops (
  id integer generated always as identity primary key,
  name text not null,
  email text not null,
  api_key_hash bytea not null unique,
  contract jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table users (
  id integer generated always as identity primary key,
  eshop_id integer not null references eshops (id),
  username text not null,
  role text not null check (role in ('shop', 'warehouse')),
  password_hash text not null,
  created_at timestamptz not null default now(),
  unique (eshop_id, username)
);

create table webhooks (
  id integer generated always as identity primary key,
  eshop_id integer not null references eshops (id),
  url text not null,
  webhook_type text not null,
  method text not null check (method in ('POST', 'GET')),
  active boolean not null,
  parameters jsonb,
  payload_version text not null check (payload_version in ('v2', 'v21')),
  description text,
  -- Rises with every activation and every change of URL: what an attempt found out about an earlier
  -- generation says nothing about the present one.
  generation integer not null default 1,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  registered_at timestamptz not null default now(),
  unregistered_at timestamptz,
  deleted_at timestamptz
);
create index webhooks_by_eshop on webhooks (eshop_id, id) where deleted_at is null;
create index webhooks_subscribed on webhooks (eshop_id, webhook_type) where active and deleted_at is null;

create table events (
  id uuid primary key,
  eshop_id integer not null,
  type text not null,
  entity_id text not null,
  -- The record after the write in its v2 form, kept as text: key order and digits stay as they were.
  snapshot text not null,
  created_at timestamptz not null default now()
);

create table deliveries (
  id uuid primary key,
  event_id uuid not null,
  eshop_id integer not null,
  webhook_id integer not null,
  event_type text not null,
  entity_id text not null,
  -- "held" is not stored: an open delivery of an inactive webhook is held.
  state text not null default 'pending'
    check (state in ('pending', 'retrying', 'delivered', 'failed', 'expired', 'canceled')),
  attempts_made integer not null default 0,
  window_started_at timestamptz,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  last_generation integer,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  claimed_until timestamptz,
  dispatched_at timestamptz
);
create index deliveries_undispatched on deliveries (id) where dispatched_at is null;
create index deliveries_open_by_webhook on deliveries (webhook_id, id) where state in ('pending', 'retrying');
create index deliveries_by_webhook on deliveries (webhook_id, id desc);

create table attempts (
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  generation integer not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  outcome text check (outcome in ('success', 'failure', 'gone')),
  duration_ms integer,
  status integer,
  error text,
  response_excerpt text,
  next_attempt_at timestamptz,
  primary key (delivery_id, number)
);

create table deactivations (
  webhook_id integer not null references webhooks (id),
  generation integer not null,
  reason text not null check (reason in ('user', 'retriesExhausted', 'gone')),
  at timestamptz not null,
  delivery_id uuid,
  last_error text,
  mailed_at timestamptz,
  primary key (webhook_id, generation)
);

-- What must reach Temporal besides the start of a delivery. Written in the transaction it follows from.
create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('webhookChanged', 'orderReleaseChanged')),
  eshop_id integer not null,
  webhook_id integer,
  eshop_order_id text,
  created_at timestamptz not null default now(),
  claimed_until timestamptz
);
