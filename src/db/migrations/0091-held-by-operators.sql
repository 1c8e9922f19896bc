-- outside a transaction
-- Few deliveries are held by an operator; those of inactive webhooks are found by their webhook.
create index if not exists deliveries_held_by_operators on only deliveries (webhook_id, id)
  where operator_stop = 'hold' and state in ('pending', 'retrying');
-- on every partition of deliveries
create index concurrently if not exists {partition}_held_by_operators on {partition} (webhook_id, id)
  where operator_stop = 'hold' and state in ('pending', 'retrying');
-- on every partition of deliveries
alter index deliveries_held_by_operators attach partition {partition}_held_by_operators;
