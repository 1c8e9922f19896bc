-- outside a transaction
-- Reads the tables once, beside everybody who reads and writes them.
alter table events validate constraint ends;
alter table deliveries validate constraint ends;
alter table attempts validate constraint ends;
