-- E-shops, their users, and who is signed in.

-- What the operator sets once for the instance, by name.
create table settings (
  name text primary key,
  value text not null
);

create table eshops (
  id integer generated always as identity primary key,
  name text not null,
  email text not null,
  api_key_hash bytea not null unique,
  -- What the operator allows the e-shop: webhook types, payload versions, how many webhooks.
  contract jsonb not null default '{}',
  -- Whether it wants to be warned before a webhook is deactivated.
  warning_mails boolean not null default true,
  -- The budget of its mails: each that is sent moves this time on, and it may not be further ahead than so many at once take.
  mails_until timestamptz,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

create table users (
  id integer generated always as identity primary key,
  eshop_id integer not null references eshops (id),
  username text not null,
  role text not null check (role in ('shop', 'warehouse')),
  password_hash text not null,
  -- A token ends with the password it was issued for, whatever the clock says.
  password_version integer not null default 1,
  -- What a check of this hash costs: its algorithm and parameters. Null for one that opens nothing.
  password_kind text generated always as (
    case
      when password_hash ~ '^\$2[aby]\$\d\d\$' then '$2b$' || substring(password_hash, 5, 2)
      else substring(password_hash from '^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+')
    end) stored,
  created_at timestamptz not null default now(),
  unique (eshop_id, username)
);
create index users_by_password_kind on users (password_kind);

-- E-shops that a user of the warehouse sees in the console beside its own.
create table user_eshops (
  user_id integer not null references users (id) on delete cascade,
  eshop_id integer not null references eshops (id) on delete cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, eshop_id)
);
create index user_eshops_by_eshop on user_eshops (eshop_id);

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

-- The forms that were sent in a session, by the SHA-256 of what tells each from every other: none is taken twice.
create table console_forms (
  id_hash bytea not null references console_sessions (id_hash) on delete cascade,
  form bytea not null,
  primary key (id_hash, form)
);

-- Failed logins, counted for all processes together. The columns are those of rate-limiter-flexible's Postgres store.
create table login_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
create index login_limits_by_expiry on login_limits (expire);
