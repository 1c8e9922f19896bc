-- The last write of a record that changed nothing, and so fired nothing: one row for each record that had one.
create table unchanged_writes (
  eshop_id integer not null references eshops (id),
  kind text not null,
  entity_id text not null,
  at timestamptz not null,
  -- How many there were in all.
  writes integer not null default 1,
  primary key (eshop_id, kind, entity_id)
) with (fillfactor = 80);
