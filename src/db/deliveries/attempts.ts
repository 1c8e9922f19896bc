/** Attempts: how they are read, begun and given up, for one delivery or many. Each step may be repeated. */
import type postgres from 'postgres';
import type { RecordedOutcome, StoredState } from '../../domain/delivery-state.ts';
import type { OperatorAction, OperatorStop } from '../../domain/operator-action.ts';
import type { SentEvent } from '../../domain/payload.ts';
import type { WebhookWithSecrets } from '../../domain/test-delivery.ts';
import type { Ordering } from '../../domain/webhook-fields.ts';
import type { Sql } from '../connection/pool.ts';
import { anyOf, inIdRange, notIndexable } from '../ids.ts';
import { makesAttempts, movedByPauses } from '../pauses.ts';
import { isOpen, isUnderWay } from '../predicates.ts';
import { requestColumns } from '../webhooks/columns.ts';
import { signingKeyColumns } from '../webhooks/with-secrets.ts';

/** The data that an attempt reads: the delivery, its event's snapshot, and the webhook as it is now. */
export interface DeliveryForAttempt
  extends Omit<WebhookWithSecrets, 'webhookType' | 'additionalTypes'>,
    SentEvent {
  readonly id: string;
  readonly state: StoredState;
  readonly attemptsMade: number;
  /** When the window began, moved by the pauses of its webhook since then. */
  readonly windowStartedAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** The webhook's generation at the last attempt. */
  readonly lastGeneration: number | null;
  /** The webhook's generation when an attempt was last deferred; null if none was. */
  readonly deferredGeneration: number | null;
  /** The outcome of the last recorded attempt. */
  readonly lastOutcome: RecordedOutcome | null;
  readonly lastAttemptAt: Date | null;
  /** The total delay of its recorded attempts because of outages, in milliseconds. */
  readonly lateBeforeMs: number;
  /** Outages left no room for the remaining attempts. */
  readonly windowLost: boolean;
  /** The operator stop in effect, and all operator actions. */
  readonly operatorStop: OperatorStop | null;
  readonly operatorActions: readonly OperatorAction[] | null;
  /** When its event's transaction began. */
  readonly createdAt: Date;
  readonly recoveryId: string | null;
  /** The point of the trace that it comes from. */
  readonly traceparent: string | null;
  /** The host in the URL; null if it has none. */
  readonly receiverHost: string | null;
  readonly active: boolean;
  readonly generation: number;
  /** Another one after each change to the webhook: the transaction that wrote its row. */
  readonly webhookVersion: string;
  /** Since when the webhook has had this generation; null if it never rose. */
  readonly generationAt: Date | null;
  readonly deletedAt: Date | null;
  /** When the last pause of its webhook ends or ended; null if it never was paused. */
  readonly pausedUntil: Date | null;
  /** JSON text of the record after the write, in its v2 form. */
  readonly snapshot: string;
  readonly ordering: Ordering;
  /** The latest time until which the next attempt has an owner; null if it has none. */
  readonly underWayUntil: Date | null;
}

/**
 * Deliveries `d` with their webhooks and last attempts: the columns of a `DeliveryForAttempt`. If the database's
 * clock was set back after the last attempt, the wait for the next one stays as planned, and no owner keeps an
 * attempt for longer than it asked for.
 */
const forAttempt = (sql: Sql, snapshot: postgres.Fragment) => sql`
    select d.id, d.event_id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.sequence::float8 as sequence,
           d.state, d.attempts_made,
           ${movedByPauses(sql, 'w', sql`d.window_started_at`)} as window_started_at,
           case when d.last_attempt_at > clock_timestamp() then d.next_attempt_at - (d.last_attempt_at - clock_timestamp())
             else d.next_attempt_at end as next_attempt_at,
           d.last_status, d.last_error, d.last_generation, d.deferred_generation,
           least(d.last_attempt_at, clock_timestamp()) as last_attempt_at,
           d.late_ms::float8 as late_before_ms, d.window_lost, d.operator_stop, d.operator_actions,
           d.created_at, d.recovery_id, d.traceparent,
           a.outcome as last_outcome,
           ${requestColumns(sql, 'w')}, w.host as receiver_host, w.active, w.generation, w.generation_at,
           w.xmin::text as webhook_version,
           w.paused_until, w.headers, w.secret, w.previous_secret, w.previous_secret_until,
           ${signingKeyColumns(sql)}, w.deleted_at, w.ordering,
           ${snapshot} as snapshot, e.test is true as test, e.happened_at, e.origin, e.changed,
           (select least(n.owned_until, clock_timestamp() + (n.owned_until - n.started_at)) from attempts n
            where n.delivery_id = d.id and n.number = d.attempts_made + 1 and ${isUnderWay(sql, 'n')})
             as under_way_until,
           clock_timestamp() as now
    from deliveries d
    join webhooks w on w.id = d.webhook_id
    join events e on e.id = d.event_id
    left join attempts a on a.delivery_id = d.id and a.number = d.attempts_made`;

export async function loadForAttempt(sql: Sql, deliveryId: string): Promise<DeliveryForAttempt | undefined> {
  return (await loadForAttempts(sql, [deliveryId])).get(deliveryId);
}

