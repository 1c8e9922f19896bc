-- What an operator asked of a delivery under way: what stands until it is lifted or done ('hold' or 'giveUp'), and all that
-- was asked, the oldest first: [{"id", "action", "by", "reason", "at"}].
alter table deliveries add column operator_stop text;
alter table deliveries add column operator_actions jsonb;
