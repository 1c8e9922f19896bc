/** The run of the retention, as an activity. */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Pool } from '../src/db/connection/pool.ts';
import type { Retained } from '../src/domain/retention-result.ts';
import { retain } from '../src/retention/retain.ts';
import { RetentionFailed } from '../src/retention/steps.ts';
import { summary } from '../src/retention/summary.ts';
import type { RetentionActivities } from '../workflows/retention-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export interface RetentionDeps {
  readonly sql: Pool;
  readonly retentionMs: number;
  readonly log: Logger;
  /** Called for each step that failed. */
  readonly onRetentionFailure: () => void;
}

export function createRetentionActivities(deps: RetentionDeps): RetentionActivities {
  const { sql, retentionMs, log, onRetentionFailure } = deps;

  /** @returns the sentence */
  function tell(done: Retained): string {
    const message = summary(done);
    if (message !== null) {
      const troubled = done.outOfRange > 0 || done.postponed.length > 0 || done.failed.length > 0;
      log[troubled ? 'warn' : 'info'](done, `retention: ${message}`);
    }
    return message ?? 'Nothing to do.';
  }

  return {
    async retain() {
      return await withHeartbeat(Context.current(), async (signal) => {
        try {
          const done = await retain(sql, { retentionMs, signal });
          return { ...done, message: tell(done) };
        } catch (error) {
          if (!(error instanceof RetentionFailed)) throw error;
          for (const { step, error: err } of error.failures) {
            log.error({ err, step }, 'a step of the retention failed');
            onRetentionFailure();
          }
          tell(error.done);
          throw error;
        }
      });
    },
  };
}
