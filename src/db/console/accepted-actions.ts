import { acceptedActions } from '../../domain/operator-action.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import type { Sql } from '../pool.ts';
import { readActionTargets } from '../webhooks/operator-actions.ts';

/**
 * The operator actions that deliveries accept at this moment, by delivery id. Those that do not exist are left out.
 * @param policy as configured; a delivery under way keeps the one from its start
 */
export async function actionsAccepted(sql: Sql, deliveryIds: readonly string[], policy: RetryPolicy) {
  const targets = await readActionTargets(sql, deliveryIds, policy);
  return new Map([...targets].map(([id, target]) => [id, acceptedActions(target)]));
}
