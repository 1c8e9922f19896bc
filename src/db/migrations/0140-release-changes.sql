-- outside a transaction
-- Changes of releases are passed on in the order in which the pre-orders are due.
drop index concurrently if exists outbox_releases;
create index concurrently outbox_releases on outbox (due_at, id) where kind = 'orderReleaseChanged';
-- The pre-orders of an e-shop that are due in the same second.
drop index concurrently if exists orders_of_a_release;
create index concurrently orders_of_a_release on orders (eshop_id, release_at)
  where status = 'preOrder' and release_at is not null;
