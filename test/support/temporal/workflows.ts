import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { until } from '../until.ts';

/**
 * Waits until each of these workflows has been started and has ended: no work of theirs can follow.
 * @param address of the Temporal server
 */
export async function untilEnded(
  address: string,
  workflowIds: readonly string[],
  timeoutMs?: number,
): Promise<void> {
  await withTemporal(address, async ({ workflow }) => {
    for (const id of workflowIds) {
      const ended = async () => {
        try {
          return (await workflow.getHandle(id).describe()).status.name !== 'RUNNING';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return false;
          throw error;
        }
      };
      await until(`the end of ${id}`, ended, timeoutMs);
    }
  });
}

/** Runs code with a client of a Temporal server that has none yet. */
export async function withTemporal<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
