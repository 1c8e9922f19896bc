/** An activity with heartbeats ends with its worker, and not with its workflow. */
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { withHeartbeat } from '../../activities/with-heartbeat.ts';

const stopped = ['WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true })] as const;

/** Whether the running work is aborted. */
async function isAborted(environment: MockActivityEnvironment, whileItRuns = () => {}): Promise<boolean> {
  return await withHeartbeat(environment.context, async (signal) => {
    whileItRuns();
    return signal.aborted;
  });
}

test('a stopping worker aborts the activity, before or after it has begun', async () => {
  const environment = new MockActivityEnvironment();
  expect(await isAborted(environment)).toBe(false);
  expect(await isAborted(environment, () => environment.cancel(...stopped))).toBe(true);
  expect(await isAborted(environment)).toBe(true);
});

test('a workflow that cancels lets the activity finish, whenever it does', async () => {
  const environment = new MockActivityEnvironment();
  expect(await isAborted(environment, () => environment.cancel())).toBe(false);
  expect(await isAborted(environment)).toBe(false);
});
