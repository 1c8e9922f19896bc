-- Failed logins, counted for all processes together. The columns are those of rate-limiter-flexible's Postgres store.

create table login_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
create index login_limits_by_expiry on login_limits (expire);
