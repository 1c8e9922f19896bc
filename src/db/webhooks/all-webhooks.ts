/** Webhooks of all e-shops, as operators see them. Deleted ones are left out. */
import type { Sql } from '../connection/pool.ts';
import { CLASS } from '../outbox/outbox.ts';
import { isPaused, makesAttempts } from '../pauses.ts';
import { isOpen } from '../predicates.ts';
import { selectWebhooks, type WebhookRow } from './webhooks.ts';

interface AllWebhooksFilter {
  readonly id?: number | undefined;
  readonly eshopId?: number | undefined;
  /** Finds only webhooks of these e-shops that also meet the other conditions. */
  readonly among?: readonly number[] | undefined;
  /** Finds webhooks that have this type, and perhaps others as well. */
  readonly webhookType?: string | undefined;
  readonly active?: boolean | undefined;
  /** Finds webhooks that need attention: they are failing and not paused, or were deactivated because of failures. */
  readonly troubled?: boolean | undefined;
  /** Finds only paused ones. */
  readonly paused?: boolean | undefined;
  /** The host that they call, with its port, or without one for any port. */
  readonly receiver?: string | undefined;
  /** Webhooks whose due deliveries have waited longest come first; by default, the lowest numbers do. */
  readonly longestWaitFirst?: boolean;
}

export interface OperatorsWebhook extends WebhookRow {
  readonly eshopId: number;
  readonly pending: number;
  readonly retrying: number;
  /** How many `pending` and `retrying` ones operators hold while the webhook is active and not paused. */
  readonly heldByOperators: number;
  /** How many of `heldByOperators` are `retrying`. */
  readonly retriesHeldByOperators: number;
  /**
   * How long its oldest due delivery has waited for an attempt, in seconds; null if none is due. A recovered or held
   * delivery is not due, nor is one behind an older delivery of its record.
   */
  readonly oldestWaitSeconds: number | null;
}

/** Counts the open deliveries of a webhook by the state they show (docs/interface.md, L3). */
export function openByState(
  webhook: Pick<
    OperatorsWebhook,
    'active' | 'pausedUntil' | 'pending' | 'retrying' | 'heldByOperators' | 'retriesHeldByOperators'
  >,
): { readonly pending: number; readonly retrying: number; readonly held: number } {
  const { active, pausedUntil, pending, retrying, heldByOperators, retriesHeldByOperators } = webhook;
  if (!active || pausedUntil !== null) return { pending: 0, retrying: 0, held: pending + retrying };
  return {
    pending: pending - (heldByOperators - retriesHeldByOperators),
    retrying: retrying - retriesHeldByOperators,
    held: heldByOperators,
  };
}

export async function listAllWebhooks(sql: Sql, filter: AllWebhooksFilter, limit: number) {
  const {
    id,
    eshopId,
    among,
    webhookType,
    active,
    troubled,
    paused,
    receiver,
    longestWaitFirst = false,
  } = filter;
  return await sql<OperatorsWebhook[]>`
    select x.*, o.eshop_id, d.pending, d.retrying,
           case when x.active and x.paused_until is null then d.stopped else 0 end as held_by_operators,
           case when x.active and x.paused_until is null then d.retries_stopped else 0 end as retries_held_by_operators,
           extract(epoch from now() - d.due_since)::float8 as oldest_wait_seconds
    from (
      ${selectWebhooks(sql)}
      where w.deleted_at is null
        ${id === undefined ? sql`` : sql`and w.id = ${id}`}
        ${eshopId === undefined ? sql`` : sql`and w.eshop_id = ${eshopId}`}
        ${among === undefined ? sql`` : sql`and w.eshop_id = any(${[...among]}::int[])`}
        ${webhookType === undefined ? sql`` : sql`and ${webhookType} = any(w.types)`}
        ${active === undefined ? sql`` : sql`and w.active = ${active}`}
        ${troubled === true ? sql`and case when w.active then i.since is not null and ${isPaused(sql, 'w')} is not true else x.reason <> 'user' end` : sql``}
        ${paused === true ? sql`and ${isPaused(sql, 'w')}` : sql``}
        ${receiver === undefined ? sql`` : sql`and ${callsHost(sql, receiver.toLowerCase())}`}
      ${longestWaitFirst ? sql`` : sql`order by w.id limit ${limit}`}) x
    join webhooks o on o.id = x.id
    cross join lateral (
      select count(*) filter (where state = 'pending')::int as pending,
             count(*) filter (where state = 'retrying')::int as retrying,
             count(*) filter (where operator_stop = 'hold')::int as stopped,
             count(*) filter (where operator_stop = 'hold' and state = 'retrying')::int as retries_stopped,
             min(u.since) filter (where u.since < now() and operator_stop is null and ${makesAttempts(sql, 'o')}) as due_since
      from deliveries, lateral (select ${dueSince(sql)} as since) u
      where webhook_id = x.id and ${isOpen(sql, 'deliveries')}) d
    order by ${longestWaitFirst ? sql`d.due_since, ` : sql``}x.id limit ${limit}`;
}

/** Since when an open delivery of a webhook `o` has been due, as SQL; null if it waits for its turn. */
const dueSince = (sql: Sql) => sql`
  case when dispatched_at is null and class in (${CLASS.recovered}, ${CLASS.blocked}) then null
    else greatest(o.generation_at, o.paused_until, next_attempt_at, case
      when dispatched_at is not null then greatest(dispatched_at, last_attempt_at)
      when class in (${CLASS.retry}, ${CLASS.undelivered}) then due_at
      -- A delivery that got no permit was deferred: its due time has moved.
      else created_at end) end`;

/** The condition that a webhook `w` calls a host, given with its port, or without one for any port, as SQL. */
const callsHost = (sql: Sql, host: string) => sql`(w.host = ${host} or starts_with(w.host, ${`${host}:`}))`;
