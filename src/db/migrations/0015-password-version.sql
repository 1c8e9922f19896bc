-- A token ends with the password it was issued for, whatever the clock says.
alter table users add column password_version integer not null default 1;
-- Tokens from before carry no version and count as 1: where a password was replaced while one may still be good, they stay over.
update users set password_version = 2 where tokens_valid_from > now() - interval '2 hours';
