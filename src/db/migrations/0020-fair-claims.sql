-- outside a transaction
-- What was handed over lately and has no result yet: few rows, whatever is stored.
drop index concurrently if exists deliveries_handed_over;
create index concurrently deliveries_handed_over on deliveries (dispatched_at)
  where state = 'pending' and dispatched_at is not null;

-- The change of a webhook that is being passed on, which the next one joins.
drop index concurrently if exists outbox_by_webhook;
create index concurrently outbox_by_webhook on outbox (webhook_id) where kind = 'webhookChanged';
