/** The checker of `npm run faults`: a kept promise, and each kind of broken one. On defects: `npm run mutants`. */
import { expect, test } from 'vitest';
import { check, isUndecided } from '../../faults/check/check.ts';
import type { DeliveryRow, Evidence } from '../../faults/evidence.ts';
import { type Logbook, newLogbook } from '../../faults/logbook.ts';
import type { Arrival, Receiver } from '../../faults/receivers.ts';
import type { RetryPolicy } from '../../src/domain/retry-policy.ts';

const policy: RetryPolicy = {
  initialIntervalMs: 10_000,
  coefficient: 2,
  maxRetries: 2,
  windowMs: 600_000,
  attemptTimeoutMs: 2_000,
};
const START = 1_000_000;

function arrival(number: number, at: number, status: number | null = 503): Arrival {
  return {
    deliveryId: 'delivery',
    number,
    at: START + at,
    signedAt: START + at,
    endedAt: START + at + 100,
    status,
  };
}
/** Three attempts on time. */
const all = [arrival(1, 50), arrival(2, 10_150), arrival(3, 30_250)];

interface Seen {
  readonly outcome?: Receiver['outcome'];
  readonly arrivals?: readonly Arrival[];
  readonly row?: Partial<DeliveryRow>;
  /** Whether its webhook was deactivated, and its e-shop notified by mail. */
  readonly deactivated?: boolean;
  /** A pause of the recovery that created it, in milliseconds from the start. */
  readonly paused?: readonly [number, number];
  /** An outage, in milliseconds from the start. */
  readonly outage?: readonly [number, number];
  /** Default: ten minutes. */
  readonly windowMs?: number;
}

/** A round with one change and one receiver; by default the receiver correctly failed all three attempts. */
function judge({
  outcome = 'failed',
  arrivals = all,
  row,
  deactivated = true,
  paused,
  outage,
  windowMs = policy.windowMs,
}: Seen = {}) {
  const logbook: Logbook = {
    ...newLogbook(5_000),
    accepted: [{ type: 'CREATE_ORDER', entityId: '1', at: START }],
    outages: outage ? [{ from: START + outage[0], to: START + outage[1] }] : [],
    recoveryPauses: paused ? [{ webhookId: 7, from: START + paused[0], to: START + paused[1] }] : [],
  };
  const receiver: Receiver = {
    kind: 'tested',
    type: 'CREATE_ORDER',
    outcome,
    webhookId: 7,
    arrivals,
  };
  const delivery: DeliveryRow = {
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
    ...row,
  };
  const evidence: Evidence = {
    receivers: [receiver],
    deliveries: [delivery],
    webhooks: [
      {
        id: 7,
        active: !deactivated,
        deactivations: deactivated ? 1 : 0,
        // Right after the last attempt.
        deactivatedAt: deactivated ? (arrivals.at(-1)?.endedAt ?? START) + 50 : null,
        mailed: deactivated ? 1 : 0,
      },
    ],
    mails: deactivated ? ['<webhook-7-1-delivery@waybill.local>'] : [],
  };
  return check({ ...policy, windowMs }, 'all', logbook, evidence);
}

const delivered: Seen = {
  outcome: 'delivered',
  row: { state: 'delivered', attemptsMade: 1 },
  deactivated: false,
};
const taken = [arrival(1, 50, 200)];
/** An outage took the end of its window, and its last attempt came afterwards. */
const windowLost: Seen = {
  windowMs: 31_000,
  outage: [30_000, 36_000],
  arrivals: [...all.slice(0, 2), arrival(3, 37_000)],
};
/** Its receiver took longer than an attempt may take. */
const slow = { ...arrival(1, 50, 200), endedAt: START + 50 + policy.attemptTimeoutMs };

