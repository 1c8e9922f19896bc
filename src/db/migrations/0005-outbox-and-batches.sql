-- What must reach Temporal besides deliveries, and batches.

-- Written in the transaction it follows from. Changes of webhooks are told to their open deliveries, in the order of their
-- ids; one that comes meanwhile waits for the one under way, and stands for all that come until it begins itself.
create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('webhookChanged', 'orderReleaseChanged')),
  eshop_id integer not null,
  webhook_id integer,
  eshop_order_id text,
  -- Not to be passed on before.
  due_at timestamptz not null default now(),
  -- The last delivery told; null at its beginning.
  told_id uuid,
  claimed_until timestamptz,
  created_at timestamptz not null default now()
);
-- The changes of a webhook: the one that is being passed on, and the next.
create index outbox_by_webhook on outbox (webhook_id) where kind = 'webhookChanged';
-- Changes of releases are passed on by turns: each e-shop's first due before any e-shop's second.
create index outbox_releases_by_eshop on outbox (eshop_id, due_at, id) where kind = 'orderReleaseChanged';
-- Whether a pre-order has a change that is still to be passed on.
create index outbox_releases_by_order on outbox (eshop_id, eshop_order_id) where kind = 'orderReleaseChanged';

-- Attempts of many deliveries, one of each, made together by one workflow. A row is there once its batch has begun, and is kept
-- for a while after the end: the counts are told to its workflow.
create table batches (
  id uuid primary key,
  -- The execution that may begin attempts: one that Temporal has given up, but that still runs, may not.
  run uuid not null,
  delivered integer not null default 0,
  requeued integer not null default 0,
  -- Deferred, since their receivers had as much under way as they take.
  deferred integer not null default 0,
  finished_at timestamptz
);
create index batches_finished on batches (finished_at) where finished_at is not null;
create index batches_open on batches (id) where finished_at is null;
