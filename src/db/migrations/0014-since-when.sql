-- Since when a webhook's present generation is there: an attempt that is late for longer than that was held, not missed.
alter table webhooks add column generation_at timestamptz;

-- When the mail server first refused a deactivation mail for good: its patience is counted from there.
alter table deactivations add column mail_refused_at timestamptz;
