/** The run of the retention, as an activity. */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Pool } from '../src/db/pool.ts';
import { retain } from '../src/retention/retain.ts';
import { summary } from '../src/retention/summary.ts';
import type { RetentionActivities } from '../workflows/retention-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export interface RetentionDeps {
  readonly sql: Pool;
  readonly retentionMs: number;
  readonly log: Logger;
}

export function createRetentionActivities({ sql, retentionMs, log }: RetentionDeps): RetentionActivities {
  return {
    async retain({ dryRun }) {
      return await withHeartbeat(Context.current(), async (signal) => {
        const done = await retain(sql, { retentionMs, dryRun, signal });
        const words = summary(done);
        if (words !== null && !dryRun) {
          const troubled = done.astray > 0 || done.postponed.length > 0;
          log[troubled ? 'warn' : 'info'](done, `retention: ${words}`);
        }
        return { ...done, sentence: words ?? 'Nothing to do.' };
      });
    },
  };
}