test.each<[string, Seen]>([
  ['a delivery that failed after all its attempts, its webhook deactivated and mailed', {}],
  ['a delivery that was taken', { ...delivered, arrivals: taken }],
  [
    'a delivery that met a time-out of a busy machine, and waits for its next attempt',
    { ...delivered, row: { state: 'retrying', attemptsMade: 1, overdueMs: -60_000 }, arrivals: [slow] },
  ],
  ['retries in a pause of its recovery', { paused: [100, 40_000] }],
  [
    'a wait shortened by the time lost before',
    { arrivals: [arrival(1, 50), arrival(2, 13_150), arrival(3, 29_250)] },
  ],
  [
    'a last chance after an outage that lasted beyond the window',
    { ...windowLost, row: { state: 'expired' }, deactivated: false },
  ],
  ['all attempts before the outage at the end of the window', { windowMs: 35_000, outage: [33_000, 36_000] }],
  [
    'a last attempt as early as the end of the window asks for, after time was lost',
    { windowMs: 31_000, arrivals: [arrival(1, 50), arrival(2, 13_150), arrival(3, 29_400)] },
  ],
])('kept promise: %s', (_, seen) => {
  expect(judge(seen)).toMatchObject({ accepted: 1, violations: [] });
});

test.each<[string, string, Seen]>([
  ['lost', 'never taken', { ...delivered, arrivals: [] }],
  ['stuck', 'open at the end', { ...delivered, row: { state: 'retrying' }, arrivals: [arrival(1, 50)] }],
  ['wrong', 'an attempt left out', { arrivals: [arrival(1, 50), arrival(3, 30_250)] }],
  [
    'stuck',
    'open after a time-out of a busy machine, and nothing planned',
    { ...delivered, row: { state: 'retrying', attemptsMade: 1 }, arrivals: [slow] },
  ],
  [
    'lost',
    'canceled after a time-out of a busy machine',
    { ...delivered, row: { state: 'canceled', attemptsMade: 1 }, arrivals: [slow] },
  ],
  [
    'wrong',
    'signed for an hour later',
    { ...delivered, arrivals: [{ ...arrival(1, 50, 200), signedAt: START + 3_600_000 }] },
  ],
  [
    'wrong',
    'begun in a pause of its recovery',
    { ...delivered, arrivals: [arrival(1, 2_000, 200)], paused: [0, 3_000] },
  ],
  ['wrong', 'made again without a fault', { ...delivered, arrivals: [...taken, arrival(1, 400, 200)] }],
  [
    'wrong',
    'shortened by more than was lost',
    { arrivals: [arrival(1, 50), arrival(2, 13_150), arrival(3, 26_000)] },
  ],
  ['late', 'beyond its plan, without an outage', { arrivals: [...all.slice(0, 2), arrival(3, 36_000)] }],
  [
    'late',
    'after the window, without an outage at its end',
    {
      windowMs: 25_000,
      outage: [11_000, 18_000],
      arrivals: [...all.slice(0, 2), arrival(3, 36_000)],
    },
  ],
  [
    'wrong',
    'at the end of the window, and shortened by more than its room and what was lost',
    { windowMs: 31_000, arrivals: [arrival(1, 50), arrival(2, 13_150), arrival(3, 26_000)] },
  ],
  ['wrong', 'before its time', { arrivals: [arrival(1, 50), arrival(2, 4_000), arrival(3, 24_100)] }],
  ['wrong', 'failed by an outage that took the end of its window', windowLost],
  [
    'wrong',
    'expired although all attempts came before the outage',
    { windowMs: 35_000, outage: [33_000, 36_000], row: { state: 'expired' }, deactivated: false },
  ],
  ['wrong', 'deactivated without a reason', { ...delivered, arrivals: taken, deactivated: true }],
])('%s: %s', (kind, _, seen) => {
  expect(judge(seen).violations.map((violation) => violation.kind)).toContain(kind);
});

test('a busy machine excuses what is late, and nothing else', () => {
  const late = judge({ arrivals: [...all.slice(0, 2), arrival(3, 36_000)] });
  expect(isUndecided(late, 50, 100)).toBe(true);
  expect(isUndecided(late, 49, 100)).toBe(false);
  expect(isUndecided(judge(), 100, 100)).toBe(false);
  const lost = judge({ ...delivered, arrivals: [] });
  expect(isUndecided(lost, 100, 100)).toBe(false);
  expect(isUndecided({ violations: [...late.violations, ...lost.violations] }, 100, 100)).toBe(false);
});
