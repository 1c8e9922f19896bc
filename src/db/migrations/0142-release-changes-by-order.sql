-- outside a transaction
-- Whether a pre-order has a change that is still to be passed on.
drop index concurrently if exists outbox_releases_by_order;
create index concurrently outbox_releases_by_order on outbox (eshop_id, eshop_order_id) where kind = 'orderReleaseChanged';
