/** The webhooks of an e-shop. `create.ts` and `change.ts` write them. */
import type { StoredIncident } from '../../domain/incident.ts';
import type { DeactivationReason, WebhookSettings } from '../../domain/webhook.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { counted, firstRow, type Sql } from '../connection/pool.ts';
import { incidentColumns, joinIncident } from '../incidents/failures.ts';
import { isPaused } from '../pauses.ts';
import { settingsColumns } from './columns.ts';

/** A webhook as stored, without its secrets, with its last deactivation and its incident. */
export interface WebhookRow extends WebhookSettings, StoredIncident {
  readonly id: number;
  /** The names of its static headers; null without any. */
  readonly headerNames: readonly string[] | null;
  readonly registeredAt: Date;
  readonly unregisteredAt: Date | null;
  /** When its present generation began; null for the first. */
  readonly generationAt: Date | null;
  /** When its pause ends; null if it is not paused. */
  readonly pausedUntil: Date | null;
  readonly deactivatedAt: Date | null;
  readonly deactivationReason: DeactivationReason | null;
  readonly deactivationDeliveryId: string | null;
  readonly deactivationError: string | null;
}

/** All columns of {@link WebhookRow}; the last deactivation is the one of the highest generation. */
export function selectWebhooks(sql: Sql) {
  return sql`
    select w.id, ${settingsColumns(sql, 'w')}, w.header_names, w.registered_at, w.unregistered_at, w.generation_at,
           case when ${isPaused(sql, 'w')} then w.paused_until end as paused_until,
           x.at as deactivated_at, x.reason as deactivation_reason, x.delivery_id as deactivation_delivery_id,
           x.last_error as deactivation_error, ${incidentColumns(sql)}
    from webhooks w
    left join lateral (
      select at, reason, delivery_id, last_error from deactivations
      where webhook_id = w.id order by generation desc limit 1) x on true
    ${joinIncident(sql)}`;
}

/** The webhook of this e-shop, or null if there is none or it is deleted. `id` may be any integer. */
export async function findWebhook(sql: Sql, eshopId: number, id: number): Promise<WebhookRow | null> {
  return await firstRow(sql<WebhookRow[]>`
    ${selectWebhooks(sql)}
    where w.id = ${id}::bigint and w.eshop_id = ${eshopId} and w.deleted_at is null`);
}

/** The facts about a webhook that a change to it needs. */
export interface LockedWebhook extends WebhookSettings {
  readonly id: number;
  readonly headers: Buffer | null;
  readonly generation: number;
  /** When its last pause ends or ended. */
  readonly pausedUntil: Date | null;
  readonly isPaused: boolean;
}

/** Locks the row of a webhook; null if there is none or it is deleted. */
export async function lockWebhook(tx: Sql, eshopId: number, id: number): Promise<LockedWebhook | null> {
  return await firstRow(tx<LockedWebhook[]>`
    select id, ${settingsColumns(tx)}, headers, generation, paused_until,
      coalesce(paused_until > clock_timestamp(), false) as is_paused
    from webhooks where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null for no key update`);
}

/** A webhook that this transaction has just written. */
export async function reload(tx: Sql, eshopId: number, id: number): Promise<WebhookRow> {
  const webhook = await findWebhook(tx, eshopId, id);
  if (webhook === null) throw new Error('A webhook just written is not there.');
  return webhook;
}

export async function countWebhooks(sql: Sql, eshopId: number): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select count(*)::integer as count from webhooks where eshop_id = ${eshopId} and deleted_at is null`);
}

export async function listWebhooks(
  sql: Sql,
  eshopId: number,
  page: { readonly limit: number; readonly offset: number } | null,
): Promise<WebhookRow[]> {
  return await sql<WebhookRow[]>`
    ${selectWebhooks(sql)}
    where w.eshop_id = ${eshopId} and w.deleted_at is null
    order by w.id
    ${page === null ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}`;
}

/** The webhook of an e-shop with the same URL and method, and any of the types; null if there is none. */
export async function findDuplicate(
  sql: Sql,
  eshopId: number,
  webhook: Pick<WebhookSettings, 'url' | 'webhookType' | 'additionalTypes' | 'method'>,
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id from webhooks
    where eshop_id = ${eshopId} and url = ${webhook.url} and method = ${webhook.method} and types && ${typesOf(webhook)}::text[]
      and deleted_at is null
    order by id limit 1`;
  return row?.id ?? null;
}

/** Whether a webhook has, or had, this id: the row of a deleted one stays. */
export async function isWebhookIdUsed(sql: Sql, id: number): Promise<boolean> {
  return (await sql`select 1 from webhooks where id = ${id}`).length > 0;
}
