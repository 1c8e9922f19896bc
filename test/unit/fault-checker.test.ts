/** The checker of `npm run faults`: the violations that it must find. */
import { expect, test } from 'vitest';
import { check } from '../../faults/check/check.ts';
import { checkOrder, type OrderedTraffic } from '../../faults/check/ordering.ts';
import type { Violation } from '../../faults/check/violation.ts';
import type { DeliveryRow, Evidence } from '../../faults/evidence.ts';
import { type Ledger, newLedger } from '../../faults/ledger.ts';
import type { Arrival, Receiver } from '../../faults/receivers.ts';
import type { Setting } from '../../faults/settings.ts';
import { jitteredWait, type RetryPolicy } from '../../src/domain/retry-policy.ts';

const policy: RetryPolicy = {
  initialIntervalMs: 10_000,
  coefficient: 2,
  maxRetries: 2,
  windowMs: 600_000,
  attemptTimeoutMs: 2_000,
};
const START = 1_000_000;

function arrival(number: number, at: number, status: number | null = 503): Arrival {
  return { deliveryId: 'delivery', number, at: START + at, endedAt: START + at + 100, status };
}
/** Three attempts on time. */
const all = [arrival(1, 50), arrival(2, 10_150), arrival(3, 30_250)];

interface Seen {
  readonly outcome?: Receiver['outcome'];
  readonly arrivals?: readonly Arrival[];
  readonly row?: Partial<DeliveryRow> | null;
  readonly active?: boolean;
  readonly deactivations?: number;
  /** In milliseconds after the start. */
  readonly deactivatedAt?: number;
  readonly mailed?: number;
  readonly mails?: number;
  readonly ledger?: Partial<Ledger>;
  readonly workflows?: Setting;
}

/** A round with one change and one receiver; by default the receiver correctly failed all three attempts. */
function judge(seen: Seen = {}) {
  const ledger: Ledger = {
    ...newLedger(5_000),
    accepted: [{ type: 'CREATE_ORDER', entityId: '1', at: START }],
    ...seen.ledger,
  };
  const receiver: Receiver = {
    kind: 'tested',
    type: 'CREATE_ORDER',
    outcome: seen.outcome ?? 'failed',
    url: 'http://shop.example/',
    webhookId: 7,
    arrivals: seen.arrivals ?? all,
  };
  const row: DeliveryRow = {
    id: 'delivery',
    webhookId: 7,
    eventType: 'CREATE_ORDER',
    entityId: '1',
    state: 'failed',
    attemptsMade: 3,
    overdueMs: null,
    lastError: 'HTTP 503',
    queued: false,
    hasWorkflow: true,
    ...seen.row,
  };
  const { active = false, deactivations = 1, mailed = 1, mails = 1 } = seen;
  // By default right after the last attempt.
  const deactivatedAt = seen.deactivatedAt ?? (receiver.arrivals.at(-1)?.endedAt ?? START) - START + 50;
  const evidence: Evidence = {
    at: START + 60_000,
    receivers: [receiver],
    deliveries: seen.row === null ? [] : [row],
    webhooks: [
      {
        id: 7,
        active,
        deactivations,
        deactivatedAt: deactivations === 0 ? null : START + deactivatedAt,
        mailed,
      },
    ],
    mails: Array.from({ length: mails }, () => ({
      at: START + 31_000,
      to: 'shop@shop.example',
      messageId: '<webhook-7-1-delivery@waybill.local>',
      text: '',
    })),
  };
  return check(policy, seen.workflows ?? 'all', ledger, evidence);
}

const kinds = (seen: Seen) => judge(seen).violations.map(({ kind }) => kind);
const texts = (seen: Seen) =>
  judge(seen)
    .violations.map(({ text }) => text)
    .join('; ');
const deactivatedNot = { active: true, deactivations: 0, mailed: 0, mails: 0 };
const delivered = {
  outcome: 'delivered',
  row: { state: 'delivered', attemptsMade: 1 },
  ...deactivatedNot,
} as const;

