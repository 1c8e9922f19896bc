-- What each webhook was, and since when: so that it can be said why an event has no delivery to it.
create table webhook_versions (
  number bigint generated always as identity primary key,
  webhook_id integer not null references webhooks (id) on delete cascade,
  eshop_id integer not null,
  -- From then on, until the next one.
  at timestamptz not null default clock_timestamp(),
  webhook_type text not null,
  url text not null,
  -- Null: not known, before there were versions.
  active boolean,
  deleted boolean not null,
  -- Whose deactivation says why it is inactive.
  generation integer not null
);
create index webhook_versions_by_eshop on webhook_versions (eshop_id, webhook_type, webhook_id);
create index webhook_versions_by_webhook on webhook_versions (webhook_id, at, number);

-- Whoever changes a webhook, an operator with SQL included, leaves a version.
create function note_webhook_version() returns trigger language plpgsql as $$
begin
  insert into webhook_versions (webhook_id, eshop_id, webhook_type, url, active, deleted, generation)
  values (new.id, new.eshop_id, new.webhook_type, new.url, new.active, new.deleted_at is not null, new.generation);
  return null;
end $$;
create trigger webhook_created after insert on webhooks for each row execute function note_webhook_version();
create trigger webhook_changed after update on webhooks for each row
  when ((old.webhook_type, old.url, old.active, old.deleted_at) is distinct from (new.webhook_type, new.url, new.active, new.deleted_at))
  execute function note_webhook_version();

-- What is known of those that are there: their creation, every deactivation, the last activation, the deletion.
insert into webhook_versions (webhook_id, eshop_id, at, webhook_type, url, active, deleted, generation)
select w.id, w.eshop_id, k.at, w.webhook_type, w.url, k.active, k.deleted, k.generation
from webhooks w cross join lateral (
  select w.registered_at as at, case when w.generation = 1
           then w.active or exists (select from deactivations x where x.webhook_id = w.id) end as active,
         false as deleted, 1 as generation
  union all
  select x.at, false, false, x.generation from deactivations x where x.webhook_id = w.id
  union all
  select w.generation_at, w.active or exists (
           select from deactivations x where x.webhook_id = w.id and x.generation = w.generation),
         false, w.generation
  where w.generation_at is not null
  union all
  select w.deleted_at, w.active, true, w.generation where w.deleted_at is not null) k
order by w.id, k.at;
