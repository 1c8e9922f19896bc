/**
 * Proof that the replay test can fail: the same replay with a workflow that does one thing more.
 */
import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';

const HISTORY = 'delivered-after-retries';

test('an activity added without patched() is found', async () => {
  const logger = new DefaultLogger('ERROR');
  // The SDK warns of what is wanted here; in a green run that would look like a failure.
  Runtime.install({ logger, telemetryOptions: { logging: { filter: 'off' } } });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: new URL('./changed-workflow.ts', import.meta.url).pathname,
    logger,
  });
  const history = historyFromJSON(
    JSON.parse(readFileSync(new URL(`./histories/${HISTORY}.json`, import.meta.url), 'utf8')),
  );
  async function* one() {
    yield { workflowId: HISTORY, history };
  }
  const errors: unknown[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle }, one())) errors.push(result.error);
  expect(errors).toEqual([expect.objectContaining({ name: 'DeterminismViolationError' })]);
});
