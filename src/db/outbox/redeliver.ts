/**
 * An event once more, to the same webhook: a delivery of its own, which goes the way of all others.
 * @module
 */
import { v7 as uuidv7 } from 'uuid';
import { isOpen, type StoredState } from '../../domain/delivery-state.ts';
import type { Pool } from '../pool.ts';
import { type Transaction, transaction, wakeRelayAfter } from '../transaction.ts';

/** What came of asking for a redelivery. `open`: that delivery of the same event to the same webhook has not ended. */
export type Redelivery =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'open'; readonly id: string }
  | { readonly kind: 'inactive'; readonly webhookId: number }
  | { readonly kind: 'notFound' };

interface Asked {
  readonly webhookId: number;
  readonly state: StoredState;
  readonly active: boolean;
  /** A redelivery, or a delivery of a recovery, that has not ended. */
  readonly openId: string | null;
}

/** @param tx holds the lock on the event: of two who ask at the same moment the second finds what the first has written */
async function read(tx: Transaction, eshopId: number, deliveryId: string): Promise<Asked | undefined> {
  const [row] = await tx<Asked[]>`
    select d.webhook_id, d.state, w.active, (
      select o.id from deliveries o
      where o.event_id = d.event_id and o.webhook_id = d.webhook_id and o.id <> d.id and o.state in ('pending', 'retrying')
      limit 1) as open_id
    from deliveries d join webhooks w on w.id = d.webhook_id
    where d.id = ${deliveryId} and d.eshop_id = ${eshopId} and w.deleted_at is null`;
  return row;
}

/** Makes a new delivery of the event of an ended one, unless one is under way already. */
export async function redeliver(sql: Pool, eshopId: number, deliveryId: string): Promise<Redelivery> {
  return await transaction(sql, async (tx): Promise<Redelivery> => {
    await tx`
      select from events e join deliveries d on d.event_id = e.id
      where d.id = ${deliveryId} and d.eshop_id = ${eshopId} for no key update of e`;
    const asked = await read(tx, eshopId, deliveryId);
    if (asked === undefined) return { kind: 'notFound' };
    const { webhookId, state, active, openId } = asked;
    if (!active) return { kind: 'inactive', webhookId };
    if (isOpen(state)) return { kind: 'open', id: deliveryId };
    if (openId !== null) return { kind: 'open', id: openId };
    const id = uuidv7();
    await tx`
      with made as (
        insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
        select ${id}, event_id, eshop_id, webhook_id, event_type, entity_id from deliveries where id = ${deliveryId}
        returning id, event_id, webhook_id)
      insert into redeliveries (delivery_id, event_id, webhook_id, redelivers)
      select id, event_id, webhook_id, ${deliveryId} from made`;
    wakeRelayAfter(tx);
    return { kind: 'created', id };
  });
}
