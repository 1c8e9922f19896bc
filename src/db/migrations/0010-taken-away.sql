-- What an operator takes away: an e-shop that is disabled, tokens from before a password was replaced.
alter table eshops add column disabled_at timestamptz;
alter table users add column tokens_valid_from timestamptz not null default '-infinity';
