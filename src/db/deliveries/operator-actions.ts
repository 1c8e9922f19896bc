/** Operator actions on deliveries, recorded with their effects. The database decides: workflows may be behind it. */
import type { EventType } from '../../domain/event-types.ts';
import {
  type ActionName,
  type ActionTarget,
  acceptedActions,
  answerTo,
  effectOf,
  type OperatorAction,
  type OperatorStop,
  operatorHoldOf,
  type RecordedActionResult,
  type RequestedAction,
} from '../../domain/operator-action.ts';
import { maxAttempts, type RetryPolicy, windowEnd } from '../../domain/retry-policy.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { anyOf } from '../ids.ts';
import { settleOrdering } from '../outbox/keep-ordering.ts';
import { attemptClasses } from '../outbox/notify.ts';
import { waitsFor, waitsForTurn } from '../outbox/ordering.ts';
import { CLASS, changedSince, requeueTarget } from '../outbox/outbox.ts';
import { movedByPauses } from '../pauses.ts';
import { ending, hasAttemptUnderWay, isUnderWay } from '../predicates.ts';
import { transaction } from '../transaction.ts';
import type { WaitsFor } from './delivery-log.ts';

interface ActionTargetRow extends Omit<ActionTarget, 'maxAttempts' | 'behind' | 'windowEndsAt' | 'hold'> {
  readonly id: string;
  readonly eventType: EventType;
  readonly waitsFor: WaitsFor | null;
  readonly windowStartedAt: Date | null;
  readonly operatorStop: OperatorStop | null;
  readonly operatorActions: readonly OperatorAction[] | null;
}

/** How many of the latest actions are kept. */
const KEPT = 50;

/**
 * Carries out an operator action and records it; a refused one is not recorded. May be repeated under the same id.
 * @param policy the delivery's own
 * @returns null if there is no such delivery
 */
export async function recordOperatorAction(
  sql: Pool,
  deliveryId: string,
  asked: RequestedAction,
  policy: RetryPolicy,
): Promise<RecordedActionResult | null> {
  const result = await transaction(sql, async (tx) => {
    // Locked by a separate statement: the next one sees everything done under earlier locks.
    await tx`select from deliveries where id = ${deliveryId} for update`;
    const [row] = await targetRows(tx, [deliveryId]);
    if (row === undefined) return null;
    const before = row.operatorActions ?? [];
    const earlier = before.find(({ id }) => id === asked.id);
    const delivery = actionTarget(row, policy);
    if (earlier !== undefined) {
      return { accepted: true, message: effectOf(earlier.action, delivery), at: earlier.at, ended: null };
    }
    const at = row.now.toISOString();
    const answer = answerTo(asked.action, delivery);
    if (!answer.accepted) return { ...answer, at, ended: null };
    const effect = EFFECTS[asked.action];
    const actions = [...before, { ...asked, at } satisfies OperatorAction].slice(-KEPT);
    await tx`
      update deliveries set
        operator_actions = ${JSON.stringify(actions)}::text::jsonb,
        operator_stop = ${effect.stop},
        next_attempt_at = case when ${effect.isDue === true} then clock_timestamp() else next_attempt_at end
      where id = ${deliveryId}`;
    if (row.queued) await effect.inQueue(tx, deliveryId, asked.user === true ? 'user' : 'operator');
    const hasEnded = row.queued && effect.ends === true && row.underWay === null;
    return { ...answer, at, ended: hasEnded ? row.eventType : null };
  });
  if (result === null) return null;
  const { ended, ...answer } = result;
  if (!answer.accepted) return answer;
  const { notifier } = sql;
  if (ended !== null) {
    notifier.ended([ended], 'canceled');
    // The delivery is given up even if this fails: the relay then settles the ordering.
    await settleOrdering(sql, { records: [deliveryId] }).catch(() => {});
  }
  notifier.notify([...attemptClasses, 'undelivered']);
  return answer;
}

interface Effect {
  /** The operator stop afterwards. */
  readonly stop: OperatorStop | null;
  /** Its next attempt is due at once. */
  readonly isDue?: true;
  /** It ends, unless an attempt of it is under way. */
  readonly ends?: true;
  /**
   * The effect on a delivery that waits in the queue: Temporal does not know it, and need not be asked. If it waits
   * for its turn in its record, it stays where it is, unless it is given up.
   */
  inQueue(tx: Sql, id: string, canceledBy: 'user' | 'operator'): Promise<unknown>;
}

