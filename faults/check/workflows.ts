/** Checks that each attempted delivery leaves the queue and gets its workflow, unless the setting asks for none. */
import type { Setting } from '../../test/support/harness/settings.ts';
import type { DeliveryRow, Evidence } from '../evidence.ts';
import { type Violation, violation } from './violation.ts';

/** Checks all deliveries. No round has so many that some are exempt without a workflow. */
export function checkWorkflows(setting: Setting, { deliveries }: Evidence): Violation[] {
  return deliveries.flatMap((row) => {
    const name = `${row.eventType} ${row.entityId} (delivery …${row.id.slice(-6)})`;
    // The other checks find an open delivery.
    if (row.queued && row.state !== 'pending' && row.state !== 'retrying')
      return [violation('stuck', `${name}: ${row.state}, and still in the queue`)];
    return row.hasWorkflow === false && needsWorkflow(setting, row)
      ? [
          violation(
            'wrong',
            `${name}: ${row.state} after ${row.attemptsMade} attempts, and without a workflow`,
          ),
        ]
      : [];
  });
}

function needsWorkflow(setting: Setting, { state, attemptsMade }: DeliveryRow): boolean {
  if (attemptsMade === 0) return false;
  return setting === 'all' || state !== 'delivered' || attemptsMade > 1;
}
