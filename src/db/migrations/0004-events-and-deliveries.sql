-- Events, deliveries and attempts, partitioned by week. Their ids are UUIDv7, which rise with time: a query by id
-- reads one partition. They have no foreign keys, so that a week can be dropped.

create table events (
  id uuid primary key,
  eshop_id integer not null,
  type text not null,
  entity_id text not null,
  -- Rises with every event of a record, whatever its type, in commit order. 1 for a stock movement and for a test,
  -- whose records have no other event.
  sequence bigint not null default 1 check (sequence >= 1),
  -- When its record was written; never earlier than for the record's previous event.
  happened_at timestamptz not null default now(),
  -- The record after the write in its v2 form, kept as text: key order and digits stay as they were.
  snapshot text not null,
  -- Who made the write: a user's role, or the service itself.
  origin text not null default 'service' check (origin in ('shop', 'warehouse', 'service')),
  -- The fields that it changed, joined by commas; null for events that are no update.
  changed text,
  -- True for an event that an operator triggered: its record does not exist. Null for all others.
  test boolean,
  created_at timestamptz not null default now()
) partition by range (id);
create index events_by_type on events (eshop_id, type, id);
create index events_by_entity on events (eshop_id, entity_id, id);

create table deliveries (
  id uuid primary key,
  event_id uuid not null,
  eshop_id integer not null,
  webhook_id integer not null,
  event_type text not null,
  entity_id text not null,
  -- The sequence of the event.
  sequence bigint not null default 1 check (sequence >= 1),
  -- Made of e-shop, kind of record, record and recovery. If a webhook asks for it, deliveries with the same key are
  -- attempted one after the other. Null for a redelivery that an e-shop asked for: it is outside any ordering.
  ordering_key text,
  -- "held" is derived, not stored: an open delivery is held by an inactive webhook or by an operator.
  state text not null default 'pending'
    check (state in ('pending', 'retrying', 'delivered', 'failed', 'expired', 'canceled', 'superseded')),
  -- The delivery of a newer event that replaced it.
  superseded_by uuid,
  canceled_by text check (canceled_by in ('operator', 'user', 'deletion')),
  created_at timestamptz not null default now(),
  finished_at timestamptz,

  -- Its attempts.
  attempts_made integer not null default 0,
  -- Set by the first attempt, or taken over with the attempts of the delivery before it.
  window_started_at timestamptz
    check (window_started_at is not null or attempts_made = 0 or state not in ('pending', 'retrying')),
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  -- The webhook's generation at the last attempt.
  last_generation integer,
  -- The webhook's generation when the next attempt was deferred: the change to it no longer makes an attempt due.
  deferred_generation integer,
  -- How much later than due its attempts began because of outages, in milliseconds.
  late_ms bigint not null default 0,
  -- Outages left no room for the remaining attempts: the receiver is not to blame. For an expired delivery: whether
  -- it expired because of that.
  window_lost boolean not null default false,

  -- Its class while it waits in the queue. For an attempt: 0 fresh, 1 retry (due within a minute), 2 bulk (written
  -- by an import), 3 recovered. For the start of its workflow: 4 undelivered, 5 delivered. 6 blocked: behind an
  -- older event of its record.
  class smallint not null default 0 check (class between 0 and 6),
  -- True if an import wrote it: after a wait in another class without an attempt it is bulk again. Null for all
  -- others.
  bulk boolean,
  -- When it may be claimed at the earliest.
  due_at timestamptz not null default now(),
  -- The end of its claim's lease: no other process claims it before.
  claimed_until timestamptz,
  -- The token of its claim: a process whose lease is over must not change what the next one has claimed.
  claim_id uuid,
  -- When its workflow was started, or when it ended and gets none; null while it waits in the queue.
  dispatched_at timestamptz,
  -- The recovery that created it.
  recovery_id uuid,
  -- Written only by the reconciler: when to check again at the earliest.
  check_at timestamptz,

  -- Operator actions: the order in effect until it is lifted or carried out, and the latest
  -- actions, oldest first: [{"id", "action", "by", "reason", "at"}], with "user" where a user of the e-shop asked.
  operator_stop text check (operator_stop in ('hold', 'giveUp')),
  operator_actions jsonb,
  -- The point of the trace that it comes from, as W3C's header `traceparent`. Null where traces are off.
  traceparent text
) partition by range (id);

-- The queue. Claims take turns by e-shop and by webhook: the next webhook with waiting deliveries is one step in
-- the index.
create index deliveries_waiting on deliveries (class, eshop_id, webhook_id, due_at, id) where dispatched_at is null;
-- Deliveries that wait for their workflow, by their next attempt: if Temporal is unavailable, the queue makes it.
create index deliveries_due_without_workflow on deliveries (coalesce(next_attempt_at, due_at))
  where class = 4 and dispatched_at is null and (next_attempt_at is not null or state = 'pending');
