-- Webhooks that once were of another type, as their deliveries tell.
insert into webhook_versions (webhook_id, eshop_id, at, webhook_type, url, active, deleted, generation)
select w.id, w.eshop_id, w.registered_at, d.event_type, w.url, null, false, 1
from (select distinct webhook_id, event_type from deliveries) d join webhooks w on w.id = d.webhook_id
where not exists (
  select from webhook_versions v where v.webhook_id = d.webhook_id and v.webhook_type = d.event_type);
