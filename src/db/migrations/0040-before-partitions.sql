-- Events, deliveries and attempts become partitions by time, in three steps, so that nobody waits for long: here each
-- table promises where its ids end, 0041 checks that for the rows that are there, 0042 makes it the first partition.
-- Ids are UUIDv7, so a time is a place among them. The end is a Monday at least two days ahead, later than any id:
-- until 0042 has run, the tables still take what is written meanwhile.
do $$
declare
  latest timestamptz;
  boundary uuid;
begin
  select greatest(now(), max(to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)))
    into latest
    from ((select id from events order by id desc limit 1) union all (select id from deliveries order by id desc limit 1)
      union all (select delivery_id from attempts order by delivery_id desc limit 1)) newest (id);
  boundary := (lpad(to_hex((extract(epoch from date_trunc('week', latest + interval '8 days', 'UTC')) * 1000)::bigint), 12, '0')
    || repeat('0', 20))::uuid;
  insert into settings (name, value) values ('partitions begin at', boundary::text);
  -- "Not valid": holds for what is written from now on. A lock for an instant, not for a scan.
  execute format('alter table events add constraint ends check (id < %L) not valid', boundary);
  execute format('alter table deliveries add constraint ends check (id < %L) not valid', boundary);
  execute format('alter table attempts add constraint ends check (delivery_id < %L) not valid', boundary);
end $$;
