-- Claims take turns by e-shop and by webhook: the next webhook that waits is one step in this index. It does what
-- deliveries_undispatched did.
create index deliveries_queued on deliveries (eshop_id, webhook_id, id) where dispatched_at is null;
drop index deliveries_undispatched;

-- What was handed over lately and has no result yet: few rows, whatever is stored.
create index deliveries_handed_over on deliveries (dispatched_at) where state = 'pending' and dispatched_at is not null;
