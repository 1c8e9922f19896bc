/** Operator actions on deliveries, recorded with their effects. The database decides: a workflow may remember an older state. */
import {
  type ActionName,
  type ActionTarget,
  type AskedAction,
  answerTo,
  type OperatorAction,
  type OperatorStop,
  operatorHoldOf,
  type RecordedActionResult,
  whatFollows,
} from '../../domain/operator-action.ts';
import { maxAttempts, type RetryPolicy, windowEnd } from '../../domain/retry-policy.ts';
import { notifierOf } from '../outbox/notify.ts';
import { waits, waitsFor } from '../outbox/order.ts';
import { CLASS } from '../outbox/outbox.ts';
import type { Pool, Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';
import type { WaitsFor } from './delivery-log.ts';

interface ActionTargetRow
  extends Omit<ActionTarget, 'webhook' | 'mostAttempts' | 'behind' | 'windowEndsAt' | 'hold'> {
  readonly id: string;
  readonly active: boolean;
  readonly deleted: boolean;
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
  asked: AskedAction,
  policy: RetryPolicy,
): Promise<RecordedActionResult | null> {
  const result = await transaction(sql, async (tx) => {
    // Locked by a statement of its own: the next one sees everything done under earlier locks.
    await tx`select from deliveries where id = ${deliveryId} for update`;
    const [row] = await targetRows(tx, [deliveryId]);
    if (row === undefined) return null;
    const before = row.operatorActions ?? [];
    const known = before.find(({ id }) => id === asked.id);
    const delivery = actionTarget(row, policy);
    if (known !== undefined) {
      return { accepted: true, sentence: whatFollows(known.action, delivery), at: known.at };
    }
    const at = row.now.toISOString();
    const answer = answerTo(asked.action, delivery);
    if (!answer.accepted) return { ...answer, at };
    const { action } = asked;
    const actions = [...before, { ...asked, at } satisfies OperatorAction].slice(-KEPT);
    // Requeued by a batch: the relay starts its workflow, which carries out the action.
    const requeued = tx`dispatched_at is null and class in (${CLASS.retry}, ${CLASS.workflow})`;
    // A delivery given up no longer waits for the one ahead or for its recovery: it is claimed, and its workflow ends it.
    const freed = tx`${action} = 'giveUp' and dispatched_at is null and class in (${CLASS.inOrder}, ${CLASS.recovered})`;
    await tx`
      update deliveries set operator_actions = ${JSON.stringify(actions)}::text::jsonb,
        operator_stop = ${STOP_AFTER[action]},
        next_attempt_at = case
          when ${action === 'tryNow'} or (${action === 'giveUp'} and ${requeued})
          then clock_timestamp() else next_attempt_at end,
        class = case when ${freed} then ${CLASS.fresh} else class end,
        due_at = case when ${action === 'tryNow' || action === 'giveUp'} and ${requeued} or ${freed} then now() else due_at end
      where id = ${deliveryId}`;
    return { ...answer, at };
  });
  if (asked.action === 'giveUp' && result?.accepted === true) notifierOf(sql).notify(['fresh']);
  return result;
}

const STOP_AFTER: Readonly<Record<ActionName, OperatorStop | null>> = {
  tryNow: null,
  hold: 'hold',
  resume: null,
  giveUp: 'giveUp',
};

/** The current state of deliveries, by id. Unknown ids are left out. */
export async function readActionTargets(
  sql: Sql,
  deliveryIds: readonly string[],
  policy: RetryPolicy,
): Promise<ReadonlyMap<string, ActionTarget>> {
  if (deliveryIds.length === 0) return new Map();
  const rows = await targetRows(sql, deliveryIds);
  return new Map(rows.map((row) => [row.id, actionTarget(row, policy)]));
}

function targetRows(sql: Sql, deliveryIds: readonly string[]) {
  return sql<ActionTargetRow[]>`
    select d.id, d.state, d.webhook_id, w.active, w.deleted_at is not null as deleted, d.attempts_made, d.next_attempt_at,
           d.dispatched_at is null or d.batch_id is not null as queued, ${waits(sql, 'd')} as in_order,
           ${waitsFor(sql)} as waits_for, d.window_started_at, d.operator_stop, d.operator_actions,
           (select a.number from attempts a
            where a.delivery_id = d.id and a.number = d.attempts_made + 1 and a.finished_at is null
              and a.owned_until > clock_timestamp()) as under_way,
           clock_timestamp() as now
    from deliveries d join webhooks w on w.id = d.webhook_id where d.id = any(${[...deliveryIds]}::uuid[])`;
}

function actionTarget(row: ActionTargetRow, policy: RetryPolicy): ActionTarget {
  const { active, deleted, waitsFor, windowStartedAt, operatorStop, operatorActions, ...target } = row;
  return {
    ...target,
    webhook: deleted ? 'deleted' : active ? 'active' : 'inactive',
    mostAttempts: maxAttempts(policy),
    behind: waitsFor?.reason === 'order' ? (waitsFor.deliveryId ?? null) : null,
    windowEndsAt: windowEnd(policy, windowStartedAt ?? row.now),
    hold: operatorHoldOf(operatorStop, operatorActions),
  };
}
