/** The events that a webhook lost. */
import { v7 as uuidv7 } from 'uuid';
import type { Pool, Sql } from '../../../src/db/connection/pool.ts';
import { type Transaction, transaction } from '../../../src/db/transaction.ts';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import type { Recoverable } from '../../../src/domain/recovery.ts';
import { recordEvent } from '../database/record-event.ts';

/** The e-shop of the events, and the webhook that lost them. */
export interface Lost {
  readonly sql: Pool;
  readonly eshopId: number;
  readonly webhookId: number;
}

/** Fires an event; answers its id. */
export async function fireEvent(
  { sql, eshopId }: Pick<Lost, 'sql' | 'eshopId'>,
  entityId: string,
  type: EventType = 'CREATE_ORDER',
): Promise<string> {
  return await transaction(sql, (tx) => fireWithin(tx, eshopId, entityId, type));
}

/** The same in a transaction of the test's. */
export async function fireWithin(
  tx: Transaction,
  eshopId: number,
  entityId: string,
  type: EventType = 'CREATE_ORDER',
) {
  const record = { eshopOrderId: entityId };
  await recordEvent(tx, { eshopId, type, entityId, record });
  const [row] = await tx<{ id: string }[]>`
    select id from events where eshop_id = ${eshopId} and entity_id = ${entityId} order by id desc limit 1`;
  if (row === undefined) throw new Error(`no event of ${entityId}`);
  return row.id;
}

/** Fires events whose deliveries to the webhook, if any, ended in this state; answers the ids of the events. */
export async function loseEvents(
  lost: Lost,
  state: Recoverable | StoredState,
  entityIds: readonly string[],
): Promise<string[]> {
  return await transaction(lost.sql, async (tx) => {
    // No claim takes them before they have ended.
    const unclaimed = Object.assign(tx, { claims: () => false });
    const ids: string[] = [];
    const setActive = (active: boolean) =>
      tx`update webhooks set active = ${active} where id = ${lost.webhookId}`;
    if (state === 'missed') await setActive(false);
    for (const entityId of entityIds)
      ids.push(await fireWithin(unclaimed, lost.eshopId, entityId, 'CREATE_ORDER'));
    if (state === 'missed') await setActive(true);
    else await endDeliveries({ ...lost, sql: tx }, state, ids);
    return ids;
  });
}

/** This many lost events at once; their entities are `lost 0`, `lost 1` and so on. */
export async function loseMany({ sql, eshopId, webhookId }: Lost, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    return { id, delivery: `${id.slice(0, 26)}${id.slice(-10)}`, entity: `lost ${index}` };
  });
  await sql`
    with lost as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as l (id uuid, delivery uuid, entity text)),
    happened as (
      insert into events (id, eshop_id, type, entity_id, snapshot)
      select id, ${eshopId}, 'CREATE_ORDER', entity, json_build_object('eshopOrderId', entity)::text from lost)
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, dispatched_at, finished_at)
    select delivery, id, ${eshopId}, ${webhookId}, 'CREATE_ORDER', entity, 'failed', now(), now() from lost`;
}

/** Ends the deliveries of events to the webhook without an attempt. */
export async function endDeliveries(
  { sql, webhookId }: Pick<Lost, 'webhookId'> & { readonly sql: Sql },
  state: StoredState,
  eventIds: readonly string[],
): Promise<void> {
  await sql`
    update deliveries set state = ${state}, dispatched_at = now(), finished_at = now(), next_attempt_at = null
    where webhook_id = ${webhookId} and event_id = any(${[...eventIds]}::uuid[])`;
}

/** The deliveries that a recovery created, oldest first. */
export const recoveredBy = (sql: Pool, recoveryId: string) =>
  sql<{ id: string; eventId: string; entityId: string; state: StoredState }[]>`
    select id, event_id, entity_id, state from deliveries where recovery_id = ${recoveryId} order by id`;
