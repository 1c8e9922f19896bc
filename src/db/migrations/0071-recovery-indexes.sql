-- outside a transaction
-- What may have to be delivered again, by the order of events.
create index if not exists deliveries_lost on only deliveries (webhook_id, event_id)
  where state in ('failed', 'expired', 'canceled');
-- on every partition of deliveries
create index concurrently if not exists {partition}_lost on {partition} (webhook_id, event_id)
  where state in ('failed', 'expired', 'canceled');
-- on every partition of deliveries
alter index deliveries_lost attach partition {partition}_lost;

-- How far a recovery has come: those delivered are the rest.
create index if not exists deliveries_recovered on only deliveries (recovery_id, state)
  where recovery_id is not null and state <> 'delivered';
-- on every partition of deliveries
create index concurrently if not exists {partition}_recovered on {partition} (recovery_id, state)
  where recovery_id is not null and state <> 'delivered';
-- on every partition of deliveries
alter index deliveries_recovered attach partition {partition}_recovered;

-- The queue of what is recovered, behind that of what is fresh.
create index if not exists deliveries_queued_again on only deliveries (eshop_id, webhook_id, id)
  where dispatched_at is null and handed_back_at is null and recovery_id is not null;
-- on every partition of deliveries
create index concurrently if not exists {partition}_queued_again on {partition} (eshop_id, webhook_id, id)
  where dispatched_at is null and handed_back_at is null and recovery_id is not null;
-- on every partition of deliveries
alter index deliveries_queued_again attach partition {partition}_queued_again;
