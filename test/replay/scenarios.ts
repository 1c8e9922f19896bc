/** Every way a workflow can end, as a scenario that is run on a real server and recorded. */
import { enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { beginRecovery, controlRecovery } from '../../src/db/recoveries/recoveries.ts';
import { transaction } from '../../src/db/transaction.ts';
import type { Sender } from '../../src/delivery/sender.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Mailer } from '../../src/mail/mail.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { noticeWorkflowId } from '../../workflows/notice-types.ts';
import { recoveryWorkflowId } from '../../workflows/recovery-types.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { retentionId } from '../../workflows/retention-types.ts';
import { loseMany } from '../support/api/recoveries.ts';
import { accepted, attemptRecord, beginAttempt, recordAttempt } from '../support/database/deliveries.ts';
import type { Receiver } from '../support/servers/receiver.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { insertPreOrder } from '../support/temporal/lost-workflows.ts';
import { untilRecoveryShown } from '../support/temporal/recovery-shown.ts';

/** How the workflow's history must end. */
export type CloseEvent = 'completed' | 'failed' | 'canceled';

export interface Scenario {
  /** Also the name of its recorded file. */
  readonly name: string;
  readonly closes: CloseEvent;
  readonly options?: StackOptions;
  /** Runs it; answers the workflow's id once it has ended. */
  run(stack: DeliveryStack, receiver: Receiver): Promise<string>;
}

async function closed(stack: DeliveryStack, deliveryId: string): Promise<string> {
  await stack.untilClosed(deliveryId);
  return stack.workflowId(deliveryId);
}

type Answer = Parameters<Receiver['respond']>[0];

/** Fires one delivery to a receiver with this answer. */
async function fired(stack: DeliveryStack, receiver: Receiver, answer: Answer) {
  receiver.respond(answer);
  const webhook = await stack.createWebhook(receiver.url);
  await stack.untilCalm();
  return { webhook, id: await stack.fireOne('10001') };
}

/** One delivery to a receiver with this answer. */
const answering =
  (answer: Answer): Scenario['run'] =>
  async (stack, receiver) => {
    const { id } = await fired(stack, receiver, answer);
    await stack.untilBegun(id);
    return closed(stack, id);
  };

/** Something happens while a delivery waits for its second attempt. */
const whileWaiting =
  (happens: (waits: Waits) => Promise<unknown>): Scenario['run'] =>
  async (stack, receiver) => {
    const { webhook, id } = await waiting(stack, receiver);
    await happens({ stack, receiver, webhook, id, workflow: stack.workflow(id) });
    return closed(stack, id);
  };

/** Another process is making the first attempt when the workflow begins. */
const madeElsewhere =
  (happens: (made: Pick<Waits, 'stack' | 'id'>) => Promise<unknown>): Scenario['run'] =>
  async (stack, receiver) => {
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10001');
    await beginAttempt(stack.sql, { deliveryId: id, number: 1, generation: 1, ownedMs: 6_000 });
    await stack.sql`update deliveries set class = ${CLASS.undelivered} where id = ${id}`;
    await stack.startWorker();
    await stack.untilBegun(id);
    await stack.until('its wait', async () => {
      const { events } = await stack.workflow(id).fetchHistory();
      return events?.some((event) => event.timerStartedEventAttributes) === true;
    });
    await happens({ stack, id });
    return closed(stack, id);
  };

interface Waits {
  readonly stack: DeliveryStack;
  readonly receiver: Receiver;
  readonly webhook: Awaited<ReturnType<typeof waiting>>['webhook'];
  readonly id: string;
  readonly workflow: ReturnType<DeliveryStack['workflow']>;
}

/** A delivery whose first attempt failed and that now waits. */
async function waiting(stack: DeliveryStack, receiver: Receiver) {
  const made = await fired(stack, receiver, { status: 503, headers: { 'retry-after': '600' } });
  await stack.untilState(made.id, 'retrying');
  return made;
}

async function plannedPreOrder(stack: DeliveryStack, releaseAt: Date): Promise<string> {
  const eshopOrderId = 'P-1';
  await insertPreOrder(stack, eshopOrderId, releaseAt);
  await changeRelease(stack, eshopOrderId);
  return eshopOrderId;
}

async function changeRelease(stack: DeliveryStack, eshopOrderId: string): Promise<void> {
  await transaction(stack.sql, (tx) => enqueueReleaseChange(tx, stack.eshopId, eshopOrderId));
}

async function releaseClosed(stack: DeliveryStack, eshopOrderId: string): Promise<string> {
  const workflowId = releaseWorkflowId(stack.eshopId, eshopOrderId);
  await stack.client.workflow.getHandle(workflowId).result();
  return workflowId;
}

/** The first run of the retention, which its schedule starts at once. */
async function retentionRun(stack: DeliveryStack) {
  const { action } = await stack.until('the first run', async () => {
    const { info } = await stack.client.schedule.getHandle(retentionId(stack.taskQueue)).describe();
    return info.recentActions[0];
  });
  const { workflowId } = action.workflow;
  return { workflowId, result: stack.client.workflow.getHandle(workflowId).result() };
}

/** A recovery of this many events whose deliveries failed, with a running workflow. */
async function recovery(stack: DeliveryStack, receiver: Receiver, events: number) {
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  await loseMany({ sql: stack.sql, eshopId: stack.eshopId, webhookId }, events);
  const { recoveryId } = await beginRecovery(stack.sql, {
    eshopId: stack.eshopId,
    webhookId,
    since: new Date(Date.now() - 3_600_000),
    until: null,
    include: ['failed'],
  });
  const handle = stack.client.workflow.getHandle(recoveryWorkflowId(recoveryId));
  await stack.until('its first step', async () => {
    const [row] = await stack.sql<{ created: number }[]>`select created from recoveries`;
    return (row?.created ?? 0) > 0;
  });
  return { recoveryId, webhookId, handle };
}

async function recoveryClosed(stack: DeliveryStack, recoveryId: string): Promise<string> {
  const workflowId = recoveryWorkflowId(recoveryId);
  await stack.untilEnded(workflowId);
  return workflowId;
}

/** Refuses the first mails, like a mail server that is unavailable. */
function refusingMailer(refusals = 2): Mailer {
  return {
    async send() {
      if (refusals-- > 0) throw new Error('connect ECONNREFUSED');
    },
  };
}

/** Loses the first results, like a worker that dies. */
function interrupting(times: number): (sender: Sender) => Sender {
  return (sender) => ({
    ...sender,
    async send(request, signal) {
      const result = await sender.send(request, signal);
      if (times-- > 0) throw new Error('interrupted');
      return result;
    },
  });
}

/** Hangs at the second request, until it is aborted. */
const hangingOnce = (sender: Sender): Sender => {
  let hung = false;
  return {
    ...sender,
    async send(request, signal) {
      if (hung || request.number === 1) return await sender.send(request, signal);
      hung = true;
      return await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    },
  };
};

/** Every moment is a burst. */
const burst = { calmPerSecond: 0, tickMs: 20 };
const longWindow = { windowMs: 3_600_000 };
const shortWindow = { windowMs: 2_500, initialIntervalMs: 800, attemptTimeoutMs: 300 };

export const scenarios: readonly Scenario[] = [
  {
    name: 'delivered-at-first',
    closes: 'completed',
    options: { policy: defaultRetryPolicy },
    run: answering({ status: 200 }),
  },
  {
    name: 'delivered-from-the-queue-after-retries',
    closes: 'completed',
    options: { scheduler: burst },
    run: answering(({ count }) => ({ status: count < 3 ? 503 : 200 })),
  },
  {
    name: 'exhausted-in-the-queue',
    closes: 'failed',
    options: { scheduler: burst, policy: { maxRetries: 1 } },
    run: answering({ status: 503 }),
  },
  {
    name: 'failed-in-the-queue-and-resumed-by-its-workflow',
    closes: 'completed',
    options: { scheduler: burst, policy: longWindow },
    run: whileWaiting(async ({ receiver, workflow }) => {
      receiver.respond({ status: 200 });
      await workflow.executeUpdate('tryNow');
    }),
  },
  {
    name: 'first-attempt-of-another-process',
    closes: 'completed',
    options: { worker: false },
    run: madeElsewhere(({ stack, id }) => recordAttempt(stack.sql, attemptRecord(id, accepted))),
  },
  {
    name: 'first-attempt-of-a-process-that-died',
    closes: 'completed',
    options: { worker: false },
    run: madeElsewhere(async () => {}),
  },
  {
    name: 'delivered-after-retries',
    closes: 'completed',
    run: answering(({ count }) => ({ status: count < 4 ? 500 : 200 })),
  },
  {
    name: 'exhausted-and-compensated',
    closes: 'failed',
    options: { policy: { maxRetries: 1 }, mailer: refusingMailer() },
    run: answering({ status: 503 }),
  },
  { name: 'gone', closes: 'failed', run: answering({ status: 410 }) },
  {
    name: 'window-over',
    closes: 'failed',
    options: { policy: { ...shortWindow, coefficient: 1.5 } },
    run: answering({ status: 503 }),
  },
  {
    name: 'held-and-resumed',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(async ({ stack, receiver, webhook, id }) => {
      await stack.changeWebhook(webhook.id, { active: false });
      await stack.untilHeld(id);
      receiver.respond({ status: 200 });
      await stack.changeWebhook(webhook.id, { active: true });
    }),
  },
  {
    name: 'held-before-the-first-attempt',
    closes: 'completed',
    options: { worker: false },
    async run(stack, receiver) {
      const webhook = await stack.createWebhook(receiver.url);
      const id = await stack.fireOne('10001');
      await stack.changeWebhook(webhook.id, { active: false });
      await stack.startWorker();
      await stack.untilHeld(id);
      await stack.changeWebhook(webhook.id, { active: true });
      return closed(stack, id);
    },
  },
  {
    name: 'held-and-expired',
    closes: 'failed',
    options: { policy: shortWindow },
    run: whileWaiting(({ stack, webhook }) => stack.changeWebhook(webhook.id, { active: false })),
  },
  {
    name: 'changed-and-waited-on',
    closes: 'completed',
    options: { policy: { initialIntervalMs: 2_000 } },
    run: whileWaiting(async ({ receiver, workflow }) => {
      await workflow.signal(webhookChangedSignal);
      receiver.respond({ status: 200 });
    }),
  },
  {
    name: 'another-host',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(async ({ stack, receiver, webhook }) => {
      receiver.respond({ status: 200 });
      await stack.changeWebhook(webhook.id, { url: `http://localhost:${receiver.port}/` });
    }),
  },
  {
    name: 'canceled-with-its-webhook',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(({ stack, webhook }) => stack.changeWebhook(webhook.id, { deleted: true })),
  },
  {
    name: 'canceled-by-an-operator',
    closes: 'canceled',
    options: { policy: longWindow },
    run: whileWaiting(({ workflow }) => workflow.cancel()),
  },
  {
    name: 'our-outage-window-lost',
    closes: 'failed',
    options: { policy: shortWindow },
    run: whileWaiting(async ({ stack }) => {
      await stack.stopWorker();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await stack.startWorker();
    }),
  },
  {
    name: 'our-outage-lasting',
    closes: 'completed',
    options: { wrapSender: interrupting(3) },
    run: answering({ status: 200 }),
  },
  {
    name: 'our-outage-hung-attempt',
    closes: 'completed',
    options: {
      policy: { attemptTimeoutMs: 300, initialIntervalMs: 600_000, windowMs: 3_600_000 },
      wrapSender: hangingOnce,
    },
    run: whileWaiting(async ({ receiver, workflow }) => {
      receiver.respond({ status: 200 });
      await workflow.executeUpdate('tryNow');
    }),
  },
  {
    name: 'steered-by-updates',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(async ({ stack, receiver, id, workflow }) => {
      const ask = (action: string, order?: object) =>
        workflow.executeUpdate<string, [unknown]>(action, { args: [order] });
      await ask('tryNow', { reason: 'the shop is back', by: 'anna' });
      await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
      await ask('hold', { reason: 'stock-taking' });
      await stack.untilHeld(id);
      await ask('hold').catch(() => {});
      await ask('resume', { by: 'anna' });
      await ask('resume').catch(() => {});
      receiver.respond({ status: 200 });
      await ask('tryNow');
    }),
  },
  {
    name: 'steered-by-signals',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(async ({ stack, receiver, id, workflow }) => {
      await workflow.signal('hold', { reason: 'stock-taking', by: 'anna' });
      await stack.untilHeld(id);
      await workflow.signal('hold');
      receiver.respond({ status: 200 });
      await workflow.signal('resume');
      await workflow.signal('tryNow');
    }),
  },
  {
    name: 'given-up-during-an-attempt',
    closes: 'completed',
    options: { policy: longWindow },
    run: whileWaiting(async ({ receiver, workflow }) => {
      receiver.respond({ status: 503, delayMs: 1_000 });
      await workflow.executeUpdate('tryNow');
      await receiver.waitFor(2);
      await workflow.executeUpdate('giveUp');
    }),
  },
  {
    name: 'canceled-while-mailing',
    closes: 'failed',
    options: { policy: { maxRetries: 1 }, mailer: refusingMailer() },
    async run(stack, receiver) {
      const { id } = await fired(stack, receiver, { status: 503 });
      await stack.untilState(id, 'failed');
      await stack.workflow(id).cancel();
      return closed(stack, id);
    },
  },
  {
    name: 'reset-after-it-had-failed',
    closes: 'failed',
    options: { policy: { maxRetries: 1 } },
    async run(stack, receiver) {
      const { id } = await fired(stack, receiver, { status: 503 });
      await closed(stack, id);
      await stack.resetWorkflow(id);
      return closed(stack, id);
    },
  },
  {
    name: 'pre-order-moved-and-released',
    closes: 'completed',
    async run(stack) {
      const eshopOrderId = await plannedPreOrder(stack, new Date(Date.now() + 3_600_000));
      await stack.until('the timer', async () => {
        const { events } = await stack.client.workflow
          .getHandle(releaseWorkflowId(stack.eshopId, eshopOrderId))
          .fetchHistory()
          .catch(() => ({ events: [] }));
        return events?.some((event) => event.timerStartedEventAttributes) === true;
      });
      await stack.sql`update orders set release_at = now() + interval '1 second' where eshop_order_id = ${eshopOrderId}`;
      await changeRelease(stack, eshopOrderId);
      return await releaseClosed(stack, eshopOrderId);
    },
  },
  {
    name: 'pre-order-released-by-hand',
    closes: 'completed',
    async run(stack) {
      const eshopOrderId = await plannedPreOrder(stack, new Date(Date.now() + 3_600_000));
      await stack.until('the workflow', async () => {
        const handle = stack.client.workflow.getHandle(releaseWorkflowId(stack.eshopId, eshopOrderId));
        return (await handle.describe().catch(() => undefined)) !== undefined;
      });
      await stack.sql`update orders set status = 'preReceived', release_at = null where eshop_order_id = ${eshopOrderId}`;
      await changeRelease(stack, eshopOrderId);
      return await releaseClosed(stack, eshopOrderId);
    },
  },
  {
    name: 'retention-scheduled',
    closes: 'completed',
    options: { retentionMs: 30 * 24 * 3_600_000 },
    async run(stack) {
      const { result, workflowId } = await retentionRun(stack);
      await result;
      return workflowId;
    },
  },
  {
    name: 'recovery-completed',
    closes: 'completed',
    async run(stack, receiver) {
      receiver.respond(({ count }) => ({ status: count === 2 ? 503 : 200 }));
      return await recoveryClosed(stack, (await recovery(stack, receiver, 30)).recoveryId);
    },
  },
  {
    name: 'recovery-paused-and-canceled',
    closes: 'completed',
    async run(stack, receiver) {
      receiver.respond({ hang: 'headers' });
      const { recoveryId } = await recovery(stack, receiver, 60);
      await controlRecovery(stack.sql, recoveryId, 'pause', { by: 'operator', comment: 'stock-taking' });
      await untilRecoveryShown(stack, recoveryId, 'paused');
      await controlRecovery(stack.sql, recoveryId, 'resume', { by: 'operator' });
      await untilRecoveryShown(stack, recoveryId, 'running');
      await controlRecovery(stack.sql, recoveryId, 'cancel', { by: 'operator', comment: 'of no use' });
      return await recoveryClosed(stack, recoveryId);
    },
  },
  {
    name: 'recovery-canceled-in-temporal',
    closes: 'canceled',
    async run(stack, receiver) {
      receiver.respond({ hang: 'headers' });
      const { recoveryId, handle } = await recovery(stack, receiver, 60);
      await handle.cancel();
      return await recoveryClosed(stack, recoveryId);
    },
  },
  {
    name: 'recovery-held-and-deleted-with-its-webhook',
    closes: 'completed',
    async run(stack, receiver) {
      receiver.respond({ hang: 'headers' });
      const { recoveryId, webhookId } = await recovery(stack, receiver, 60);
      for (const active of [false, true, false]) {
        await stack.changeWebhook(webhookId, { active });
        await untilRecoveryShown(stack, recoveryId, active ? 'running' : 'paused');
      }
      await stack.changeWebhook(webhookId, { deleted: true });
      return await recoveryClosed(stack, recoveryId);
    },
  },
  {
    name: 'notice-sent',
    closes: 'completed',
    options: { mailer: refusingMailer() },
    async run(stack, receiver) {
      await stack.sql`
        insert into notice_addresses (eshop_id, address, confirmed_at) values (${stack.eshopId}, 'second@example.test', now())`;
      await answering({ status: 410 })(stack, receiver);
      const id = await stack.until('a notice', async () => {
        const [row] = await stack.sql<{ id: string }[]>`
          select id from notices where recipient = 'address' and outcome = 'sent'`;
        return row?.id ?? false;
      });
      await stack.untilEnded(noticeWorkflowId(id));
      return noticeWorkflowId(id);
    },
  },
];

/** The worked example of docs/changing-workflows.md: a delivery that the changed code began. */
export const example: Scenario = {
  name: 'after',
  closes: 'completed',
  options: { policy: defaultRetryPolicy, worker: false },
  async run(stack, receiver) {
    const changed = new URL('./example/with-patch.ts', import.meta.url);
    await stack.startWorker({ workflowBundle: await buildWorkflowBundle(changed) });
    return await answering({ status: 200 })(stack, receiver);
  },
};