-- The ordering of each record: deliveries that wait for an older one, and open ones.
create index deliveries_blocked on deliveries (eshop_id, ordering_key, sequence) where class = 6 and dispatched_at is null;
create index deliveries_open_by_record on deliveries (ordering_key, sequence) where state in ('pending', 'retrying');
-- For the reconciler, by the time of the next step; `greatest` ignores nulls.
create index deliveries_by_next_step
  on deliveries ((greatest(check_at, dispatched_at, last_attempt_at, next_attempt_at)), id)
  where state in ('pending', 'retrying') and dispatched_at is not null;

-- Lists. Few deliveries are open, unsuccessful, or held by an operator; the others are found by their webhook.
create index deliveries_by_webhook on deliveries (webhook_id, id desc);
create index deliveries_open_by_webhook on deliveries (webhook_id, id) where state in ('pending', 'retrying');
create index deliveries_unsuccessful on deliveries (webhook_id, state, id)
  where state in ('failed', 'expired', 'canceled');
-- Those whose window was lost by a failure of Waybill itself: an operator has to know.
create index deliveries_window_lost on deliveries (finished_at) where state = 'expired' and window_lost;
-- Those with a failed attempt. A delivery accepted at its first has no entry.
create index deliveries_with_failures on deliveries (webhook_id, id)
  where attempts_made > 1 or attempts_made = 1 and (last_status is null or last_status not between 200 and 299);
create index deliveries_held_by_operators on deliveries (webhook_id, id)
  where operator_stop = 'hold' and state in ('pending', 'retrying');

-- Recoveries: lost deliveries in the order of events, and the progress of a recovery (the rest of its deliveries
-- are delivered).
create index deliveries_lost on deliveries (webhook_id, event_id) where state in ('failed', 'expired', 'canceled');
create index deliveries_recovered on deliveries (recovery_id, state)
  where recovery_id is not null and state <> 'delivered';

create table attempts (
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  -- The webhook's generation when it began.
  generation integer not null,
  started_at timestamptz not null,
  -- The process that makes it: no other begins it before `owned_until`, unless its owner gives it up (null).
  owner uuid,
  owned_until timestamptz,
  finished_at timestamptz,
  outcome text check (outcome in ('success', 'failure', 'gone')),
  duration_ms integer,
  status integer,
  error text,
  response_excerpt text,
  next_attempt_at timestamptz,
  primary key (delivery_id, number)
) partition by range (delivery_id);

-- The first partitions: one for all ids before a Monday at least two days ahead, one for the week from then on (the
-- program creates later weeks), and the default for ids of a clock that is far off, which stays empty or is
-- emptied. The first 48 bits of an id are its time in milliseconds.
do $$
declare
  monday timestamptz := date_trunc('week', now() + interval '8 days', 'UTC');
  week text := to_char(monday at time zone 'UTC', 'YYYYMMDD');
  bounds uuid[] := array(
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
    from unnest(array[monday, monday + interval '7 days']) at);
  parent text;
begin
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    execute format('create table %I partition of %I for values from (minvalue) to (%L)', parent || '_first', parent, bounds[1]);
    execute format('create table %I partition of %I for values from (%L) to (%L)', parent || '_' || week, parent, bounds[1], bounds[2]);
    execute format('create table %I partition of %I default', parent || '_default', parent);
  end loop;
end $$;

-- Deliveries open, wait and end within seconds. By statistics of a quiet minute the planner would think the partial
-- indexes empty, and read a whole one to find a single id. Without statistics it expects a fixed share of the rows.
-- The mean number of deliveries of a webhook misleads it as well: among few webhooks it is so large that the planner
-- would look for a small webhook's page among all deliveries.
alter table deliveries
  alter column state set statistics 0, alter column class set statistics 0, alter column dispatched_at set statistics 0,
  alter column recovery_id set statistics 0, alter column operator_stop set statistics 0, alter column webhook_id set statistics 0;

-- Deliveries created after their event: redeliveries that an e-shop requested, or those of a recovery. They are few
-- and found here; deliveries created with their event are found by their ids, which begin like the event's.
create table redeliveries (
  delivery_id uuid primary key,
  event_id uuid not null,
  eshop_id integer not null,
  webhook_id integer not null,
  entity_id text not null,
  -- The delivery that it repeats; null for a recovery's.
  redelivers uuid,
  -- The recovery that created it; null if an e-shop requested it.
  recovery_id uuid
);
create index redeliveries_of_event on redeliveries (event_id, webhook_id);
create index redeliveries_by_webhook on redeliveries (webhook_id, delivery_id);
create index redeliveries_by_entity on redeliveries (eshop_id, entity_id, delivery_id);
-- A recovery creates one delivery of an event, however often its steps are repeated.
create unique index redeliveries_recovered_once on redeliveries (recovery_id, event_id) where recovery_id is not null;
