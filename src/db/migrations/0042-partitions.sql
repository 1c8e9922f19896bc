-- The tables become partitioned, and what they held their first partition. The lock on all three is held
-- briefly: no row is read or written, since the constraint proves where the first partition ends, and its indexes
-- become parts of the new ones as they are.
do $$
declare
  boundary uuid := (select value from settings where name = 'partitions begin at');
  begins timestamptz := to_timestamp(('x' || left(replace(boundary::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
  tables text[] := array['events', 'deliveries', 'attempts'];
  keys text[] := array['id', 'id', 'delivery_id'];
  tab text;
  key text;
  index record;
  indexes text[];
  definition text;
begin
  -- All at once, or none: whoever has waited for one of them waits for nothing more.
  lock table events, deliveries, attempts in access exclusive mode;
  for i in 1..3 loop
    tab := tables[i];
    key := keys[i];
    select coalesce(array_agg(pg_get_indexdef(indexrelid)), '{}') into indexes
      from pg_index where indrelid = tab::regclass and not indisprimary;
    for index in select indexrelid::regclass::text as name from pg_index where indrelid = tab::regclass loop
      execute format('alter index %I rename to %I', index.name, replace(index.name, tab, tab || '_first'));
    end loop;
    execute format('alter table %I rename to %I', tab, tab || '_first');
    execute format('create table %I (like %I including all excluding indexes) partition by range (%I)', tab, tab || '_first', key);
    execute format('alter table %I drop constraint ends', tab);
    execute format('alter table %I add constraint %I primary key (%s)', tab, tab || '_pkey',
      case tab when 'attempts' then 'delivery_id, number' else 'id' end);
    foreach definition in array indexes loop
      execute definition;
    end loop;
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', tab, tab || '_first', boundary);
    execute format('alter table %I drop constraint ends', tab || '_first');
    -- For ids of a clock that is far off. It stays empty, or is emptied.
    execute format('create table %I partition of %I default', tab || '_default', tab);
    -- The first week; later ones are made by the program.
    execute format('create table %I partition of %I for values from (%L) to (%L)',
      tab || '_' || to_char(begins at time zone 'UTC', 'YYYYMMDD'), tab, boundary,
      (lpad(to_hex((extract(epoch from begins + interval '7 days') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid);
  end loop;
  delete from settings where name = 'partitions begin at';
end $$;
