-- outside a transaction
-- Changes of releases are passed on by turns: each e-shop's first due before any e-shop's second.
drop index concurrently if exists outbox_releases_by_eshop;
create index concurrently outbox_releases_by_eshop on outbox (eshop_id, due_at, id) where kind = 'orderReleaseChanged';
drop index concurrently if exists outbox_releases;
-- Places are counted in the index.
drop index concurrently if exists orders_of_a_second;
create index concurrently orders_of_a_second on orders (eshop_id, release_at) include (created_at, eshop_order_id)
  where status = 'preOrder' and release_at is not null;
drop index concurrently if exists orders_of_a_release;
