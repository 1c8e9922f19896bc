-- What receivers failed at lately. Rows are only added, so that attempts recorded at the same moment wait for nobody;
-- now and then they are put together.
create table failures (
  webhook_id integer not null,
  generation integer not null,
  -- Failed attempts between `since` and `until`. 0: one was accepted at `until`, and what failed before is over.
  failures integer not null,
  since timestamptz not null,
  until timestamptz not null,
  last_error text,
  -- A delivery of which so few retries are left that its e-shop is to be warned.
  last_call uuid
);
create index failures_by_webhook on failures (webhook_id);

-- Warnings that a webhook will be deactivated: one mail each.
create table warnings (
  id uuid primary key default gen_random_uuid(),
  webhook_id integer not null references webhooks (id),
  generation integer not null,
  -- Whose last retries it is about; null: the webhook has failed for long.
  delivery_id uuid,
  at timestamptz not null default now(),
  mailed_at timestamptz,
  -- It was no longer true, or no longer wanted, before it was mailed.
  dropped_at timestamptz,
  mail_refused_at timestamptz,
  mail_failed_at timestamptz,
  mail_error text,
  -- From then on its workflow is started once more.
  check_at timestamptz not null default now()
);
create index warnings_by_webhook on warnings (webhook_id, at);
create index warnings_owed on warnings (check_at)
  where mailed_at is null and dropped_at is null and mail_failed_at is null;

-- Whether an e-shop wants them.
alter table eshops add column warning_mails boolean not null default true;
