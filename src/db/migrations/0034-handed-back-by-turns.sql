-- outside a transaction
-- What batches handed back, by whose it is: it is claimed by turns, each webhook's first due first.
drop index concurrently if exists deliveries_handed_back;
create index concurrently deliveries_handed_back
  on deliveries (eshop_id, webhook_id, (coalesce(next_attempt_at, handed_back_at)))
  where dispatched_at is null and handed_back_at is not null;
