/**
 * Changes on their way to the workflows that must look at them. A change of a webhook is passed on page by page, and its
 * row says how far it is: a relay that dies leaves the rest to the next, and webhooks take turns.
 */
import { MAX, NIL } from 'uuid';
import type { Sql } from '../pool.ts';
import { leasesOf } from './lease.ts';
import { type ClaimedDelivery, leaseEnd } from './outbox.ts';

/** Renews the claims on changes, or gives them back. */
export const { renew: renewChanges, release: releaseChanges } = leasesOf('outbox');

/** A change of a webhook, on its way to the open deliveries. */
export interface WebhookChange {
  readonly id: string;
  readonly webhookId: number;
  /** The last delivery told on this way round, or null. */
  readonly toldId: string | null;
  /** Where this way round ends; null: with the last delivery. */
  readonly untilId: string | null;
  /** Where the next way round ends; null where this is the last. */
  readonly againUntilId: string | null;
  readonly version: number;
  /** The webhook is active: whoever is told makes an attempt. */
  readonly wakes: boolean;
  /** The webhook was deleted. */
  readonly deleted: boolean;
}

/** Claims up to `limit` changes of webhooks that are due, the longest due first. */
export async function claimWebhookChanges(sql: Sql, limit: number): Promise<WebhookChange[]> {
  return await sql<WebhookChange[]>`
    update outbox o set claimed_until = ${leaseEnd(sql)}
    from webhooks w
    where w.id = o.webhook_id and o.id in (
      select id from outbox
      where kind = 'webhookChanged' and due_at <= now() and (claimed_until is null or claimed_until < now())
      order by due_at, id limit ${limit} for update skip locked)
    returning o.id, o.webhook_id, o.told_id, o.until_id, o.again_until_id, o.version,
              w.active and w.deleted_at is null as wakes, w.deleted_at is not null as deleted`;
}

/** An open delivery that is told of a change. */
export type ToldDelivery = Omit<ClaimedDelivery, 'eshopId' | 'receiverHost'>;

/**
 * A page of the open deliveries that are told next, in the order of their ids. One that is only claimed counts: its
 * workflow may have read the webhook before the change. One that a batch holds has none.
 */
export async function nextToTell(sql: Sql, change: WebhookChange, limit: number): Promise<ToldDelivery[]> {
  const { webhookId, toldId, untilId } = change;
  return await sql<ToldDelivery[]>`
    select d.id, d.webhook_id, d.event_type, d.entity_id from deliveries d
    where d.webhook_id = ${webhookId} and d.state in ('pending', 'retrying')
      and (d.dispatched_at is not null or d.claimed_until is not null) and d.batch_id is null
      and d.id > ${toldId ?? NIL}::uuid and d.id <= ${untilId ?? MAX}::uuid
    order by d.id limit ${limit}`;
}

/** How far a change has come with a page. */
export interface Progress {
  readonly toldId: string | null;
  readonly untilId: string | null;
  readonly againUntilId: string | null;
}

/** Notes how far a change has come and gives it back, behind those that wait. Where another one joined meanwhile, the page is told again. */
export async function noteProgress(sql: Sql, change: WebhookChange, progress: Progress): Promise<void> {
  const { toldId, untilId, againUntilId } = progress;
  const noted = await sql`
    update outbox set claimed_until = null, due_at = now(),
      told_id = ${toldId}, until_id = ${untilId}, again_until_id = ${againUntilId}
    where id = ${change.id} and version = ${change.version}`;
  if (noted.count === 0) await releaseChanges(sql, [change.id]);
}

/** Removes a change that every open delivery was told of, unless another one joined it meanwhile. */
export async function endWebhookChange(sql: Sql, change: WebhookChange): Promise<void> {
  const removed = await sql`delete from outbox where id = ${change.id} and version = ${change.version}`;
  if (removed.count === 0) await releaseChanges(sql, [change.id]);
}

/** A change of a pre-order's release, on its way to its timer. */
export interface ReleaseChange {
  readonly id: string;
  readonly eshopId: number;
  readonly eshopOrderId: string;
}

/**
 * Claims up to `limit` changes of releases. Those that are due take turns by e-shop, each e-shop's longest due first, so that one with
 * very many makes only itself wait; the others follow in the order in which they will be due.
 */
export async function claimReleaseChanges(sql: Sql, limit: number): Promise<ReleaseChange[]> {
  const waiting = sql`o.kind = 'orderReleaseChanged'`;
  const unclaimed = sql`(o.claimed_until is null or o.claimed_until < now())`;
  return await sql<ReleaseChange[]>`
    with recursive
    eshops as (
      (select o.eshop_id from outbox o where ${waiting} order by o.eshop_id limit 1)
      union all
      select next.eshop_id from eshops e cross join lateral (
        select o.eshop_id from outbox o where ${waiting} and o.eshop_id > e.eshop_id order by o.eshop_id limit 1) next),
    heads as (
      select head.*, row_number() over (partition by e.eshop_id order by head.due_at, head.id) as turn
      from eshops e cross join lateral (
        select o.id, o.due_at from outbox o
        where ${waiting} and o.eshop_id = e.eshop_id and ${unclaimed}
        order by o.due_at, o.id limit ${limit}) head),
    chosen as (
      select locked.id from (
        select * from heads order by due_at > now(), case when due_at <= now() then turn end, due_at, id
        limit ${limit}) h
      cross join lateral (
        select o.id from outbox o where o.id = h.id and ${unclaimed} limit 1 for update skip locked) locked)
    update outbox o set claimed_until = ${leaseEnd(sql)}
    from chosen where o.id = chosen.id
    returning o.id, o.eshop_id, o.eshop_order_id`;
}

/** Removes changes that have been made known. */
export async function removeChanges(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from outbox where id = any(${[...ids]}::bigint[])`;
}
