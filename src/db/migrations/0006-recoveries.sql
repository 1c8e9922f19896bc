-- Recoveries: what a webhook did not get is delivered again, page by page, by one workflow each.
create table recoveries (
  id uuid primary key,
  eshop_id integer not null references eshops (id),
  webhook_id integer not null references webhooks (id),
  since timestamptz not null,
  until timestamptz not null,
  -- As it was asked for; null: until then.
  asked_until timestamptz,
  include text[] not null,
  state text not null default 'running' check (state in ('running', 'paused', 'completed', 'canceled')),
  -- Who paused or canceled it, and the operator's words.
  by text check (by in ('user', 'operator', 'deletion')),
  words text,
  -- What it found when it was asked for.
  found integer not null,
  first_at timestamptz,
  last_at timestamptz,
  -- The keyset: events up to this one have been looked at; null at its beginning.
  looked_at_id uuid,
  -- All events have been looked at: no further delivery is created.
  exhausted boolean not null default false,
  created integer not null default 0,
  -- Its pace: what had ended at the last step, what had been superseded, and how many end per second but for those.
  ended integer not null default 0,
  superseded integer not null default 0,
  rate double precision,
  stepped_at timestamptz,
  -- What its workflow has to be told of, and what it has been told of.
  version integer not null default 1,
  told_version integer not null default 0,
  claimed_until timestamptz,
  check_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
-- Two that look for what is lost at the same time would both find it.
create unique index recoveries_looking on recoveries (webhook_id) where state in ('running', 'paused') and not exhausted;
create index recoveries_of_webhook on recoveries (webhook_id, id);
create index recoveries_open on recoveries (id) where state in ('running', 'paused');
create index recoveries_untold on recoveries (id) where told_version < version;
