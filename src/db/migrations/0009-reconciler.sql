-- What the reconciler asks: which open records have passed their next step, and which of them it looked at lately.

-- Written by the reconciler alone: not to be looked at again before.
alter table deliveries add column check_at timestamptz;
alter table deactivations add column check_at timestamptz;

-- By the time of the next step; `greatest` leaves out what is null.
create index deliveries_by_next_step on deliveries ((greatest(check_at, dispatched_at, last_attempt_at, next_attempt_at)), id)
  where state in ('pending', 'retrying') and dispatched_at is not null;
create index deactivations_unmailed on deactivations (webhook_id, generation) where mailed_at is null and delivery_id is not null;
create index orders_to_be_released on orders (release_at) where status = 'preOrder' and release_at is not null;
