-- True: the workflow of the delivery is called delivery/<webhook id>/<type>/<entity id>/<id>. Null: delivery/<id>, since it was handed
-- over by a release that knew no other. Whoever claims a delivery for a workflow of its own decides, and it stays so from
-- its first attempt on.
alter table deliveries add column readable_id boolean;

-- During an upgrade workers of older releases run beside newer ones. They know nothing of this column: they may start a second
-- workflow of such a delivery, and cannot tell it from the right one. So they make no attempt of it, but leave it to the
-- newer ones, whose connections say that they know.
create function left_to_newer_releases() returns trigger language plpgsql as $$
begin
  if exists (select from deliveries d where d.id = new.delivery_id and d.readable_id and d.batch_id is null) then
    return null;
  end if;
  return new;
end
$$;
create trigger attempts_by_older_releases before insert on attempts
for each row when (current_setting('waybill.readable_ids', true) is distinct from 'on')
execute function left_to_newer_releases();
