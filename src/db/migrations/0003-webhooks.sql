-- Webhooks, their former versions, and their failures.

create table webhooks (
  id integer generated always as identity primary key,
  eshop_id integer not null references eshops (id),
  url text not null,
  -- The receiver's host and port as written in the URL: operators search by them.
  host text generated always as (lower(substring(url from '^[A-Za-z]+://([^/?#]*)'))) stored,
  -- Scheme, host and port: the receiver of an ordering group.
  receiver text generated always as (
    lower(regexp_replace(substring(url from '^[A-Za-z]+://[^/?#]*'), ':$', ''))
    || case when url ~ '^[A-Za-z]+://[^/?#]*:[0-9]+([/?#]|$)' then '' when url ~* '^https:' then ':443' else ':80' end) stored,
  webhook_type text not null,
  -- Further event types, in the order of the interface; never its `webhook_type`.
  additional_types text[] not null default '{}',
  types text[] generated always as (array_prepend(webhook_type, additional_types)) stored,
  method text not null check (method in ('POST', 'GET')),
  active boolean not null,
  parameters jsonb,
  -- Whether it is called also when nothing but a product's stock changed.
  on_stock_change boolean not null generated always as (coalesce(parameters @> '{"onStockChange": true}', false)) stored,
  payload_version text not null check (payload_version in ('v2', 'v21')),
  description text,
  -- The order in which the events of one record are delivered.
  ordering text not null default 'none' check (ordering in ('none', 'record', 'latest')),
  -- Changes by the e-shop itself create no delivery, except those of stock alone.
  skip_own boolean not null default false,
  -- Deliveries are also signed with the e-shop's signing key. Quoted, since it is a word of SQL.
  "asymmetric" boolean not null default false,
  -- Static headers of every attempt, sealed like the secrets; null: none. Their names are shown and not secret.
  headers bytea,
  header_names text[],
  -- Rises with every activation and every change of URL: the result of an attempt in an earlier
  -- generation says nothing about the present one.
  generation integer not null default 1,
  -- When the present generation began: an attempt that was due earlier was held, not missed. Null for the first.
  generation_at timestamptz,
  -- Secrets are sealed with the master key. The previous one also signs, until its time.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Its last pauses, oldest first, without overlaps; the last one may be under way. Each pause moves the windows that
  -- have begun.
  pauses tstzrange[] not null default '{}',
  -- The last pause. The webhook is paused while the end is in the future.
  paused_at timestamptz generated always as (lower(pauses[cardinality(pauses)])) stored,
  paused_until timestamptz generated always as (upper(pauses[cardinality(pauses)])) stored,
  registered_at timestamptz not null default now(),
  unregistered_at timestamptz,
  deleted_at timestamptz
);
create index webhooks_by_eshop on webhooks (eshop_id, id) where deleted_at is null;
-- Every change to stock asks whether any webhook takes it.
create index webhooks_on_stock_change on webhooks (eshop_id) where on_stock_change and deleted_at is null;
-- Claims leave out those that are paused.
create index webhooks_paused on webhooks (paused_until) where paused_until is not null;

-- Moves a time by the pauses since then. It adds seconds, since in some time zones a day may have 23 hours. It is
-- a function, since most webhooks are never paused, and each attempt would plan this query.
create function moved_by_pauses(since timestamptz, pauses tstzrange[]) returns timestamptz language sql stable as $$
  select since + make_interval(secs => coalesce(sum(extract(epoch from upper(x.pause) - lower(x.pause))), 0)::float8)
  from (select pause * tstzrange(since, null) as pause from unnest(pauses) pause) x
  where not isempty(x.pause)
$$;

-- Each type that a webhook has, or has in one of its versions. An event finds its webhooks by one step of the
-- partial index, however many types they have.
create table webhook_types (
  eshop_id integer not null,
  type text not null,
  webhook_id integer not null references webhooks (id) on delete cascade,
  -- The webhook is active and has this type now.
  subscribed boolean not null default false,
  primary key (eshop_id, type, webhook_id)
);
create index webhook_types_subscribed on webhook_types (eshop_id, type, webhook_id) where subscribed;
create index webhook_types_by_webhook on webhook_types (webhook_id);

-- The Ed25519 keys that sign an e-shop's deliveries to asymmetric webhooks. Private keys are sealed. The previous key
-- also signs, until its time.
create table signing_keys (
  eshop_id integer primary key references eshops (id),
  private_key bytea not null,
  public_key bytea not null,
  created_at timestamptz not null default now(),
  previous_private_key bytea,
  previous_public_key bytea,
  previous_created_at timestamptz,
  previous_until timestamptz
);

-- The versions of each webhook: they explain why an event has no delivery to it.
create table webhook_versions (
  number bigint generated always as identity primary key,
  webhook_id integer not null references webhooks (id) on delete cascade,
  eshop_id integer not null,
  -- When it begins; it lasts until the next one.
  at timestamptz not null default clock_timestamp(),
  webhook_type text not null,
  additional_types text[] not null default '{}',
  types text[] generated always as (array_prepend(webhook_type, additional_types)) stored,
  url text not null,
  active boolean not null,
  on_stock_change boolean not null default false,
  skip_own boolean not null default false,
  deleted boolean not null,
  -- The deactivation of this generation says why it is inactive.
  generation integer not null
);
create index webhook_versions_by_webhook on webhook_versions (webhook_id, at, number);

create function note_webhook_types() returns trigger language plpgsql as $$
begin
  insert into webhook_types (eshop_id, type, webhook_id) select new.eshop_id, type, new.webhook_id from unnest(new.types) as type
  on conflict do nothing;
  return null;
end $$;
create trigger webhook_version_noted after insert on webhook_versions for each row execute function note_webhook_types();

