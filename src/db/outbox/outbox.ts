/**
 * The transactional outbox as the relay sees it: deliveries not yet dispatched, and changes to be made known to
 * workflows. Rows are claimed under a lease: a relay that dies leaves them to the next.
 * @module
 */
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';

/**
 * How long a claimed row is left alone, in seconds, unless the claim is renewed: what a killed relay had claimed waits
 * this long.
 */
export const LEASE_SECONDS = 5;
/** How long a delivery that Temporal refused to start is left alone, in seconds. */
const REFUSED_SECONDS = 30;

/** A delivery to be started. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
}

/** Records that Temporal has these deliveries: the lasting guard against a second start. */
export async function markDispatched(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set dispatched_at = now(), claimed_until = null where id = any(${[...ids]}::uuid[])`;
}

/** Renews the claim on those of them that are still claimed. */
export async function renewDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update deliveries set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(${[...ids]}::uuid[]) and dispatched_at is null and claimed_until is not null`;
}

/** Leaves deliveries alone that Temporal refused to start: they are tried again, and stop nobody until then. */
export async function setAsideDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update deliveries set claimed_until = now() + make_interval(secs => ${REFUSED_SECONDS})
    where id = any(${[...ids]}::uuid[]) and dispatched_at is null`;
}

/** Gives claimed deliveries back at once, where their start failed. */
export async function releaseDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set claimed_until = null where id = any(${[...ids]}::uuid[]) and dispatched_at is null`;
}

/** Something that workflows under way must look at. */
export type ClaimedChange =
  | {
      readonly id: string;
      readonly kind: 'webhookChanged';
      readonly eshopId: number;
      readonly webhookId: number;
    }
  | {
      readonly id: string;
      readonly kind: 'orderReleaseChanged';
      readonly eshopId: number;
      readonly eshopOrderId: string;
    };

/** Claims up to `limit` changes, oldest first. */
export async function claimChanges(sql: Sql, limit: number): Promise<ClaimedChange[]> {
  return await sql<ClaimedChange[]>`
    update outbox set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id in (
      select id from outbox where claimed_until is null or claimed_until < now()
      order by id limit ${limit} for update skip locked)
    returning id, kind, eshop_id, webhook_id, eshop_order_id`;
}

/** Renews the claim on those of them that are still there. */
export async function renewChanges(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update outbox set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(${[...ids]}::bigint[]) and claimed_until is not null`;
}

/** Removes a change that has been made known. */
export async function removeChange(sql: Sql, id: string): Promise<void> {
  await sql`delete from outbox where id = ${id}`;
}

/** Gives claimed changes back at once. */
export async function releaseChanges(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`update outbox set claimed_until = null where id = any(${[...ids]}::bigint[])`;
}

/**
 * A page of the open deliveries of a webhook that may have a workflow, in the order of their ids. One that is
 * only claimed counts: its workflow may have read the webhook before the change.
 * @param after the last id of the page before, or null
 */
export async function openDeliveries(
  sql: Sql,
  webhookId: number,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from deliveries
    where webhook_id = ${webhookId} and state in ('pending', 'retrying')
      and (dispatched_at is not null or claimed_until is not null)
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit}`;
  return rows.map((row) => row.id);
}
