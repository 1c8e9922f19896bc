/** Shifts the window of a delivery and its waits, so that a test need not wait. */
import type { PendingQuery, Row } from 'postgres';
import { webhookChangedSignal } from '../../../workflows/delivery-types.ts';
import type { DeliveryStack } from '../temporal/delivery-stack.ts';

/** Shifts the past times of an attempted delivery and its planned attempt. @param by an interval */
async function move({ sql }: Pick<DeliveryStack, 'sql'>, id: string, by: PendingQuery<Row[]>): Promise<void> {
  await sql`
    with shift as (select ${by} as by, webhook_id from deliveries where id = ${id}),
    webhook as (update webhooks w set generation_at = generation_at + by from shift where w.id = shift.webhook_id)
    update deliveries d set window_started_at = window_started_at + by, last_attempt_at = last_attempt_at + by,
      next_attempt_at = next_attempt_at + by,
      operator_actions = (
        select jsonb_agg(a.action || jsonb_build_object('at', (a.action ->> 'at')::timestamptz + by) order by a.n)
        from jsonb_array_elements(d.operator_actions) with ordinality a (action, n))
    from shift where d.id = ${id}`;
}

/**
 * Makes the window of an attempted delivery end at a given time.
 * @param ms from now; negative: it has ended
 */
export async function endWindowIn(
  stack: Pick<DeliveryStack, 'sql' | 'policy'>,
  id: string,
  ms: number,
): Promise<void> {
  const { sql, policy } = stack;
  await move(stack, id, sql`now() + ${ms - policy.windowMs}::float8 * interval '1 ms' - window_started_at`);
}

/** Skips the wait of a delivery's workflow for the next attempt. */
export async function skipWait(stack: DeliveryStack, id: string): Promise<void> {
  // Before its workflow has it, the queue would make the attempt.
  await stack.until('its workflow to have it', async () => (await stack.delivery(id)).dispatchedAt !== null);
  await move(stack, id, stack.sql`now() - next_attempt_at`);
  await stack.signal(id, webhookChangedSignal);
}