/** Reads deliveries, by id. Unknown ids are left out. */
export async function loadForAttempts(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeliveryForAttempt>> {
  // One large record may go to a hundred webhooks: the database sends it once.
  const once = sql`case row_number() over (partition by d.event_id) when 1 then e.snapshot end`;
  const rows = await sql<(Omit<DeliveryForAttempt, 'snapshot'> & { readonly snapshot: string | null })[]>`
    ${forAttempt(sql, ids.length === 1 ? sql`e.snapshot` : once)} where ${anyOf(sql, sql`d.id`, ids)}`;
  const snapshots = new Map(
    rows
      .map(({ eventId, snapshot }) => [eventId, snapshot] as const)
      .filter(([, snapshot]) => snapshot !== null),
  );
  return new Map(
    rows.map((row) => [row.id, { ...row, snapshot: row.snapshot ?? snapshots.get(row.eventId) ?? '' }]),
  );
}

/** A step of the delivery's workflow: from now on Temporal has it, and it is no longer in the queue. */
export async function leaveQueue(sql: Sql, deliveryId: string): Promise<void> {
  await sql`
    update deliveries set dispatched_at = clock_timestamp(), claimed_until = null, claim_id = null
    where id = ${deliveryId} and dispatched_at is null`;
}

export interface NewAttempt {
  readonly deliveryId: string;
  readonly number: number;
  /** The webhook's generation as read. */
  readonly generation: number;
  /**
   * The webhook's version as read: if it differs now, the delivery has to be read again, since its request would have
   * the former settings (docs/interface.md, W9). Null: any.
   */
  readonly webhookVersion: string | null;
  /** The claim token of its owner. */
  readonly owner: string;
  /** How long no other owner may begin it, in milliseconds. */
  readonly ownedMs: number;
}

export interface BegunAttempt {
  readonly startedAt: Date;
  readonly windowStartedAt: Date;
}

/**
 * Allocates the numbers of attempts before their requests leave. An attempt that was interrupted before its result
 * was recorded is begun again under the same number, once its owner has given it up or the owner's time is over. The
 * same owner may begin it again at any time, in case the answer was lost.
 * @returns by delivery; missing if the number already has its result or another owner, the webhook has changed
 * since it was read or is paused, the delivery has ended, or an operator has stopped it
 */
export async function beginAttempts(
  sql: Sql,
  attempts: readonly NewAttempt[],
): Promise<ReadonlyMap<string, BegunAttempt>> {
  const ids = attempts.map(({ deliveryId }) => deliveryId);
  const rows = await sql<(BegunAttempt & { id: string })[]>`
    with begun as (
      insert into attempts (delivery_id, number, generation, started_at, owner, owned_until)
      select d.id, asked.number, asked.generation, clock_timestamp(), asked.owner,
        clock_timestamp() + make_interval(secs => asked.owned_ms / 1000)
      from unnest(
        ${ids}::uuid[], ${attempts.map(({ number }) => number)}::int[],
        ${attempts.map(({ generation }) => generation)}::int[], ${attempts.map(({ owner }) => owner)}::uuid[],
        ${attempts.map(({ ownedMs }) => ownedMs)}::float8[], ${attempts.map(({ webhookVersion }) => webhookVersion)}::text[])
        as asked (delivery_id, number, generation, owner, owned_ms, webhook_version)
      -- One by one: the planner expects few rows of each, and would compare every delivery with every webhook.
      cross join lateral (
        select d.id, d.webhook_id from deliveries d
        where d.id = asked.delivery_id and ${isOpen(sql)} and d.operator_stop is null
          and ${inIdRange(sql, sql`d.id`, ids)}
        limit 1) d
      -- By its id before any other condition: without statistics the planner would search all active ones.
      cross join lateral (
        select from (select *, xmin::text as version from webhooks where id = d.webhook_id offset 0) w
        where ${makesAttempts(sql, 'w')} and w.deleted_at is null and w.generation = asked.generation
          and w.version = coalesce(asked.webhook_version, w.version)
        limit 1) w
      on conflict (delivery_id, number) do update
        set started_at = excluded.started_at, generation = excluded.generation,
          owner = excluded.owner, owned_until = excluded.owned_until
        where attempts.finished_at is null
          and (attempts.owned_until is null or attempts.owned_until < clock_timestamp() or attempts.owner = excluded.owner)
      returning delivery_id, started_at)
    update deliveries d set window_started_at = coalesce(d.window_started_at, begun.started_at)
    from begun
    where d.id = begun.delivery_id and ${anyOf(sql, sql`d.id`, ids)}
      and ${notIndexable(sql, sql`d.operator_stop is null and ${isOpen(sql)}`)}
    returning d.id, begun.started_at, d.window_started_at`;
  return new Map(rows.map(({ id, ...begun }) => [id, begun]));
}

/** The owner no longer makes this attempt, and its request is over: it may be begun again at once. */
export async function giveUpAttempt(sql: Sql, deliveryId: string, owner: string): Promise<void> {
  await sql`
    update attempts set owned_until = null
    where delivery_id = ${deliveryId} and owner = ${owner} and finished_at is null`;
}

/**
 * The current generation of a webhook, which an attempt compares with its own.
 * @returns undefined if there is no such webhook
 */
export async function webhookGeneration(sql: Sql, webhookId: number): Promise<number | undefined> {
  const [row] = await sql<{ generation: number }[]>`select generation from webhooks where id = ${webhookId}`;
  return row?.generation;
}
