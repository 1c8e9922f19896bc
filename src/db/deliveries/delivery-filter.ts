/** The conditions of lists of deliveries, as SQL. */
import type postgres from 'postgres';
import type { DeliveryState } from '../../domain/delivery-state.ts';
import { isAccepted, type StatusFilter } from '../../domain/status-filter.ts';
import type { Sql } from '../connection/pool.ts';
import { betweenTimes, type Times } from '../id-range.ts';
import { makesAttempts } from '../pauses.ts';
import { isOpen } from '../predicates.ts';

/** Selects deliveries of an e-shop; `since` and `until` are times of their events. */
export interface AllDeliveriesFilter extends Times {
  readonly state?: DeliveryState | undefined;
  readonly entityId?: string | undefined;
  /** When the deliveries themselves were created. */
  readonly created?: Times | undefined;
  readonly webhookId?: number | undefined;
  /** Finds only deliveries of these webhooks that also meet the other conditions. */
  readonly among?: readonly number[] | undefined;
  readonly webhookType?: string | undefined;
  /** The status of the last attempt, or of any. */
  readonly status?: StatusFilter | undefined;
}

/** The webhooks that may have matching deliveries, as SQL. */
export function webhooksOf(sql: Sql, eshopId: number, filter: AllDeliveriesFilter) {
  const { webhookId, among, webhookType, state } = filter;
  const open = state === 'pending' || state === 'retrying';
  const ofType = (type: string) => sql`
    select from webhook_types t
    where t.eshop_id = ${eshopId} and t.type = ${type} and t.webhook_id = w.id`;
  return sql`
    select w.id, ${makesAttempts(sql, 'w')} as sends from webhooks w
    where w.eshop_id = ${eshopId} and w.deleted_at is null
      ${webhookId === undefined ? sql`` : sql`and w.id = ${webhookId}::bigint`}
      ${among === undefined ? sql`` : sql`and w.id = any(${[...among]}::bigint[])`}
      ${open ? sql`and ${makesAttempts(sql, 'w')}` : sql``}
      ${webhookType === undefined ? sql`` : sql`and exists (${ofType(webhookType)})`}`;
}

/** A literal instead of a parameter, so that the planner sees which partial index applies. */
export function inState(sql: Sql, state: Exclude<DeliveryState, 'held'>) {
  const open = state === 'pending' || state === 'retrying';
  const held = open ? sql`and d.operator_stop is distinct from 'hold'` : sql``;
  return sql`d.state = ${sql.unsafe(`'${state}'`)} ${held}`;
}

/** The condition that an attempt of a delivery `d` has failed, as the partial index has it. */
const hasFailed = (sql: Sql) => sql`(
  d.attempts_made > 1 or d.attempts_made = 1 and (d.last_status is null or d.last_status not between 200 and 299))`;

/** The condition that the last attempt of a delivery `d`, or any, has such a status, as SQL. */
export function withStatus(sql: Sql, { range, attempts }: StatusFilter) {
  const matches = (status: postgres.Fragment) =>
    range === null ? sql`${status} is null` : sql`${status} between ${range.from} and ${range.to}`;
  // An accepted attempt is always the last one.
  if (isAccepted(range)) return sql`and d.state = 'delivered' and ${matches(sql`d.last_status`)}`;
  const failed = hasFailed(sql);
  if (attempts === 'last') return sql`and ${failed} and ${matches(sql`d.last_status`)}`;
  return sql`and ${failed} and exists (
    select from attempts a where a.delivery_id = d.id and a.finished_at is not null and ${matches(sql`a.status`)})`;
}

/** Longer than a transaction takes to create deliveries, in milliseconds: a statement ends after ten seconds. */
const MAX_CREATION_MS = 5 * 60_000;

/**
 * The condition that a delivery `d` was created within these times, as SQL. The time in its id is that of its
 * transaction, so the index by id excludes most others.
 */
export function createdWithin(sql: Sql, { since, until }: Times = {}) {
  const latest = until === undefined ? undefined : new Date(until.getTime() + MAX_CREATION_MS);
  return sql`
    ${betweenTimes(sql, sql`d.id`, { since, until: latest })}
    ${since === undefined ? sql`` : sql`and d.created_at >= ${since}`}
    ${until === undefined ? sql`` : sql`and d.created_at < ${until}`}`;
}

/** Whether few deliveries are in this state. */
export function isRare(state: DeliveryState | undefined): state is Exclude<DeliveryState, 'delivered'> {
  return state !== undefined && state !== 'delivered';
}

/** The condition that a delivery `d` is in the part that is read for a rare state, as SQL. */
export function indexedSubset(sql: Sql, state: Exclude<DeliveryState, 'delivered'>) {
  return state === 'failed' || state === 'expired' || state === 'canceled'
    ? sql`and ${inState(sql, state)}`
    : sql`and ${isOpen(sql)}`;
}

/** The condition of deliveries `d` that a list looks through one by one, as SQL; null if an index finds them. */
export function scannedCondition(sql: Sql, { entityId, state, status }: AllDeliveriesFilter) {
  if (entityId !== undefined) return null;
  const isIndexed = isRare(state) && state !== 'superseded';
  if (status === undefined) return state === undefined || isIndexed ? null : sql``;
  if (isIndexed) return indexedSubset(sql, state);
  return isAccepted(status.range) ? sql`` : sql`and ${hasFailed(sql)}`;
}
