/** Lines of the log: readable by machines and people, and not too many. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WatchedAttempt } from '../../src/attempt/watch.ts';
import { onceAMinute } from '../../src/lib/once-a-minute.ts';
import { logDeliveries } from '../../src/log/delivery-log.ts';
import { createLog, logStarted } from '../../src/log/log.ts';
import { loggedError } from '../../src/log/logged-error.ts';
import type { Output } from '../../src/log/output.ts';

function collector() {
  let text = '';
  const to: Output = {
    write(line) {
      text += line;
    },
    lost: () => 0,
    onResumed() {},
  };
  return { to, lines: () => text.split('\n').filter((line) => line !== '') };
}

async function logTo(terminal: boolean) {
  const { to, lines } = collector();
  const log = await createLog({ level: 'info', role: 'worker', terminal, colors: false, to });
  return { log, lines };
}

const failed: WatchedAttempt = {
  delivery: {
    id: '019aa1b2-0000-7000-8000-000000000001',
    eshopId: 3,
    webhookId: 7,
    eventType: 'CREATE_ORDER',
  },
  number: 2,
  outcome: 'failure',
  status: 503,
  durationMs: 212,
  error: 'HTTP 503 from shop.example after 212 ms',
  nextAttemptAt: new Date('2026-11-20T12:00:25.000Z'),
  toFirstByte: null,
};

describe('for machines', () => {
  test('a line is one JSON object, with the role', async () => {
    const { log, lines } = await logTo(false);
    logStarted(log, 'relay', { taskQueue: 'deliveries' })();
    log.debug('not at this level');
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, role: 'worker', part: 'relay', taskQueue: 'deliveries', msg: 'relay started' },
      { level: 30, role: 'worker', part: 'relay', msg: 'relay stopped' },
    ]);
  });

  test('failed and interrupted attempts and deactivations have a line; accepted ones do not', async () => {
    const { log, lines } = await logTo(false);
    const watch = logDeliveries(log);
    watch.attempted(failed);
    watch.attempted({ ...failed, outcome: 'success', error: null });
    watch.ended('CREATE_ORDER', 'delivered');
    const { id: deliveryId, eshopId, webhookId } = failed.delivery;
    watch.interrupted({ deliveryId, error: new Error('the database is unavailable') });
    watch.deactivated({
      deliveryId,
      eshopId,
      webhookId,
      reason: 'gone',
      lastError: 'HTTP 410 from shop.example',
    });
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 30,
        msg: 'attempt failed',
        deliveryId,
        eshopId,
        webhookId,
        eventType: 'CREATE_ORDER',
        attempt: 2,
        httpStatus: 503,
        reason: failed.error,
        nextAttemptAt: '2026-11-20T12:00:25.000Z',
      },
      {
        level: 40,
        msg: 'attempt interrupted by a failure of Waybill itself',
        deliveryId,
        err: { message: 'the database is unavailable' },
      },
      { level: 40, msg: 'webhook deactivated', eshopId, webhookId, deliveryId, why: 'gone' },
    ]);
  });
});

describe('for people', () => {
  test('a line begins with the time and says what happened', async () => {
    const { log, lines } = await logTo(true);
    log.info({ method: 'GET', route: '/v21/orders/:id', status: 200, ms: 12, eshopId: 3 }, 'request');
    logDeliveries(log).attempted(failed);
    log.info({ part: 'relay' }, 'relay started');
    const [request = '', attempt = '', part = ''] = lines();
    expect(request).toMatch(
      /^\[\d\d:\d\d:\d\d\] INFO: request: GET \/v21\/orders\/:id 200 in 12 ms \{"eshopId":3\}$/,
    );
    expect(attempt).toContain('INFO: attempt failed: HTTP 503 from shop.example after 212 ms {"deliveryId"');
    expect(part).toMatch(/INFO: relay started \{"part":"relay"\}$/);
  });
});

describe('while thousands of deliveries fail', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('failed attempts get twenty lines per second, then a line with the count of the rest', async () => {
    const { log, lines } = await logTo(false);
    const watch = logDeliveries(log);
    for (let index = 0; index < 1_000; index += 1) watch.attempted(failed);
    expect(lines()).toHaveLength(20);
    vi.advanceTimersByTime(1_000);
    expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({ count: 980 });
    watch.attempted(failed);
    expect(lines()).toHaveLength(22);
    vi.advanceTimersByTime(1_000);
    expect(lines()).toHaveLength(22);
  });

  test('interrupted attempts have a limit of their own', async () => {
    const { log, lines } = await logTo(false);
    const watch = logDeliveries(log);
    const interruption = { deliveryId: failed.delivery.id, error: new Error('the database is unavailable') };
    for (let index = 0; index < 1_000; index += 1) watch.interrupted(interruption);
    watch.attempted(failed);
    expect(lines()).toHaveLength(21);
    vi.advanceTimersByTime(1_000);
    expect(lines()).toHaveLength(22);
    expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({ level: 40, count: 980 });
  });
});

describe('a logged error', () => {
  test('has type, message, code, stack and cause, but no other property', () => {
    const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    const error = Object.assign(new TypeError('no answer', { cause }), {
      input: 'planted',
      detail: 'planted',
    });
    const logged = loggedError(error);
    expect(logged).toMatchObject({
      type: 'TypeError',
      message: 'no answer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { message: 'connection refused', code: 'ECONNREFUSED' },
    });
    expect(JSON.stringify(logged)).not.toContain('planted');
  });

  test('does not quote text that could not be parsed', () => {
    const thrown = (() => {
      try {
        return JSON.parse('planted');
      } catch (error) {
        return error;
      }
    })();
    expect(String(thrown)).toContain('planted');
    expect(JSON.stringify(loggedError(thrown))).not.toContain('planted');
  });

  test('contains all errors of an aggregate', () => {
    const several = new AggregateError([new Error('one'), new Error('other')], 'both');
    expect(loggedError(several)).toMatchObject({ errors: [{ message: 'one' }, { message: 'other' }] });
  });

  test('ends even if its causes form a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(loggedError(error)).match(/"message":"round"/g)).toHaveLength(5);
  });

  test('is not quoted if it is not an Error', () => {
    expect(JSON.stringify(loggedError('planted'))).not.toContain('planted');
  });
});

test.each([
  [
    'delivery/7/CREATE_ORDER/planted%20order/019aa1b2-0000-7000-8000-000000000001',
    'delivery/019aa1b2-0000-7000-8000-000000000001',
  ],
  ['delivery/019aa1b2-0000-7000-8000-000000000001', 'delivery/019aa1b2-0000-7000-8000-000000000001'],
  ['release/3/planted/order', 'release/3/…'],
  ['recovery/019aa1b2-0000-7000-8000-000000000002', 'recovery/019aa1b2-0000-7000-8000-000000000002'],
])('the log shows the workflow %s without the identifier of a record', async (workflowId, shown) => {
  const { log, lines } = await logTo(false);
  log.child({ part: 'temporal-sdk' }).info({ workflowId }, 'Workflow failed');
  expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ workflowId: shown });
});

test('onceAMinute() keeps one line per reason, with the count of the others', () => {
  let now = 0;
  const kept = onceAMinute(() => now);
  expect(kept('poll retried 1 times: connection refused')).toBe(0);
  expect(kept('poll retried 2 times: connection refused')).toBeNull();
  expect(kept('another reason')).toBe(0);
  now = 60_000;
  expect(kept('poll retried 99 times: connection refused')).toBe(1);
  expect(kept('poll retried 100 times: connection refused')).toBeNull();
});
