/**
 * Deliveries created by a recovery: new deliveries of earlier events. They have a class of their own, which is served
 * when no fresh delivery waits.
 */
import { currentTrace } from '../../traces/traces.ts';
import { deliveriesOfEvent } from '../deliveries/deliveries-of-events.ts';
import { anyOf, newId, ticks } from '../ids.ts';
import { isSettled } from '../predicates.ts';
import type { Search } from '../recoveries/lost-events.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { kindsOfRecord, orderingKey } from './ordering.ts';
import { CLASS } from './outbox.ts';

/**
 * Creates a delivery of each event, unless this recovery has created one before, or a redelivery of the event has
 * been requested since: such a request holds the lock on the event.
 * @returns how many were created
 */
export async function createRecoveredDeliveries(
  tx: Transaction,
  { recoveryId, eshopId, webhookId }: Pick<Search, 'eshopId' | 'webhookId'> & { readonly recoveryId: string },
  events: readonly { readonly id: string }[],
): Promise<number> {
  if (events.length === 0) return 0;
  const ids = events.map(({ id }) => id);
  await tx`
    select from events where ${anyOf(tx, tx`id`, ids)} order by id for no key update`;
  const key = orderingKey(tx, {
    eshopId: tx`${eshopId}::int`,
    kind: tx`kinds.kind`,
    recoveryId: tx`${recoveryId}::uuid`,
    entityId: tx`lost.entity_id`,
  });
  const created = await tx`
    with lost as materialized (
      select e.id, e.type, e.entity_id, e.sequence, row_number() over (order by e.id) as place from events e
      where ${anyOf(tx, tx`e.id`, ids)} and not exists (
        select from (${deliveriesOfEvent(tx, tx`e.id`, tx`d.webhook_id, d.state`)}) d
        where d.webhook_id = ${webhookId} and ${isSettled(tx)})),
    made as (
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id, recovery_id)
      select ${newId(tx, tx`now.ticks + lost.place`)}, lost.id, ${eshopId}, ${webhookId}, lost.entity_id, ${recoveryId}::uuid
      from lost, (select ${ticks(tx)} as ticks) as now
      on conflict (recovery_id, event_id) where recovery_id is not null do nothing
      returning delivery_id, event_id)
    insert into deliveries (
      id, event_id, eshop_id, webhook_id, event_type, entity_id, sequence,
      ordering_key, recovery_id, class, traceparent)
    select made.delivery_id, lost.id, ${eshopId}, ${webhookId}, lost.type, lost.entity_id, lost.sequence,
           ${key}, ${recoveryId}::uuid, ${CLASS.recovered}::smallint, ${currentTrace()?.traceparent ?? null}::text
    from made
    join lost on lost.id = made.event_id
    join ${kindsOfRecord(tx)} as kinds (type, kind) on kinds.type = lost.type
    order by made.delivery_id`;
  if (created.count > 0) wakeRelayAfter(tx, 'recovered');
  return created.count;
}
