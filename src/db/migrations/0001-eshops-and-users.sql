-- E-shops, their users, and the console's sessions.

-- Values that belong to the database as a whole, by name.
create table settings (
  name text primary key,
  value text not null
);

create table eshops (
  id integer generated always as identity primary key,
  name text not null,
  email text not null,
  api_key_hash bytea not null unique,
  -- The operator's limits for the e-shop: event types, payload versions, number of webhooks.
  contract jsonb not null default '{}',
  -- Whether to warn it before a webhook is deactivated, and to notify it when one has recovered.
  warning_mails boolean not null default true,
  recovered_notices boolean not null default true,
  -- The URL that gets its notices besides the mails, their format, and the secret that signs them, sealed like the
  -- secrets of webhooks.
  notice_url text,
  notice_format text not null default 'text' check (notice_format in ('text', 'teams')),
  notice_secret bytea,
  -- The budget of its mails: each mail moves this time ahead, and it may be only so far ahead.
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
  -- A token ends with the password for which it was issued, whatever the clock says.
  password_version integer not null default 1,
  -- Algorithm and parameters of the hash, which determine the cost of a check. Null for a hash that no password
  -- matches.
  password_kind text generated always as (
    case
      when password_hash ~ '^[$]2[aby][$][0-9][0-9][$]' then '$2b$' || substring(password_hash, 5, 2)
      else substring(password_hash from '^[$]argon2id[$]v=19[$]m=[0-9]+,t=[0-9]+,p=[0-9]+')
    end) stored,
  created_at timestamptz not null default now(),
  unique (eshop_id, username)
);
create index users_by_password_kind on users (password_kind);

-- E-shops that a user of the warehouse sees in the console in addition to its own.
create table user_eshops (
  user_id integer not null references users (id) on delete cascade,
  eshop_id integer not null references eshops (id) on delete cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, eshop_id)
);
create index user_eshops_by_eshop on user_eshops (eshop_id);

-- Sessions of the console. A session ends at its time, with its user, and with the password that opened it.
create table console_sessions (
  -- SHA-256 of the cookie's value: a reader of this table cannot sign in with it.
  id_hash bytea primary key,
  user_id integer not null references users (id) on delete cascade,
  password_version integer not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index console_sessions_by_user on console_sessions (user_id);
create index console_sessions_by_end on console_sessions (expires_at);

-- The forms submitted in a session, by the SHA-256 of their unique tokens: none is accepted twice.
create table console_forms (
  id_hash bytea not null references console_sessions (id_hash) on delete cascade,
  form bytea not null,
  primary key (id_hash, form)
);

-- Further addresses for an e-shop's notices. An unconfirmed one gets nothing but the mail that asks for the
-- confirmation.
create table notice_addresses (
  id integer generated always as identity primary key,
  eshop_id integer not null references eshops (id),
  address text not null,
  confirmed_at timestamptz,
  -- When that mail was last asked for.
  asked_at timestamptz not null default now()
);
create unique index notice_addresses_once on notice_addresses (eshop_id, lower(address));

-- The tokens in the links of these mails. An address has several valid tokens if a mail was sent twice.
create table notice_tokens (
  -- SHA-256: a reader of this table cannot confirm anything.
  token_hash bytea primary key,
  address_id integer not null references notice_addresses (id) on delete cascade,
  expires_at timestamptz not null
);
create index notice_tokens_by_address on notice_tokens (address_id);
create index notice_tokens_by_end on notice_tokens (expires_at);

-- Failed logins, counted across all processes. The columns are those of rate-limiter-flexible's Postgres store.
create table login_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
create index login_limits_by_expiry on login_limits (expire);
