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

-- Early releases gave deliveries ids of their own.
insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
select id, event_id, eshop_id, webhook_id, entity_id from deliveries
where substring(uuid_send(id) for 11) <> substring(uuid_send(event_id) for 11);

-- How a webhook was called before it was replaced: what it has been sent stays known.
create table webhook_forms (
  webhook_id integer not null,
  until timestamptz not null,
  url text not null,
  method text not null,
  payload_version text not null,
  parameters jsonb,
  primary key (webhook_id, until)
);
