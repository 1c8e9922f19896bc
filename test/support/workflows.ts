import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { until } from './until.ts';

/**
 * Waits until each of these workflows has been started and has ended: what it has not done by then, it never does.
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

/** Works with a Temporal server that has no client yet. */
export async function withTemporal<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