-- Every change of types, URL, activity, interest in stock or own changes, or deletion leaves a version, even one
-- that an operator makes with SQL.
create function note_webhook_version() returns trigger language plpgsql as $$
begin
  insert into webhook_versions (webhook_id, eshop_id, webhook_type, additional_types, url, active, on_stock_change, skip_own, deleted, generation)
  values (new.id, new.eshop_id, new.webhook_type, new.additional_types, new.url, new.active, new.on_stock_change,
    new.skip_own, new.deleted_at is not null, new.generation);
  update webhook_types set subscribed = not subscribed
  where webhook_id = new.id and subscribed <> (new.active and new.deleted_at is null and type = any (new.types));
  return null;
end $$;
create trigger webhook_created after insert on webhooks for each row execute function note_webhook_version();
create trigger webhook_changed after update on webhooks for each row
  when ((old.types, old.url, old.active, old.on_stock_change, old.skip_own, old.deleted_at)
    is distinct from (new.types, new.url, new.active, new.on_stock_change, new.skip_own, new.deleted_at))
  execute function note_webhook_version();

-- Former request settings of webhooks: the request of each past delivery stays known.
create table former_request_settings (
  webhook_id integer not null,
  until timestamptz not null,
  url text not null,
  method text not null,
  payload_version text not null,
  parameters jsonb,
  primary key (webhook_id, until)
);

-- The deactivation of each generation of a webhook, and its reason.
create table deactivations (
  webhook_id integer not null references webhooks (id),
  generation integer not null,
  reason text not null check (reason in ('user', 'retriesExhausted', 'gone')),
  at timestamptz not null,
  delivery_id uuid,
  last_error text,
  primary key (webhook_id, generation)
);
create index deactivations_by_failures on deactivations (at) where reason <> 'user';

-- The ledger of recent failures. Rows are only added, so that attempts recorded at the same moment do not wait for
-- each other; from time to time they are compacted.
create table failures (
  webhook_id integer not null,
  generation integer not null,
  -- Failed attempts between `since` and `until`. 0: one was accepted at `until`, which ends the failures before it.
  failures integer not null,
  since timestamptz not null,
  until timestamptz not null,
  last_error text,
  -- A delivery with so few retries left that its e-shop must be warned.
  last_call uuid
);
create index failures_by_webhook on failures (webhook_id);

-- Webhooks whose e-shop was notified of a warning or a deactivation, until one of their deliveries is accepted.
create table unhealthy_webhooks (
  webhook_id integer primary key references webhooks (id),
  since timestamptz not null,
  -- Only this delivery fails, and others are accepted; null: all fail.
  delivery_id uuid
);
create index unhealthy_webhooks_by_delivery on unhealthy_webhooks (delivery_id) where delivery_id is not null;

-- Notices to an e-shop: one row per recipient.
create table notices (
  id uuid primary key default gen_random_uuid(),
  eshop_id integer not null references eshops (id),
  -- Null for a confirmation, and for lost secrets.
  webhook_id integer references webhooks (id),
  kind text not null check (kind in ('warning', 'deactivated', 'recovered', 'confirmation', 'lostSecrets')),
  -- The generation that is failing, or was deactivated.
  generation integer,
  -- Of a warning: the delivery that has few retries left; null: the webhook has been failing for a long time. Of a
  -- deactivation: the delivery that caused it.
  delivery_id uuid,
  -- Since when a webhook was unhealthy, and when it recovered.
  unhealthy_since timestamptz,
  recovered_at timestamptz,
  -- All webhooks of the e-shop whose secrets or static headers no key opened, with the names of these headers:
  -- [{"id", "secret", "headers", "signingKey"}].
  lost_secrets jsonb,
  -- Whether no key opened the secret of the e-shop's notices either.
  lost_notice_secret boolean not null default false,
  -- The e-shop's own address (set by the operator), a further one, or its URL.
  recipient text not null check (recipient in ('email', 'address', 'url')),
  -- Null also for an address that was removed since.
  address_id integer references notice_addresses (id) on delete set null,
  at timestamptz not null default now(),
  -- Null while it is to be sent; dropped: it no longer applied, or was no longer wanted.
  outcome text check (outcome in ('sent', 'dropped', 'givenUp')),
  settled_at timestamptz,
  -- The budget of mails was used up when it was due: the next mail of this kind to this recipient includes it.
  deferred boolean not null default false,
  -- Until when the mail of another notice, which includes this one, has to be sent.
  merging_until timestamptz,
  -- That other notice; itself while its own mail is being sent.
  merging_id uuid,
  -- When the mail server first refused it for good, and the error of the last try.
  refused_at timestamptz,
  error text,
  -- Requests to the URL so far.
  tries smallint not null default 0,
  -- When to start its workflow, or to start it again. If the workflow of a delivery has to mail a deactivation to the
  -- e-shop's own address: when the reconciler checks that again.
  check_at timestamptz not null default now(),
  check ((outcome is null) = (settled_at is null))
);
create index notices_by_eshop on notices (eshop_id, at);
create index notices_by_webhook on notices (webhook_id, at);
create index notices_by_address on notices (address_id);
-- Their workflows are started in turn by e-shop.
create index notices_pending on notices (eshop_id, check_at, id)
  where outcome is null and (kind <> 'deactivated' or recipient <> 'email');
create index notices_given_up on notices (settled_at) where outcome = 'givenUp';
create index deactivation_mails_pending on notices (webhook_id, generation)
  where kind = 'deactivated' and recipient = 'email' and outcome is null;

-- Examinations of each webhook's receiver: the starts within the last hour, and until when one is under way.
create table examinations (
  webhook_id integer primary key references webhooks (id) on delete cascade,
  times timestamptz[] not null default '{}',
  busy_until timestamptz
);
