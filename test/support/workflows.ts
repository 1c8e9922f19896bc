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
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection });
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
  } finally {
    await connection.close();
  }
}
