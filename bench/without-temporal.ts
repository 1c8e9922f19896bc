/**
 * What the attempts of the rush lane reach without any Temporal, as a process of its own: the same claims, the same
 * batches and the same attempt code, begun by a call instead of a workflow. The bound that no engine can pass. Nothing
 * that a batch hands back is followed up.
 */
import pino from 'pino';
import { makeBatch } from '../src/attempt/make-batch.ts';
import { createRooms } from '../src/attempt/rooms.ts';
import { BATCH_SLOTS, createSlots } from '../src/attempt/slots.ts';
import { unwatched } from '../src/attempt/watch.ts';
import { createPool } from '../src/db/pool.ts';
import { createSender } from '../src/delivery/sender.ts';
import { defaultRetryPolicy as policy } from '../src/domain/retry-policy.ts';
import { dispatchBatch } from '../src/relay/batches.ts';
import { createImports } from '../src/relay/imports.ts';
import { createLane } from '../src/relay/lane.ts';
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
const slots = createSlots(BATCH_SLOTS);
const batchRooms = createRooms(BATCH_SLOTS);
const keys = createKeys(Buffer.from(SECRET_KEY, 'base64'));
const deps = {
  sql,
  sender,
  keys,
  rooms: batchRooms,
  batchRooms,
  log,
  slots,
  watch: unwatched,
  traces: untraced,
};
const stop = new AbortController();
const signals = { stop: stop.signal, abort: new AbortController().signal };
const running = new Map<string, Promise<unknown>>();

const lane = createLane('batch');
const starter = {
  async startBatch(batchId: string) {
    if (running.has(batchId)) return false;
    const batch = makeBatch(deps, { batchId, policy }, signals)
      .catch((error: unknown) => log.error({ err: error }, 'a batch failed'))
      .finally(() => running.delete(batchId));
    running.set(batchId, batch);
    return true;
  },
};
const imports = createImports(() => 1);
const loop = startLoop({
  what: 'deliveries',
  step: () =>
    dispatchBatch(
      {
        sql,
        log,
        starter,
        checkBatch: async () => {},
        slots,
        batchLimits: batchRooms.claimLimits,
        imports,
        onTaken() {},
      },
      lane,
      { claimed() {} },
    ),
  onFailure() {},
  onRound() {},
  log,
});

process.once('SIGTERM', async () => {
  stop.abort();
  await loop.stop();
  await Promise.all(running.values());
  await sender.close();
  await sql.end();
});
