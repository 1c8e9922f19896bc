/**
 * What writes have fired, read from the outbox.
 * @module
 */
import type { Pool } from '../../src/db/pool.ts';

/** One event with its deliveries. */
export interface FiredEvent {
  readonly type: string;
  /** The JSON text of the record. */
  readonly snapshot: string;
  readonly webhookIds: readonly number[];
}

/** The events of one record, oldest first. */
export async function firedEvents(sql: Pool, eshopId: number, entityId: string): Promise<FiredEvent[]> {
  return sql<FiredEvent[]>`
    select type, snapshot, array(
      select webhook_id from deliveries d where d.event_id = events.id order by webhook_id) as webhook_ids
    from events where eshop_id = ${eshopId} and entity_id = ${entityId} order by id`;
}

/** Only their types. */
export async function firedTypes(sql: Pool, eshopId: number, entityId: string): Promise<string[]> {
  return (await firedEvents(sql, eshopId, entityId)).map((event) => event.type);
}

/** Registers a webhook in the database: its own endpoints are not what is under test. */
export async function insertWebhook(
  sql: Pool,
  eshopId: number,
  type: string,
  state: { readonly active?: boolean; readonly deleted?: boolean } = {},
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret, deleted_at)
    values (${eshopId}, 'https://shop.example/hook', ${type}, 'POST', ${state.active ?? true}, 'v2',
      ${Buffer.from('sealed')}, ${state.deleted === true ? new Date() : null})
    returning id`;
  if (row === undefined) throw new Error('no webhook');
  return row.id;
}

/** Changes for the release timer of an order, oldest first. */
export async function releaseChanges(sql: Pool, eshopId: number, eshopOrderId: string): Promise<number> {
  const rows = await sql`
    select id from outbox
    where kind = 'orderReleaseChanged' and eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  return rows.length;
}
