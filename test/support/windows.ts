/** The window of a delivery, which a test does not wait for. */
import type { DeliveryStack } from './delivery-stack.ts';

/**
 * Moves what lies behind a delivery that was attempted, and what is planned for it, so that its window ends then.
 * @param ms from now; negative: it has ended
 */
export async function endWindowIn(
  { sql, policy }: Pick<DeliveryStack, 'sql' | 'policy'>,
  id: string,
  ms: number,
): Promise<void> {
  await sql`
    with shift as (
      select now() + ${ms - policy.windowMs}::float8 * interval '1 ms' - window_started_at as by, webhook_id
      from deliveries where id = ${id}),
    webhook as (update webhooks w set generation_at = generation_at + by from shift where w.id = shift.webhook_id)
    update deliveries d set window_started_at = window_started_at + by, last_attempt_at = last_attempt_at + by,
      next_attempt_at = next_attempt_at + by
    from shift where d.id = ${id}`;
}
