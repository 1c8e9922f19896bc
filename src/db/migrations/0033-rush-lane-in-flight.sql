-- outside a transaction
-- What was handed over lately and has no result yet. What a batch holds is found by its batch: an entry here for each
-- would be read by every claim of a minute, long after its result.
drop index concurrently if exists deliveries_handed_over;
create index concurrently deliveries_handed_over on deliveries (dispatched_at)
  where state = 'pending' and dispatched_at is not null and batch_id is null;

-- Batches that have not ended: few, whatever is kept.
drop index concurrently if exists batches_open;
create index concurrently batches_open on batches (id) where finished_at is null;