test('a delivery that failed after all its attempts, its webhook deactivated and mailed, is as promised', () => {
  expect(judge()).toMatchObject({ accepted: 1, delivered: 0, repeated: 0, violations: [] });
});

test('a delivery that was taken is as promised', () => {
  const verdict = judge({ ...delivered, arrivals: [arrival(1, 50, 200)] });
  expect(verdict).toMatchObject({ accepted: 1, delivered: 1, latestMs: 50, violations: [] });
});

test('accepted and nowhere, or recorded as delivered and never taken, is lost', () => {
  expect(kinds({ ...delivered, row: null, arrivals: [] })).toEqual(['lost']);
  expect(kinds({ ...delivered, arrivals: [] })).toEqual(['lost']);
});

test('failed, expired or canceled although its receiver would have taken it is lost', () => {
  for (const state of ['expired', 'canceled'] as const)
    expect(kinds({ ...delivered, row: { state, attemptsMade: 1 }, arrivals: [arrival(1, 50, 200)] })).toEqual(
      ['lost'],
    );
});

test('open at the end is stuck', () => {
  const row = { state: 'retrying', attemptsMade: 1 } as const;
  const seen = { ...delivered, row, arrivals: [arrival(1, 50)] };
  expect(kinds(seen)).toEqual(['stuck']);
  expect(texts(seen)).toContain('nothing planned');
});

test('fewer attempts than the policy has, or more, are wrong', () => {
  expect(texts({ arrivals: all.slice(0, 2), row: { attemptsMade: 2 } })).toContain('after 2 attempts');
  expect(texts({ arrivals: [...all, arrival(4, 70_400)] })).toContain('attempt 4 of at most 3');
});

test('an attempt left out is wrong', () => {
  expect(texts({ arrivals: [arrival(1, 50), arrival(3, 30_250)] })).toContain('attempt 3 after attempt 1');
});

test('an attempt made again is wrong, unless a fault met it in flight', () => {
  const arrivals = [arrival(1, 50, 200), arrival(1, 400, 200)];
  expect(texts({ ...delivered, arrivals })).toContain('made again');
  const outages = [{ from: START + 100, to: START + 300 }];
  expect(judge({ ...delivered, arrivals, ledger: { outages } })).toMatchObject({
    repeated: 1,
    violations: [],
  });
  const inOrder = [{ from: START + 100, to: START + 300, inOrder: true }];
  expect(texts({ ...delivered, arrivals, ledger: { outages: inOrder } })).toContain('made again');
});

test('two requests of a delivery at its receiver at once are wrong, whatever fault there was', () => {
  const arrivals = [{ ...arrival(1, 50, 200), endedAt: START + 500 }, arrival(1, 400, 200)];
  const outages = [{ from: START + 100, to: START + 300 }];
  expect(texts({ ...delivered, arrivals, ledger: { outages } })).toContain('was at its receiver');
});

test('a request whose sender has given it up is over, unless the sender died', () => {
  const held = { ...arrival(1, 50), endedAt: START + 12_500, leftAt: START + 2_050 };
  const arrivals = [held, arrival(2, 12_150), arrival(3, 32_250)];
  expect(texts({ arrivals })).toBe('');
  const outages = [{ from: START + 2_100, to: START + 3_000 }];
  expect(texts({ arrivals, ledger: { outages } })).toContain('was at its receiver');
});

test('later than plan, outage and grace is wrong; an outage puts the plan off by its length', () => {
  const arrivals = [arrival(1, 50), arrival(2, 25_000), arrival(3, 45_100)];
  const late = 25_000 - 150 - jitteredWait(policy, 'delivery', 1);
  expect(texts({ arrivals })).toContain(`attempt 2 came ${late} ms beyond`);
  const outages = [{ from: START + 10_000, to: START + 22_000 }];
  expect(texts({ arrivals, ledger: { outages } })).toBe('');
  expect(judge({ arrivals, ledger: { outages } }).latestMs).toBe(late);
});

