/** The events that writes fired, read from the outbox. */
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import type { Pool } from '../../../src/db/connection/pool.ts';
import { deleteWebhook } from '../../../src/db/webhooks/change.ts';
import { createWebhook } from '../../../src/db/webhooks/create.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import { testWebhook, unreadable } from '../test-webhook.ts';

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

/** Creates a webhook without the API, for tests of other endpoints. */
export async function insertWebhook(
  sql: Pool,
  eshopId: number,
  webhookType: EventType,
  state: { readonly active?: boolean; readonly deleted?: boolean } = {},
): Promise<number> {
  const input = testWebhook({ webhookType, active: state.active ?? true });
  const webhook = await createWebhook(sql, eshopId, input, unreadable, 1_000);
  if (webhook === null) throw new Error('too many webhooks');
  if (state.deleted === true) await deleteWebhook(sql, eshopId, webhook.id);
  return webhook.id;
}

/** Creates an e-shop with a webhook. */
export async function insertShop(sql: Pool): Promise<{ eshopId: number; webhookId: number }> {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  return { eshopId, webhookId: await insertWebhook(sql, eshopId, 'CREATE_ORDER') };
}

/** Changes for the release timer of an order, oldest first. */
export async function releaseChanges(sql: Pool, eshopId: number, eshopOrderId: string): Promise<number> {
  const rows = await sql`
    select id from changes_to_signal
    where kind = 'orderReleaseChanged' and eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  return rows.length;
}
