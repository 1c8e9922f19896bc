-- Whom the requests of a webhook go to: what is in flight is bounded per destination as well.
alter table webhooks add column host text generated always as (lower(substring(url from '^[A-Za-z]+://([^/?#]*)'))) stored;
