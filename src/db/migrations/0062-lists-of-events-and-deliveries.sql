-- outside a transaction
-- The lists of events: rows that are written once.
create index if not exists events_by_type on only events (eshop_id, type, id);
-- on every partition of events
create index concurrently if not exists {partition}_by_type on {partition} (eshop_id, type, id);
-- on every partition of events
alter index events_by_type attach partition {partition}_by_type;
create index if not exists events_by_entity on only events (eshop_id, entity_id, id);
-- on every partition of events
create index concurrently if not exists {partition}_by_entity on {partition} (eshop_id, entity_id, id);
-- on every partition of events
alter index events_by_entity attach partition {partition}_by_entity;

-- Few deliveries end like this; the others are found by their webhook.
create index if not exists deliveries_unsuccessful on only deliveries (webhook_id, state, id)
  where state in ('failed', 'expired', 'canceled');
-- on every partition of deliveries
create index concurrently if not exists {partition}_unsuccessful on {partition} (webhook_id, state, id)
  where state in ('failed', 'expired', 'canceled');
-- on every partition of deliveries
alter index deliveries_unsuccessful attach partition {partition}_unsuccessful;
