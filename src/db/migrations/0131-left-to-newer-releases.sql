-- What else an older release does not know of: that an event is a test, which its attempts have to say, and that an operator has stopped a
-- delivery. Its workers begin no attempt of either, in a batch or not.
create or replace function left_to_newer_releases() returns trigger language plpgsql as $$
begin
  if exists (
    select from deliveries d
    where d.id = new.delivery_id
      and (
        (d.readable_id and d.batch_id is null)
        or d.operator_stop is not null
        or exists (select from events e where e.id = d.event_id and e.test)
      )
  ) then
    return null;
  end if;
  return new;
end
$$;