test('before its time is wrong, unless somebody ordered it', () => {
  const arrivals = [arrival(1, 50), arrival(2, 4_000), arrival(3, 24_100)];
  expect(texts({ arrivals })).toContain('before its time');
  const ordered = new Map([['delivery', START + 3_900]]);
  expect(texts({ arrivals, ledger: { ordered } })).toBe('');
});

test('a webhook that stays active after a failure, or is deactivated without one, is wrong', () => {
  expect(texts({ active: true })).toContain('the webhook is still active');
  expect(texts({ ...delivered, arrivals: [arrival(1, 50, 200)], active: false })).toContain(
    'without a reason',
  );
});

test('a deactivation long after the last attempt is wrong; an outage puts it off, with a step that it met', () => {
  const deactivated = (deactivatedAt: number, ...outages: Ledger['outages']) =>
    texts({ deactivatedAt, ledger: { outages } });
  // The last attempt ended at 30,350.
  expect(deactivated(35_350)).toBe('');
  expect(deactivated(35_351)).toContain('deactivated 5001 ms beyond');
  const before = { from: START + 100, to: START + 20_000 };
  expect(deactivated(35_351, before)).toContain('deactivated 5001 ms beyond');
  const outage = { from: START + 30_300, to: START + 32_300 };
  expect(deactivated(52_350, outage)).toBe('');
  expect(deactivated(52_351, outage)).toContain('deactivated 20001 ms beyond');
});

test('no mail and two mails are wrong; two are forgiven where a 250 was lost', () => {
  expect(texts({ mails: 0 })).toContain('0 mails, not 1');
  expect(texts({ mailed: 0 })).toContain('0 mails recorded');
  expect(texts({ mails: 2 })).toContain('2 mails, not 1');
  expect(texts({ mails: 2, ledger: { mailsMayRepeat: true } })).toBe('');
});

test('a delivery that an operator ended is held against what was ordered', () => {
  const row = { state: 'canceled', attemptsMade: 1 } as const;
  const seen = { row, arrivals: [arrival(1, 50)], ...deactivatedNot };
  expect(texts(seen)).toContain('canceled after 1 attempt, not failed');
  expect(texts({ ...seen, ledger: { exceptions: new Map([['delivery', ['canceled']]]) } })).toBe('');
});

test('a lost window is wrong, unless our outage, and the grace after it, lasted to its end', () => {
  const row = { state: 'expired', attemptsMade: 2 } as const;
  const seen = { row, arrivals: all.slice(0, 2), ...deactivatedNot };
  // The window began with the first attempt.
  const windowEndsAt = START + 50 + policy.windowMs;
  const until = (to: number) => texts({ ...seen, ledger: { outages: [{ from: START + 20_000, to }] } });
  expect(until(windowEndsAt - 5_001)).toContain('expired after 2 attempts, not failed');
  expect(until(windowEndsAt - 5_000)).toBe('');
  const delivery = { ...delivered, row, arrivals: [arrival(1, 50)] };
  const outages = [{ from: START + 20_000, to: windowEndsAt }];
  expect(texts({ ...delivery, ledger: { outages } })).toContain('expired');
});

/** Two changes of a record, the first refused once; each is accepted in its turn. */
const twoInOrder: OrderedTraffic = {
  name: 'record',
  latest: false,
  types: ['UPDATE_ORDER'],
  deliveries: [1, 2].map((sequence) => ({
    id: `d${sequence}`,
    type: 'UPDATE_ORDER',
    entityId: '1',
    sequence,
    state: 'delivered',
    supersededBy: null,
  })),
  arrivals: [
    { deliveryId: 'd1', at: 0, endedAt: 10, accepted: false },
    { deliveryId: 'd1', at: 20, endedAt: 30, accepted: true },
    { deliveryId: 'd2', at: 40, endedAt: 50, accepted: true },
  ],
  canceled: new Set(),
};
const [one, two] = twoInOrder.deliveries;
const superseded = { state: 'superseded', supersededBy: 'd2' } as const;

