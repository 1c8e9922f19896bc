-- How far a change has been passed on to the open deliveries of its webhook. They are told in the order of their ids; a
-- change that comes meanwhile joins the one under way, which then goes once round.
alter table outbox
  -- Not to be passed on before.
  add column due_at timestamptz not null default now(),
  -- The last delivery told on this way; null at its beginning.
  add column told_id uuid,
  -- This way ends here; null: with the last delivery.
  add column until_id uuid,
  -- After the last delivery it begins again, and ends here.
  add column again_until_id uuid,
  add column told integer not null default 0,
  add column told_at timestamptz,
  -- Rises when another change joins.
  add column version integer not null default 1;
