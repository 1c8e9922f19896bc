-- outside a transaction
-- By the time of the next step; `greatest` leaves out what is null.
drop index concurrently if exists deliveries_by_next_step;
create index concurrently deliveries_by_next_step
  on deliveries ((greatest(check_at, dispatched_at, last_attempt_at, next_attempt_at)), id)
  where state in ('pending', 'retrying') and dispatched_at is not null;
drop index concurrently if exists deactivations_unmailed;
create index concurrently deactivations_unmailed on deactivations (webhook_id, generation)
  where mailed_at is null and delivery_id is not null;
drop index concurrently if exists orders_to_be_released;
create index concurrently orders_to_be_released on orders (release_at)
  where status = 'preOrder' and release_at is not null;
