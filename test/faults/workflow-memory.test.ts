/** The thread that runs workflows has no memory left: Node ends it, and the SDK's worker cannot go on. */
import { setFlagsFromString } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { eatQuery } from '../support/temporal/hungry-workflow.ts';

/** In megabytes: enough for a few workflows. */
const SMALL_HEAP = 64;

test('workers with a new thread take over when workflows run out of memory', async () => {
  // Else the SDK makes no thread (vitest.config.ts).
  vi.stubEnv('TEMPORAL_DEBUG', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const workflowBundle = await buildWorkflowBundle(
    new URL('../support/temporal/hungry-workflow.ts', import.meta.url),
  );
  const stack = await stackOfTest('workflow-memory', { worker: false });
  let accepts = false;
  const receiver = await receiverOfTest(() => (accepts ? {} : { status: 500 }));
  await stack.createWebhook(receiver.url);
  // The first thread has this limit, those that follow have the default.
  setFlagsFromString(`--max-old-space-size=${SMALL_HEAP}`);
  await stack.startWorker({ workflowBundle }).finally(() => setFlagsFromString('--max-old-space-size=0'));
  const handle = await stack.client.workflow.start('hungry', {
    taskQueue: stack.taskQueue,
    workflowId: `hungry-${stack.taskQueue}`,
  });
  const asked = handle.query(eatQuery).catch(() => {});
  await stack.until('a failed worker', async () =>
    stack.logged.some(({ msg }) => msg === "a worker of Temporal's SDK failed: others take over"),
  );
  // The question is asked again, and would end the next thread too.
  await handle.terminate();
  await asked;

  const id = await stack.fireOne('10001');
  await stack.untilBegun(id);
  accepts = true;
  const { state } = await stack.untilState(id, 'delivered');
  await stack.stopWorker();

  expect(state).toBe('delivered');
  expect(stack.logged.some(({ code }) => code === 'ERR_WORKER_OUT_OF_MEMORY')).toBe(true);
});
