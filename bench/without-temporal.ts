/**
 * The throughput of batch mode without Temporal, as its own process: the same claims, batches and attempt code, begun by a call instead
 * of a workflow. This is the bound for any engine. Requeued deliveries are not followed up.
 */
import pino from 'pino';
import { makeBatch } from '../src/attempt/make-batch.ts';
import { unwatched } from '../src/attempt/watch.ts';
import { createLimits } from '../src/concurrency/limits.ts';
import { schedulerDefaults as options } from '../src/concurrency/settings.ts';
import { createStarts } from '../src/concurrency/starts.ts';
import { claimDeliveries } from '../src/db/outbox/claim.ts';
import { createPool } from '../src/db/pool.ts';
import { throughSessions } from '../src/db/through-sessions.ts';
import { createSender } from '../src/delivery/sender.ts';
import { defaultRetryPolicy as policy } from '../src/domain/retry-policy.ts';
import { createPrecedence } from '../src/relay/classes.ts';
import { dispatchOf } from '../src/relay/deliveries.ts';
import { startLoop } from '../src/relay/loop.ts';
import { createKeys } from '../src/secrets/keys.ts';
import { untraced } from '../src/traces/traces.ts';

const { DATABASE_URL = '', SECRET_KEY = '', DELIVERY_ALLOW_CIDRS = '' } = process.env;
const POOL_SIZE = 20;

const log = pino({ level: 'warn' }, pino.destination({ fd: 2, sync: true }));
const sql = createPool(DATABASE_URL, POOL_SIZE);
const sender = createSender({
  timeoutMs: policy.attemptTimeoutMs,
  allowCidrs: DELIVERY_ALLOW_CIDRS.split(','),
  version: 'bench',
});
const limits = createLimits(options);
const starts = createStarts(options);
const keys = createKeys(Buffer.from(SECRET_KEY, 'base64'));
const deps = {
  sql,
  execute: throughSessions(sql, null),
  sender,
  keys,
  limits,
  underWay: new Set<string>(),
  starts,
  log,
  watch: unwatched,
  traces: untraced,
};
const stop = new AbortController();
const signals = { stop: stop.signal, abort: new AbortController().signal };
const running = new Map<string, Promise<unknown>>();

const starter = {
  async startBatch(batchId: string) {
    if (running.has(batchId)) return false;
    starts.begun(batchId);
    const batch = makeBatch(deps, { batchId, policy }, signals)
      .catch((error: unknown) => log.error({ err: error }, 'a batch failed'))
      .finally(() => running.delete(batchId));
    running.set(batchId, batch);
    return true;
  },
};
const dispatch = dispatchOf(
  {
    ...deps,
    dispatcher: { startDelivery: () => Promise.reject(new Error('only batches are made')) },
    starter,
    checkBatch: async () => {},
    stopping: stop.signal,
    options,
    firstAttempts: 'batch',
    claim: (limits) => claimDeliveries(sql, limits),
    // There are only batches.
    inHand: { count: () => 0, take() {} },
    onAnswered: starts.answered,
  },
  'fresh',
  createPrecedence(options.patienceMs),
);
const loop = startLoop({
  what: 'fresh',
  step: dispatch.step,
  onFailure() {},
  onRound() {},
  log,
  options,
});

process.once('SIGTERM', async () => {
  stop.abort();
  await loop.stop();
  await Promise.all(running.values());
  await sender.close();
  await sql.end();
});
