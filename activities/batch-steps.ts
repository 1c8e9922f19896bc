/** The activities of a batch: `makeBatch` in Temporal's terms. */
import { setMaxListeners } from 'node:events';
import { Context } from '@temporalio/activity';
import type { AttemptDeps } from '../src/attempt/begin-attempts.ts';
import { makeBatch } from '../src/attempt/make-batch.ts';
import { requeueAll } from '../src/db/webhooks/batch-returns.ts';
import { countBatch } from '../src/db/webhooks/batches.ts';
import { eitherSignal } from '../src/lib/either-signal.ts';
import type { BatchActivities } from '../workflows/batch-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export interface BatchStepsDeps extends AttemptDeps {
  /** Called when a started batch begins. */
  readonly onBatchBegun: (batchId: string) => void;
  /** Aborted when the worker is to end, or another takes over: attempts under way finish, and no further ones begin. */
  readonly stopping: AbortSignal;
}

export function createBatchActivities(deps: BatchStepsDeps): BatchActivities {
  return {
    async attemptBatch(order) {
      deps.onBatchBegun(order.batchId);
      const context = Context.current();
      return await withHeartbeat(
        context,
        async (abort) => {
          // One listener per request under way.
          setMaxListeners(0, abort);
          const { signal: stop, release } = eitherSignal([deps.stopping, context.cancellationSignal]);
          return await makeBatch(deps, order, { stop, abort }).finally(release);
        },
        // Only then: even if the server has given up on this execution, a request that was made has a result, which counts.
        ({ workerShutdown }) => workerShutdown === true,
      );
    },

    async requeueBatch(batchId) {
      await requeueAll(deps.sql, batchId);
      return await countBatch(deps.sql, batchId);
    },
  };
}
