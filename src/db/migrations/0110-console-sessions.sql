-- Who is signed in to the console. A row ends with its time, with its user, and with the password it was opened with.
create table console_sessions (
  -- SHA-256 of what the cookie says: who reads this table cannot sign in with it.
  id_hash bytea primary key,
  user_id integer not null references users (id) on delete cascade,
  password_version integer not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index console_sessions_by_user on console_sessions (user_id);
create index console_sessions_by_end on console_sessions (expires_at);
