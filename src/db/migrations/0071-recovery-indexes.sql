-- outside a transaction
-- What became of an event at a webhook.
drop index concurrently if exists deliveries_of_event;
create index concurrently deliveries_of_event on deliveries (event_id, webhook_id);
-- What may have to be delivered again, by the order of events.
drop index concurrently if exists deliveries_lost;
create index concurrently deliveries_lost on deliveries (webhook_id, event_id)
  where state in ('failed', 'expired', 'canceled');

-- A recovery creates one delivery of an event, however often its steps are repeated.
drop index concurrently if exists deliveries_recovered_once;
create unique index concurrently deliveries_recovered_once on deliveries (recovery_id, event_id) where recovery_id is not null;
-- How far a recovery has come: those delivered are the rest.
drop index concurrently if exists deliveries_recovered;
create index concurrently deliveries_recovered on deliveries (recovery_id, state)
  where recovery_id is not null and state <> 'delivered';
-- The queue of what is recovered, behind that of what is fresh.
drop index concurrently if exists deliveries_queued_again;
create index concurrently deliveries_queued_again on deliveries (eshop_id, webhook_id, id)
  where dispatched_at is null and handed_back_at is null and recovery_id is not null;
