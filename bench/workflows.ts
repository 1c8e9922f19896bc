/** The workflows of deliveries in Temporal: how many there are, and when the last one has ended. */
import { stat } from 'node:fs/promises';
import type { Pool } from '../src/db/connection/pool.ts';
import { withTemporal } from '../test/support/temporal/workflows.ts';
import { untilNone } from './until-none.ts';

const OF_DELIVERIES = "(WorkflowType = 'deliverEvent' or WorkflowType = 'deliverBatch')";

/** How many workflows of deliveries Temporal has, running or ended. */
export const countWorkflows = (temporalAddress: string) => count(temporalAddress, OF_DELIVERIES);

/** Waits until no delivery waits for its workflow, and none of these workflows runs. */
export async function untilWorkflowsEnded(
  sql: Pool,
  temporalAddress: string,
  patienceMs: number,
): Promise<void> {
  await untilNone('deliveries in the queue', patienceMs, async () => {
    const queued = await sql`select from deliveries where dispatched_at is null limit 1`;
    return queued.length;
  });
  await untilNone('workflows of deliveries', patienceMs, () =>
    count(temporalAddress, `${OF_DELIVERIES} and ExecutionStatus = 'Running'`),
  );
}

/** The size of the embedded Temporal's database, in KiB; NaN if there is no such file. */
export async function databaseKib(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((each) =>
      stat(each).then(
        ({ size }) => size,
        () => (each === file ? Number.NaN : 0),
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

async function count(temporalAddress: string, query: string): Promise<number> {
  return await withTemporal(temporalAddress, async ({ workflow }) => (await workflow.count(query)).count);
}
