/** Temporal comes back empty while a worker runs: the worker fills it again. */
import { afterEach, expect, test } from 'vitest';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { startDeliveryStack } from '../support/delivery-stack.ts';
import { insertPreOrder } from '../support/lost-workflows.ts';
import { freePort } from '../support/ports.ts';
import { createReceiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('a delivery and a pre-order whose time is far away have their workflows again', async () => {
  const binary = await findTemporal({ report: () => {} });
  let temporal: EmbeddedTemporal = await startTemporal({
    binary,
    ui: false,
    preferredPort: await freePort(),
  });
  cleanups.push(() => temporal.stop());
  const { address, port } = temporal;
  const stack = await startDeliveryStack('replaced', {
    temporalAddress: address,
    policy: { initialIntervalMs: 600_000, windowMs: 3_600_000 },
    timings: { reconcileIntervalMs: 200, reconcileGraceMs: 60_000 },
  });
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver({ status: 503 });
  cleanups.push(() => receiver.close());
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying');
  await insertPreOrder(stack, 'P-1', new Date(Date.now() + 3_600_000));

  await temporal.stop();
  await stack.until('it to be missed', async () =>
    stack.logged.some(({ msg }) => msg.startsWith('the reconciler is waiting')),
  );
  // Without a file: it starts empty.
  temporal = await startTemporal({ binary, ui: false, preferredPort: port });
  expect(temporal.port).toBe(port);

  await stack.until('both workflows', async () => {
    const timer = stack.client.workflow.getHandle(releaseWorkflowId(stack.eshopId, 'P-1'));
    const found = [
      await stack.describe(id).catch(() => undefined),
      await timer.describe().catch(() => undefined),
    ];
    return found.every((each) => each?.status.name === 'RUNNING');
  });
  expect(stack.repaired()).toContainEqual(
    expect.objectContaining({ kind: 'delivery', action: 'startedAgain', reason: 'missing', count: 1 }),
  );
  expect(stack.logged.filter(({ msg }) => msg.startsWith('the reconciler is waiting'))).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
});
