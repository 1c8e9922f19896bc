/** Redelivery: the same event to the same webhook, as a new delivery that is handled like any other. */
import { isOpen as isOpenState, type StoredState } from '../../domain/delivery-state.ts';
import { currentTrace } from '../../traces/traces.ts';
import { deliveriesOfEvent } from '../deliveries/deliveries-of-events.ts';
import { newId, ticks } from '../ids.ts';
import { isOpen } from '../predicates.ts';
import { type Database, transaction, wakeRelayAfter } from '../transaction.ts';

/** The result of a request for a redelivery. `open`: this delivery, of the same event and webhook, has not ended. */
export type Redelivery =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'open'; readonly id: string }
  | { readonly kind: 'inactive'; readonly webhookId: number }
  /** The event is no longer kept: there is nothing left to send. */
  | { readonly kind: 'forgotten' }
  | { readonly kind: 'notFound' };

interface DeliveryToRepeat {
  readonly webhookId: number;
  readonly state: StoredState;
  readonly active: boolean;
  /** A redelivery, or a delivery of a recovery, that has not ended. */
  readonly openId: string | null;
}

/**
 * Creates a new delivery of the event of an ended one, unless one is open already. Concurrent requests for the same
 * event wait for this transaction.
 */
export async function redeliver(sql: Database, eshopId: number, deliveryId: string): Promise<Redelivery> {
  return await transaction(sql, async (tx) => {
    const events = await tx`
      select from events e join deliveries d on d.event_id = e.id
      where d.id = ${deliveryId} and d.eshop_id = ${eshopId} for no key update of e`;
    // Under the lock on the event: of two simultaneous requests, the second finds the first one's delivery.
    const [asked] = await tx<DeliveryToRepeat[]>`
      select asked.webhook_id, asked.state, w.active, (
        select o.id from (${deliveriesOfEvent(tx, tx`asked.event_id`, tx`d.id, d.webhook_id, d.state`)}) o
        where o.webhook_id = asked.webhook_id and o.id <> asked.id and ${isOpen(tx, 'o')}
        limit 1) as open_id
      from deliveries asked join webhooks w on w.id = asked.webhook_id
      where asked.id = ${deliveryId} and asked.eshop_id = ${eshopId} and w.deleted_at is null`;
    if (asked === undefined) return { kind: 'notFound' };
    const { webhookId, state, active, openId } = asked;
    if (!active) return { kind: 'inactive', webhookId };
    if (isOpenState(state)) return { kind: 'open', id: deliveryId };
    if (openId !== null) return { kind: 'open', id: openId };
    if (events.count === 0) return { kind: 'forgotten' };
    const [made] = await tx<{ id: string }[]>`
      with made as (
        insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, sequence, traceparent)
        select ${newId(tx, ticks(tx))}, event_id, eshop_id, webhook_id, event_type, entity_id, sequence,
               ${currentTrace()?.traceparent ?? null}::text
        from deliveries where id = ${deliveryId}
        returning id, event_id, eshop_id, webhook_id, entity_id)
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id, redelivers)
      select id, event_id, eshop_id, webhook_id, entity_id, ${deliveryId} from made returning delivery_id as id`;
    // A delivery older than the retention may be dropped at any time.
    if (made === undefined) return { kind: 'notFound' };
    wakeRelayAfter(tx, 'fresh');
    return { kind: 'created', id: made.id };
  });
}
