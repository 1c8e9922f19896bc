/** The steps of a recovery on our own database. */
import type { Pool } from '../src/db/connection/pool.ts';
import { controlRecovery, type RecoveryRow, readRecovery } from '../src/db/recoveries/recoveries.ts';
import { type RecoveryStep, stepRecovery } from '../src/db/recoveries/step.ts';
import { operatorsRecoveryReason, waitsForWebhook } from '../src/domain/recovery.ts';
import { recoveryProgress } from '../src/domain/recovery-progress.ts';
import { type Traces, traced } from '../src/traces/traces.ts';
import type { RecoveryActivities, RecoveryProgress } from '../workflows/recovery-types.ts';

/** How long one execution looks for lost events: if few of very many events were lost, most pages have none. */
const LOOKING_MS = 5_000;

export function createRecoveryActivities({
  sql,
  traces,
}: {
  readonly sql: Pool;
  readonly traces: Traces;
}): RecoveryActivities {
  return {
    async advanceRecovery(recoveryId) {
      const until = performance.now() + LOOKING_MS;
      for (;;) {
        // The deliveries stay out of the request's trace: a recovery may run hours later, and create very many.
        const step = await traced(traces, { name: 'advance recovery', kind: 'INTERNAL', parent: null }, () =>
          stepRecovery(sql, recoveryId),
        );
        if (step === null || !goesOn(step) || performance.now() > until) {
          return progressOf(step?.recovery ?? null);
        }
      }
    },
    async cancelRecovery(recoveryId) {
      await controlRecovery(sql, recoveryId, 'cancel', { by: 'operator' });
      return progressOf(await readRecovery(sql, recoveryId));
    },
  };
}

/** Whether the next step can follow at once: this one found no lost event yet, or the recovery only has to end. */
function goesOn({ recovery, more }: RecoveryStep): boolean {
  const { state, exhausted, pending, retrying } = recovery;
  return more || (state === 'running' && !waitsForWebhook(recovery) && exhausted && pending + retrying === 0);
}

/** A recovery unknown to the database was lost when a backup was restored: it is over. */
function progressOf(row: RecoveryRow | null): RecoveryProgress {
  if (row !== null) {
    const progress = recoveryProgress(row);
    const { estimatedEndAt } = progress;
    const reason = operatorsRecoveryReason(row);
    return { ...progress, reason, estimatedEndAt: estimatedEndAt?.toISOString() ?? null };
  }
  return {
    state: 'canceled',
    reason: 'The database does not know it.',
    created: 0,
    done: 0,
    failed: 0,
    superseded: 0,
    open: 0,
    left: 0,
    rate: null,
    estimatedEndAt: null,
    exhausted: true,
  };
}
