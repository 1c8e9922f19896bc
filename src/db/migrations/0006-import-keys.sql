-- Lines of an import that were applied under a key: sent again, they are known and change nothing. Kept for 30 days.

create table import_keys (
  eshop_id integer not null references eshops (id),
  key text not null,
  -- SHA-256 of the line without its key.
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  primary key (eshop_id, key)
);
create index import_keys_by_age on import_keys (created_at);
