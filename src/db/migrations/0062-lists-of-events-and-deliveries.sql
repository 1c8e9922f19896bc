-- outside a transaction
-- The lists of events: rows that are written once.
drop index concurrently if exists events_by_type;
create index concurrently events_by_type on events (eshop_id, type, id);
drop index concurrently if exists events_by_entity;
create index concurrently events_by_entity on events (eshop_id, entity_id, id);

-- Few deliveries end like this; the others are found by their webhook.
drop index concurrently if exists deliveries_unsuccessful;
create index concurrently deliveries_unsuccessful on deliveries (webhook_id, state, id)
  where state in ('failed', 'expired', 'canceled');

-- A delivery that was made with its event has an id that begins as its event's does. These are the others.
drop index concurrently if exists deliveries_again_by_event;
create index concurrently deliveries_again_by_event on deliveries (event_id)
  where substring(uuid_send(id) for 11) <> substring(uuid_send(event_id) for 11);
drop index concurrently if exists deliveries_again_by_webhook;
create index concurrently deliveries_again_by_webhook on deliveries (webhook_id, id)
  where substring(uuid_send(id) for 11) <> substring(uuid_send(event_id) for 11);
drop index concurrently if exists deliveries_again_by_entity;
create index concurrently deliveries_again_by_entity on deliveries (eshop_id, entity_id, id)
  where substring(uuid_send(id) for 11) <> substring(uuid_send(event_id) for 11);
