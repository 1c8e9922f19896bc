/**
 * Webhooks of all e-shops, as the operator sees them. Deleted ones do not exist here.
 * @module
 */
import type { Sql } from '../pool.ts';
import { callsHost } from './receivers.ts';
import { selectWebhooks, type WebhookRow } from './webhooks.ts';

/** Which webhooks; everything is optional. */
export interface AllWebhooksFilter {
  readonly id?: number | undefined;
  readonly eshopId?: number | undefined;
  readonly webhookType?: string | undefined;
  readonly active?: boolean | undefined;
  /** A host that they call, with its port or, for any port, without. */
  readonly receiver?: string | undefined;
}

/** A webhook with its e-shop and what is open of its deliveries, which are held where it is inactive. */
export interface OperatorsWebhook extends WebhookRow {
  readonly eshopId: number;
  readonly pending: number;
  readonly retrying: number;
}

/** Up to `limit` webhooks in the order of their ids. */
export async function listAllWebhooks(
  sql: Sql,
  filter: AllWebhooksFilter,
  limit: number,
): Promise<OperatorsWebhook[]> {
  const { id, eshopId, webhookType, active, receiver } = filter;
  return await sql<OperatorsWebhook[]>`
    select x.*, o.eshop_id, d.pending, d.retrying
    from (
      ${selectWebhooks(sql)}
      where w.deleted_at is null
        ${id === undefined ? sql`` : sql`and w.id = ${id}`}
        ${eshopId === undefined ? sql`` : sql`and w.eshop_id = ${eshopId}`}
        ${webhookType === undefined ? sql`` : sql`and w.webhook_type = ${webhookType}`}
        ${active === undefined ? sql`` : sql`and w.active = ${active}`}
        ${receiver === undefined ? sql`` : sql`and ${callsHost(sql, receiver)}`}
      order by w.id limit ${limit}) x
    join webhooks o on o.id = x.id
    cross join lateral (
      select count(*) filter (where state = 'pending')::int as pending,
             count(*) filter (where state = 'retrying')::int as retrying
      from deliveries where webhook_id = x.id and state in ('pending', 'retrying')) d
    order by x.id`;
}
