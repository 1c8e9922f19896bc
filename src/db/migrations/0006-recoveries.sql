-- Recoveries: the events that a webhook lost are redelivered, page by page, by one workflow each.
create table recoveries (
  id uuid primary key,
  eshop_id integer not null references eshops (id),
  webhook_id integer not null references webhooks (id),
  since timestamptz not null,
  until timestamptz not null,
  -- The requested end; null: until the request.
  asked_until timestamptz,
  include text[] not null,
  state text not null default 'running' check (state in ('running', 'paused', 'completed', 'canceled')),
  -- Who paused or canceled it, and the operator's comment.
  by text check (by in ('user', 'operator', 'deletion')),
  comment text,
  -- The number of lost events found at the request.
  found integer not null,
  first_at timestamptz,
  last_at timestamptz,
  -- The cursor: events up to this one have been checked; null at the start.
  looked_at_id uuid,
  -- All events have been checked: no further delivery is created.
  exhausted boolean not null default false,
  created integer not null default 0,
  -- Its pace: deliveries ended and superseded at the last step, and the number that ends per second, without
  -- superseded ones.
  ended integer not null default 0,
  superseded integer not null default 0,
  rate double precision,
  stepped_at timestamptz,
  -- The end of the pause of its webhook, if its workflow waits for that: then the workflow has to look again.
  waits_until timestamptz,
  -- The latest version of its state, and the version that its workflow was signaled.
  version integer not null default 1,
  signaled_version integer not null default 0,
  claimed_until timestamptz,
  check_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
-- Two that look for lost events at the same time would both find them.
create unique index recoveries_looking on recoveries (webhook_id) where state in ('running', 'paused') and not exhausted;
create index recoveries_of_webhook on recoveries (webhook_id, id);
create index recoveries_open on recoveries (id) where state in ('running', 'paused');
create index recoveries_waiting on recoveries (waits_until) where waits_until is not null;
-- They are signaled in turn by e-shop.
create index recoveries_unsignaled on recoveries (eshop_id, created_at, id) where signaled_version < version;
