-- Events, deliveries and attempts, partitioned by week. Their ids are UUIDv7, which rise with time: whoever knows an id
-- reads one partition. They carry no foreign keys, so that a week can be dropped.

create table events (
  id uuid primary key,
  eshop_id integer not null,
  type text not null,
  entity_id text not null,
  -- Rises with every event of a record, whatever its type, in the order of the commits. 1 of a stock movement and of a test,
  -- whose records have no other event.
  sequence bigint not null default 1 check (sequence >= 1),
  -- When its record was written: never before that of the record's event before it.
  happened_at timestamptz not null default now(),
  -- The record after the write in its v2 form, kept as text: key order and digits stay as they were.
  snapshot text not null,
  -- True of an event that an operator triggered: its record does not exist. Null of all others.
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
  -- That of the event.
  sequence bigint not null default 1 check (sequence >= 1),
  -- "held" is not stored: an open delivery of an inactive webhook is held.
  state text not null default 'pending'
    check (state in ('pending', 'retrying', 'delivered', 'failed', 'expired', 'canceled', 'superseded')),
  -- The delivery of a newer event that is sent in its place.
  superseded_by uuid,
  canceled_by text check (canceled_by in ('operator', 'user', 'deletion')),
  created_at timestamptz not null default now(),
  finished_at timestamptz,

  -- Its attempts.
  attempts_made integer not null default 0,
  window_started_at timestamptz,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  -- The generation of the webhook that the last attempt went to.
  last_generation integer,
  -- How much later than due its attempts began because of outages, in milliseconds.
  late_ms bigint not null default 0,
  -- Outages left no room for the attempts still due: the receiver is not to blame.
  window_lost boolean not null default false,

  -- Its class while it waits: 0 fresh, 1 a retry after a batch, 2 written in bulk by an import, 3 recovered, 4 after a batch,
  -- without an attempt that is due soon: it needs its workflow; 5 behind an older event of its record.
  queue smallint not null default 0 check (queue between 0 and 5),
  -- Not to be claimed before.
  due_at timestamptz not null default now(),
  -- Nobody else claims it until then.
  claimed_until timestamptz,
  -- When its workflow was started, or a batch began its attempt, or it ended without either; null while it waits in the queue.
  dispatched_at timestamptz,
  -- The batch that holds it, or that made its first attempt.
  batch_id uuid,
  -- The recovery that created it.
  recovery_id uuid,
  -- Written by the reconciler alone: not to be looked at again before.
  check_at timestamptz,

  -- What an operator asked of it while under way: what stands until it is lifted or done ('hold' or 'giveUp'), and all that
  -- was asked, the oldest first: [{"id", "action", "by", "reason", "at"}].
  operator_stop text,
  operator_actions jsonb,
  -- The place in a trace that it comes from, as W3C's header `traceparent` says it. Null where traces are off.
  traceparent text
) partition by range (id);

-- The queue. Claims take turns by e-shop and by webhook: the next webhook that waits is one step in the index.
create index deliveries_waiting on deliveries (queue, eshop_id, webhook_id, due_at, id) where dispatched_at is null;
-- The order of each record: what waits for it, and what is open.
create index deliveries_in_order on deliveries (eshop_id, entity_id, sequence) where queue = 5 and dispatched_at is null;
create index deliveries_open_by_record on deliveries (eshop_id, entity_id, sequence) where state in ('pending', 'retrying');
-- What was handed over lately and has no result yet. What a batch holds is found by its batch: an entry here for each
-- would be read by every claim of a minute, long after its result.
create index deliveries_handed_over on deliveries (dispatched_at)
  where state = 'pending' and dispatched_at is not null and batch_id is null;
create index deliveries_of_batch on deliveries (batch_id, id)
  where batch_id is not null and state in ('pending', 'retrying');
-- For the reconciler, by the time of the next step; `greatest` leaves out what is null.
create index deliveries_by_next_step
  on deliveries ((greatest(check_at, dispatched_at, last_attempt_at, next_attempt_at)), id)
  where state in ('pending', 'retrying') and dispatched_at is not null;

-- Lists. Few deliveries are open, unsuccessful, or held by an operator; the others are found by their webhook.
create index deliveries_by_webhook on deliveries (webhook_id, id desc);
create index deliveries_open_by_webhook on deliveries (webhook_id, id) where state in ('pending', 'retrying');
create index deliveries_unsuccessful on deliveries (webhook_id, state, id)
  where state in ('failed', 'expired', 'canceled');
create index deliveries_held_by_operators on deliveries (webhook_id, id)
  where operator_stop = 'hold' and state in ('pending', 'retrying');

-- Recoveries: what may have to be delivered again, by the order of events; and how far one has come (those delivered are
-- the rest).
create index deliveries_lost on deliveries (webhook_id, event_id) where state in ('failed', 'expired', 'canceled');
create index deliveries_recovered on deliveries (recovery_id, state)
  where recovery_id is not null and state <> 'delivered';

create table attempts (
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  -- That of the webhook when it began.
  generation integer not null,
  started_at timestamptz not null,
  -- Who makes it: nobody else begins it before `owned_until`, unless its owner gives it up (null).
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

-- The first partitions: one for all ids below those of a Monday at least two days ahead, one for the week from then on
-- (the program makes later weeks), and the default for ids of a clock that is far off, which stays empty or is emptied.
-- The first 48 bits of an id are its time in milliseconds.
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

-- Deliveries that were made later than with their event: asked for once more by an e-shop, or created by a recovery. They are
-- few beside all, and found here; those made with their event are found by their ids, which begin as its does.
create table redeliveries (
  delivery_id uuid primary key,
  event_id uuid not null,
  eshop_id integer not null,
  webhook_id integer not null,
  entity_id text not null,
  -- The delivery that it was asked for by; null for a recovery's.
  redelivers uuid,
  -- The recovery that created it; null where an e-shop asked for it.
  recovery_id uuid
);
create index redeliveries_of_event on redeliveries (event_id, webhook_id);
create index redeliveries_by_webhook on redeliveries (webhook_id, delivery_id);
create index redeliveries_by_entity on redeliveries (eshop_id, entity_id, delivery_id);
-- A recovery creates one delivery of an event, however often its steps are repeated.
create unique index redeliveries_recovered_once on redeliveries (recovery_id, event_id) where recovery_id is not null;
