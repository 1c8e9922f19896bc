/** Pre-orders whose timer is gone are still released. */
import { expect, test } from 'vitest';
import { enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import { transaction } from '../../src/db/transaction.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { stackOfTest } from '../support/lifetimes.ts';
import type { DeliveryStack } from '../support/temporal/delivery-stack.ts';
import { insertPreOrder } from '../support/temporal/lost-workflows.ts';

/** A worker that checks often, and a pre-order with a running timer. */
async function waitingPreOrder(name: string, waitMs: number, reconcileGraceMs = 500): Promise<DeliveryStack> {
  const stack = await stackOfTest(name, { timings: { reconcileIntervalMs: 300, reconcileGraceMs } });
  await insertPreOrder(stack, 'P-1', new Date(Date.now() + waitMs));
  await transaction(stack.sql, (tx) => enqueueReleaseChange(tx, stack.eshopId, 'P-1'));
  // It runs before it has read the order: a test that deletes the order then would see it end.
  await stack.until('the timer to sleep', () => sleeps(stack));
  // From here on only the reconciler starts it again.
  await stack.until(
    'the relay to be done',
    async () => (await stack.sql`select 1 from changes_to_signal`).length === 0,
  );
  return stack;
}
const timer = (stack: DeliveryStack) =>
  stack.client.workflow.getHandle(releaseWorkflowId(stack.eshopId, 'P-1'));
const sleeps = async (stack: DeliveryStack) => {
  // Rejects until the timer is started.
  const history = await timer(stack)
    .fetchHistory()
    .catch(() => undefined);
  return history?.events?.some((event) => event.timerStartedEventAttributes) === true;
};
const untilReleased = (stack: DeliveryStack) =>
  stack.until('the release', async () => {
    const [order] = await stack.sql`select status from orders where eshop_order_id = 'P-1'`;
    return order?.status === 'preReceived';
  });

/** Makes the order due without telling its timer. */
const dueNow = (stack: DeliveryStack) =>
  stack.sql`update orders set release_at = now() where eshop_order_id = 'P-1'`;

/** A repair is counted once Temporal has answered; the release may be faster. */
const untilCounted = (stack: DeliveryStack) =>
  stack.until('the repair to be counted', async () => stack.repaired().length > 0);

test('the reconciler releases an order whose timer was terminated in Temporal', async () => {
  const stack = await waitingPreOrder('release-terminated', 3_600_000);
  await timer(stack).terminate();
  await dueNow(stack);
  await untilReleased(stack);
  // On a busy machine its timer may have been late, and started again, before.
  const repairs = () => stack.repaired().filter(({ reason }) => reason !== 'missing');
  await stack.until('the repair to be counted', async () => repairs().length > 0);
  expect(repairs()).toEqual([{ kind: 'release', action: 'startedAgain', reason: 'terminated', count: 1 }]);
});

test('the reconciler releases an order whose restored timer missed its new time', async () => {
  const stack = await waitingPreOrder('release-asleep', 3_600_000);
  await dueNow(stack);
  await untilReleased(stack);
  await untilCounted(stack);
  // On a busy machine it may be checked once more between the end of its timer and its release.
  expect(stack.repaired()).toContainEqual({ kind: 'release', action: 'woken', reason: 'asleep', count: 1 });
});

test('an order lost in a failover and sent again is released by its former timer', async () => {
  // With a short grace, the reconciler starts a timer again that fires late on a busy machine.
  const stack = await waitingPreOrder('release-again', 3_600_000, 60_000);
  const former = (await timer(stack).describe()).runId;
  await stack.sql`delete from orders where eshop_order_id = 'P-1'`;
  await insertPreOrder(stack, 'P-1', new Date(Date.now() + 1_000));
  await transaction(stack.sql, (tx) => enqueueReleaseChange(tx, stack.eshopId, 'P-1'));
  await untilReleased(stack);
  expect(await timer(stack).result()).toEqual({ released: true });
  expect((await timer(stack).describe()).runId).toBe(former);
});
