-- E-shops that a user of the warehouse sees in the console beside its own.
create table user_eshops (
  user_id integer not null references users (id) on delete cascade,
  eshop_id integer not null references eshops (id) on delete cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, eshop_id)
);
create index user_eshops_by_eshop on user_eshops (eshop_id);
