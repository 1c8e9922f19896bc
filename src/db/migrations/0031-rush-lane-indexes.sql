-- outside a transaction
-- Claims take turns by e-shop and by webhook: the next webhook that waits is one step in this index. It does what
-- deliveries_undispatched did. What was handed back waits in a queue of its own.
drop index concurrently if exists deliveries_queued;
create index concurrently deliveries_queued on deliveries (eshop_id, webhook_id, id)
  where dispatched_at is null and handed_back_at is null;
drop index concurrently if exists deliveries_undispatched;
drop index concurrently if exists deliveries_handed_back;
create index concurrently deliveries_handed_back on deliveries ((coalesce(next_attempt_at, handed_back_at)))
  where dispatched_at is null and handed_back_at is not null;

-- What is left of a batch.
drop index concurrently if exists deliveries_of_batch;
create index concurrently deliveries_of_batch on deliveries (batch_id, id)
  where batch_id is not null and state in ('pending', 'retrying');
