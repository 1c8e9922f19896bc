/** Workers that others have replaced: they finish the work under way, and begin nothing more. */
import pino from 'pino';
import { expect, inject, test } from 'vitest';
import { runSession } from '../../src/app/worker-session.ts';
import { compensationTurns } from '../../src/attempt/compensate.ts';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { createStarts } from '../../src/concurrency/starts.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { emptyMemory } from '../../src/reconciler/reconciler.ts';
import { routeTemporalLogs } from '../../src/temporal/logs.ts';
import { untraced } from '../../src/traces/traces.ts';
import { later } from '../support/later.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { limitsWith } from '../support/limits.ts';
import { builtWorkflows } from '../support/programs/built.ts';
import type { DeliveryStack } from '../support/temporal/delivery-stack.ts';
import { fireMany } from '../support/temporal/relay.ts';
import { unwatched } from '../support/unwatched.ts';

const AT_ONCE = 100;
/** More than the worker makes at once. */
const ORDERS = AT_ONCE + 60;

/** All orders are claimed at once; those without a place wait for one in the worker. */
function patient() {
  const limits = limitsWith({ attempts: 2 * AT_ONCE, firstLimit: ORDERS, claimAheadMs: 60_000 });
  const quotas = { eshop: ORDERS, webhook: ORDERS, eshops: new Map(), webhooks: new Map() };
  return { ...limits, quotas: () => quotas };
}

/** A session of workers, until the signal that others have taken over. */
function session(stack: DeliveryStack, until: AbortSignal): Promise<void> {
  const log = pino({ level: 'silent' });
  routeTemporalLogs(log);
  const { sql, policy, keys, taskQueue, mailDirectory } = stack;
  const sender = createSender({
    timeoutMs: policy.attemptTimeoutMs,
    allowCidrs: ['127.0.0.0/8'],
    version: 'test',
  });
  const deps = {
    sql,
    sessionSql: sql,
    temporal: { address: inject('temporalAddress'), namespace: 'default', taskQueue },
    policy,
    workflows: 'all',
    keys,
    sender,
    mailer: createMailer({ from: 'waybill@example.test', directory: mailDirectory }),
    publicUrl: null,
    log,
    retention: { periodMs: 30 * 24 * 3_600_000, scheduled: false },
    traces: untraced,
    workflowBundle: builtWorkflows,
    scheduler: { ...schedulerDefaults, attempts: AT_ONCE },
    isDiskFull: () => false,
    limits: patient(),
    underWay: new Set<string>(),
    compensations: compensationTurns(),
    starts: createStarts(schedulerDefaults),
    watch: unwatched,
    reconcilerMemory: emptyMemory(),
    lookAtClock: async () => {},
    onRepair() {},
    onPass() {},
    onClaim() {},
    onRetentionFailure() {},
    onTemporal() {},
    onQuestionAnswered() {},
    onPolled() {},
  } as const;
  const terms = { renewal: until, until, onReady() {}, onSetBack() {}, onWorkerFailure() {} };
  return runSession(deps, terms).finally(() => sender.close());
}

test('deliveries waiting for a permit are requeued, and the new workers attempt each once', async () => {
  const stack = await stackOfTest('replaced-workers', {
    worker: false,
    policy: { attemptTimeoutMs: 60_000 },
  });
  const [released, release] = later();
  const receiver = await receiverOfTest(async () => {
    await released;
    return {};
  });
  await stack.createWebhook(receiver.url);
  await fireMany(stack, ORDERS);
  const replaced = new AbortController();
  const ended = session(stack, replaced.signal);
  await receiver.waitFor(AT_ONCE);
  await stack.until('every claim', async () => {
    const unclaimed = await stack.sql`select from deliveries where claim_id is null limit 1`;
    return unclaimed.length === 0;
  });

  replaced.abort();
  release();
  await ended;

  expect(receiver.requests).toHaveLength(AT_ONCE);
  await stack.startWorker();
  await stack.until('every delivery', async () => {
    const open = await stack.sql`select from deliveries where state <> 'delivered' limit 1`;
    return open.length === 0;
  });
  expect(receiver.requests).toHaveLength(ORDERS);
});
