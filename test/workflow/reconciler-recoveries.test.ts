/** A recovery that an operator ended in Temporal stays ended. In test/faults/restored.test.ts Temporal loses one. */
import { expect, test } from 'vitest';
import { beginRecovery, controlRecovery, readRecovery } from '../../src/db/recoveries/recoveries.ts';
import { recoveryWorkflowId } from '../../workflows/recovery-types.ts';
import { loseMany } from '../support/api/recoveries.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';

/** A worker that checks often, and a paused recovery whose workflow is running and waits. */
async function pausedRecovery(name: string) {
  const stack = await stackOfTest(name, {
    timings: { reconcileIntervalMs: 300, reconcileGraceMs: 500 },
  });
  const receiver = await receiverOfTest();
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  await loseMany({ sql: stack.sql, eshopId: stack.eshopId, webhookId }, 5);
  const begun = await beginRecovery(stack.sql, {
    eshopId: stack.eshopId,
    webhookId,
    since: new Date(Date.now() - 3_600_000),
    until: null,
    include: ['failed'],
  });
  const { recoveryId } = begun;
  await controlRecovery(stack.sql, recoveryId, 'pause', { by: 'user' });
  await stack.until('the pause to reach the workflow', async () => {
    const [row] = await stack.sql<{ signaled: boolean }[]>`
        select signaled_version = version as signaled from recoveries where id = ${recoveryId}`;
    return row?.signaled === true;
  });
  return { stack, recoveryId };
}

test('a recovery terminated in Temporal is canceled by the operator', async () => {
  const { stack, recoveryId } = await pausedRecovery('recovery-terminated');
  await stack.client.workflow.getHandle(recoveryWorkflowId(recoveryId)).terminate();
  await stack.until(
    'the recovery',
    async () => (await readRecovery(stack.sql, recoveryId))?.state === 'canceled',
  );
  expect(await readRecovery(stack.sql, recoveryId)).toMatchObject({ by: 'operator' });
});
