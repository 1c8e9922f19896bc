-- Whose time it was, and who ended a delivery.
alter table deliveries
  -- How much later than due its attempts began because of outages.
  add column late_ms bigint not null default 0,
  -- Outages left no room for the attempts still due: the receiver is not to blame.
  add column window_lost boolean not null default false,
  add column canceled_by text check (canceled_by in ('operator', 'deletion'));

update deliveries d set canceled_by = case when w.deleted_at is null then 'operator' else 'deletion' end
from webhooks w where w.id = d.webhook_id and d.state = 'canceled';