test.each<[string, Partial<OrderedTraffic>, Violation['kind'][]]>([
  ['in order', {}, []],
  [
    'the second came while the first was refused',
    { arrivals: [{ ...at(2), at: 15 }, at(0), at(1)] },
    ['wrong'],
  ],
  ['nobody took the second', { arrivals: [at(0), at(1)] }, ['lost']],
  ['no delivery of the second', { deliveries: [some(one)] }, ['lost']],
  ['the first is open', { deliveries: [{ ...some(one), state: 'retrying' }, some(two)] }, ['stuck']],
  ['the first was given up on', { deliveries: [{ ...some(one), state: 'canceled' }, some(two)] }, ['lost']],
  [
    'superseded by the second',
    { latest: true, deliveries: [{ ...some(one), ...superseded }, some(two)] },
    [],
  ],
  [
    'superseded by itself',
    { latest: true, deliveries: [{ ...some(one), ...superseded, supersededBy: 'd1' }, some(two)] },
    ['lost'],
  ],
])('of events in order: %s', (_, change, kinds) => {
  const events = twoInOrder.deliveries.map(({ type, entityId, sequence }) => ({ type, entityId, sequence }));
  expect(checkOrder({ ...twoInOrder, ...change }, events).map(({ kind }) => kind)).toEqual(kinds);
});

function some<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('missing');
  return found;
}
function at(index: number) {
  return some(twoInOrder.arrivals[index]);
}

test('a healthy receiver that answers too late on a busy machine is no failure of Waybill', () => {
  const unanswered = (outage: object, lastError = 'no response from 127.0.0.1:1 within 2 s') =>
    kinds({
      ...deactivatedNot,
      outcome: 'delivered',
      arrivals: [arrival(1, 50, 200)],
      row: { state: 'retrying', attemptsMade: 1, overdueMs: -9_000, lastError },
      ledger: { outages: [{ from: START - 500, to: START + 500, ...outage }] },
    });
  const stuck = ['stuck'];
  expect(unanswered({ busy: true })).toEqual([]);
  expect(unanswered({})).toEqual(stuck);
  expect(unanswered({ busy: true }, 'HTTP 503')).toEqual(stuck);
  expect(unanswered({ busy: true, from: START + 5_000, to: START + 6_000 })).toEqual(stuck);
});

test('a delivery that was attempted and has no workflow is wrong, unless the setting gives it none', () => {
  const attempted = (attemptsMade: number) => ({
    ...delivered,
    arrivals: [arrival(1, 50, attemptsMade === 1 ? 200 : 503), arrival(2, 10_150, 200)].slice(
      0,
      attemptsMade,
    ),
    row: { state: 'delivered', attemptsMade, hasWorkflow: false } as const,
  });
  expect(texts(attempted(1))).toContain('without a workflow');
  expect(texts({ ...attempted(1), workflows: 'undelivered' })).toBe('');
  expect(texts({ ...attempted(2), workflows: 'undelivered' })).toContain('without a workflow');
});

test('a delivery without a workflow is not wrong if it was never attempted, or if a fault has taken workflows', () => {
  const canceled = { state: 'canceled', attemptsMade: 0, hasWorkflow: false } as const;
  const ledger: Partial<Ledger> = { exceptions: new Map([['delivery', ['canceled']]]) };
  expect(texts({ ...deactivatedNot, row: canceled, arrivals: [], ledger })).toBe('');
  expect(
    texts({ ...delivered, arrivals: [arrival(1, 50, 200)], row: { ...delivered.row, hasWorkflow: null } }),
  ).toBe('');
});

test('an ended delivery that still waits in the queue is stuck', () => {
  expect(
    kinds({ ...delivered, arrivals: [arrival(1, 50, 200)], row: { ...delivered.row, queued: true } }),
  ).toEqual(['stuck']);
});