const EFFECTS: Readonly<Record<ActionName, Effect>> = {
  tryNow: {
    stop: null,
    isDue: true,
    inQueue: (tx, id) => tx`
      update deliveries set class = ${CLASS.retry}, due_at = now() where id = ${id} and class <> ${CLASS.blocked}`,
  },
  hold: {
    stop: 'hold',
    // The workflow holds the delivery, and ends it when its window ends.
    inQueue: (tx, id) => tx`
      update deliveries set class = ${CLASS.undelivered}, due_at = now()
      where id = ${id} and class <> ${CLASS.blocked}`,
  },
  resume: {
    stop: null,
    inQueue(tx, id) {
      const { deliveryClass, dueAt } = requeueTarget(tx);
      return tx`
        update deliveries d set class = ${deliveryClass}, due_at = ${dueAt} from webhooks w
        where d.id = ${id} and w.id = d.webhook_id and d.class <> ${CLASS.blocked}`;
    },
  },
  giveUp: {
    stop: 'giveUp',
    ends: true,
    // An attempted delivery gets a workflow, to show how it ended. An attempt under way may still be accepted.
    inQueue: (tx, id, canceledBy) => tx`
      update deliveries d set state = 'canceled', canceled_by = ${canceledBy}, ${ending(tx)},
        class = ${CLASS.undelivered}, due_at = now(),
        dispatched_at = case when d.attempts_made = 0 then now() end
      where d.id = ${id} and not ${hasAttemptUnderWay(tx)}`,
  },
};

/** The current state of deliveries, by id. Unknown ids are left out. */
export async function readActionTargets(sql: Sql, deliveryIds: readonly string[], policy: RetryPolicy) {
  if (deliveryIds.length === 0) return new Map();
  const rows = await targetRows(sql, deliveryIds);
  return new Map(rows.map((row) => [row.id, actionTarget(row, policy)]));
}

/**
 * The actions that deliveries accept at this moment, by delivery id. Those that do not exist are left out.
 * @param policy as configured; a delivery under way keeps the one from its start
 */
export async function actionsAccepted(sql: Sql, deliveryIds: readonly string[], policy: RetryPolicy) {
  const targets = await readActionTargets(sql, deliveryIds, policy);
  return new Map([...targets].map(([id, target]) => [id, acceptedActions(target)]));
}

function targetRows(sql: Sql, deliveryIds: readonly string[]) {
  return sql<ActionTargetRow[]>`
    select d.id, d.state, d.webhook_id,
           case
             when w.deleted_at is not null then 'deleted'
             when w.active then 'active'
             else 'inactive' end as webhook,
           w.paused_until, d.attempts_made, d.next_attempt_at,
           ${changedSince(sql, 'w', sql`d.last_generation`)} and exists (
             select from attempts a
             where a.delivery_id = d.id and a.number = d.attempts_made and a.outcome = 'gone') as gone_before,
           d.event_type, d.dispatched_at is null as queued, ${waitsForTurn(sql, 'd')} as blocked,
           ${waitsFor(sql)} as waits_for,
           ${movedByPauses(sql, 'w', sql`d.window_started_at`)} as window_started_at,
           d.operator_stop, d.operator_actions,
           (select a.number from attempts a
            where a.delivery_id = d.id and a.number = d.attempts_made + 1 and ${isUnderWay(sql)}) as under_way,
           clock_timestamp() as now
    from deliveries d join webhooks w on w.id = d.webhook_id
    where ${anyOf(sql, sql`d.id`, deliveryIds)}`;
}

function actionTarget(row: ActionTargetRow, policy: RetryPolicy): ActionTarget {
  const { waitsFor, windowStartedAt, operatorStop, operatorActions, eventType: _, ...target } = row;
  return {
    ...target,
    maxAttempts: maxAttempts(policy),
    behind: waitsFor?.reason === 'order' ? (waitsFor.deliveryId ?? null) : null,
    windowEndsAt: windowEnd(policy, windowStartedAt ?? row.now),
    hold: operatorHoldOf(operatorStop, operatorActions),
  };
}
