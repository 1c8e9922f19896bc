/**
 * `npm run record-histories`: records every scenario without a history. `RECORD_AGAIN=all`, or the name of a
 * scenario, records again, and destroys the proof that earlier deliveries still replay.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { test } from 'vitest';
import { createReceiver } from '../support/servers/receiver.ts';
import { startDeliveryStack } from '../support/temporal/delivery-stack.ts';
import { example, scenarios } from './scenarios.ts';

/** It occurs in stack traces. */
const root = fileURLToPath(new URL('../../', import.meta.url));

for (const scenario of [...scenarios, example]) {
  const folder = scenario === example ? 'example' : 'histories';
  const file = new URL(`./${folder}/${scenario.name}.json`, import.meta.url);
  const again = process.env.RECORD_AGAIN === 'all' || process.env.RECORD_AGAIN === scenario.name;
  if (existsSync(file) && !again) continue;

  test(`record ${scenario.name}`, async () => {
    const stack = await startDeliveryStack('recorded', scenario.options);
    const receiver = await createReceiver();
    try {
      const workflowId = await scenario.run(stack, receiver);
      const history = await stack.client.workflow.getHandle(workflowId).fetchHistory();
      // The recording machine does not matter to the workflow.
      const text = historyToJSON(history)
        .replaceAll(`${process.pid}@${hostname()}`, 'recorder')
        .replaceAll(root, '');
      await writeFile(file, `${text}\n`);
    } finally {
      await receiver.close();
      await stack.stop();
    }
  });
}

test('every scenario is recorded', () => {});
