/** The pace of a recovery, and its displayed progress. */
import { describe, expect, test } from 'vitest';
import { idAt } from '../../../src/domain/id-time.ts';
import {
  estimatedDurationMs,
  isUnderWay,
  lostSince,
  recoveryOfWebhook,
  recoveryReason,
  shownRecoveryState,
} from '../../../src/domain/recovery.ts';
import {
  allowanceFor,
  nextPace,
  type RecoveryCounts,
  type RecoveryPace,
} from '../../../src/domain/recovery-pace.ts';
import { recoveryProgress, type StoredRecovery } from '../../../src/domain/recovery-progress.ts';

const fresh = { ended: 0, superseded: 0, rate: null };
const counts = (change: Partial<RecoveryCounts> = {}): RecoveryCounts => ({
  created: 0,
  pending: 0,
  blocked: 0,
  retrying: 0,
  failed: 0,
  superseded: 0,
  ...change,
});

test('the delivery that caused the deactivation is among the losses of its webhook, however old', () => {
  const at = new Date('2026-11-20T12:00:00.000Z');
  const windowMs = 48 * 3_600_000;
  const created = new Date('2026-11-01');
  const since = (deliveryId: string | null, registeredAt = created) =>
    lostSince({ at, deliveryId }, registeredAt, windowMs).toISOString();
  expect(since(null)).toBe('2026-11-18T12:00:00.000Z');
  expect(since(idAt(new Date('2026-11-19')))).toBe('2026-11-18T12:00:00.000Z');
  // Its window was extended by a pause.
  expect(since(idAt(new Date('2026-11-15')))).toBe('2026-11-15T00:00:00.000Z');
  expect(since(null, new Date('2026-11-19'))).toBe('2026-11-19T00:00:00.000Z');
});

describe('the pace', () => {
  test('the page size doubles while deliveries are accepted, up to 500', () => {
    const allowed: number[] = [];
    for (let created = 0, ended = 0, step = 0; step < 7; step += 1) {
      const allowance = allowanceFor(counts({ created }), { ...fresh, ended });
      allowed.push(allowance);
      ended = created;
      created += allowance;
    }
    expect(allowed).toEqual([20, 40, 80, 160, 320, 500, 500]);
  });

  test('waiting deliveries count toward the page size', () => {
    expect(allowanceFor(counts({ created: 15, pending: 15 }), fresh)).toBe(5);
    expect(allowanceFor(counts({ created: 65, pending: 45 }), { ...fresh, ended: 0 })).toBe(0);
    expect(allowanceFor(counts({ created: 75, pending: 45 }), { ...fresh, ended: 0 })).toBe(15);
  });

  test('a failing recovery tries one at a time, and a success restores the page size', () => {
    const failing = counts({ created: 30, retrying: 30 });
    expect(allowanceFor(failing, fresh)).toBe(1);
    expect(allowanceFor({ ...failing, created: 31 }, fresh)).toBe(20);
    expect(allowanceFor(counts({ created: 19, retrying: 19 }), fresh)).toBe(20);
    expect(allowanceFor(counts({ created: 20, retrying: 20 }), fresh)).toBe(1);
    expect(allowanceFor(counts({ created: 2_000, retrying: 1_000 }), fresh)).toBe(0);
  });

  test('recovery continues beside refused records until 5,000 deliveries are blocked', () => {
    const behind = (blocked: number, pending = 0) =>
      allowanceFor(counts({ created: 10_000, pending: pending + blocked, blocked, retrying: 1 }), {
        ...fresh,
        ended: 10_000 - pending - blocked - 1,
      });
    expect(behind(20)).toBe(20);
    expect(behind(400, 15)).toBe(5);
    expect(behind(4_990)).toBe(10);
    expect(behind(5_000)).toBe(0);
    expect(behind(5_400)).toBe(0);
  });

  test('superseded deliveries neither count as successes nor are waited for', () => {
    const failing = counts({ created: 100, retrying: 30, superseded: 70 });
    expect(allowanceFor(failing, { ...fresh, superseded: 40 })).toBe(1);
    expect(nextPace(fresh, failing, { elapsedS: 1, ageS: 1 })).toEqual({
      ended: 0,
      superseded: 70,
      rate: null,
    });
    expect(allowanceFor(counts({ created: 70, superseded: 70 }), fresh)).toBe(20);
    const taking = counts({ created: 100, superseded: 75 });
    expect(allowanceFor(taking, { ...fresh, superseded: 15 })).toBe(170);
    expect(nextPace(fresh, taking, { elapsedS: 1, ageS: 1 })).toMatchObject({ ended: 25, rate: 25 });
  });

  test('the rate is that of ended deliveries, and not measured across a pause', () => {
    const first = nextPace(fresh, counts({ created: 20 }), { elapsedS: 2, ageS: 2 });
    expect(first).toMatchObject({ ended: 20, rate: 10 });
    for (const elapsedS of [null, 0, 60])
      expect(nextPace(first, counts({ created: 20 }), { elapsedS, ageS: 62 }).rate).toBe(10);
    expect(nextPace(fresh, counts({ created: 20, pending: 20 }), { elapsedS: 2, ageS: 2 }).rate).toBeNull();
    expect(nextPace(first, counts({ created: 20 }), { elapsedS: 20, ageS: 22 }).rate).toBeLessThan(2);
  });
});

/** Plays a recovery whose receiver accepts as `takes` says; answers the error of its estimated end, in per cent. */
function played(found: number, takes: (second: number, pending: number) => number): Map<number, number> {
  let pace: RecoveryPace = fresh;
  let [created, pending] = [0, 0];
  const asked: { readonly share: number; readonly at: number; readonly end: number }[] = [];
  for (let second = 0; ; second += 1) {
    pending -= Math.min(pending, takes(second, pending));
    const now = counts({ created, pending });
    const next = nextPace(pace, now, { elapsedS: second === 0 ? null : 1, ageS: second });
    const allowance = Math.min(found - created, allowanceFor(now, pace));
    pace = next;
    created += allowance;
    pending += allowance;
    const at = new Date(second * 1_000);
    const { left, done, estimatedEndAt } = recoveryProgress({
      ...stored,
      ...counts({ created, pending }),
      found,
      rate: pace.rate,
      exhausted: created === found,
      now: at,
    });
    if (left === 0) {
      return new Map(asked.map((one) => [one.share, Math.abs(one.end - second) / (second - one.at)]));
    }
    for (const share of [25, 50, 75]) {
      if (done < (found * share) / 100 || asked.some((one) => one.share === share)) continue;
      asked.push({ share, at: second, end: (estimatedEndAt?.getTime() ?? Number.NaN) / 1_000 });
    }
  }
}

describe('the estimated end', () => {
  test.each([
    ['a receiver that accepts everything at once', 20_000, () => Number.POSITIVE_INFINITY],
    ['a receiver that accepts 40 per second', 4_000, () => 40],
    [
      'a receiver that accepts more and less in turns',
      10_000,
      (second: number) => (second % 8 < 4 ? 150 : 50),
    ],
    [
      'a recovery that gets its turn every 15 seconds during a lasting burst',
      4_000,
      (second: number) => (second % 15 === 14 ? 100 : 0),
    ],
  ])('is off by a fifth at most: %s', (_, found, takes) => {
    const off = played(found, takes);
    expect([...off.keys()]).toEqual([25, 50, 75]);
    for (const [share, by] of off) expect(by, `at ${share} %`).toBeLessThanOrEqual(0.2);
  });
});

describe('the estimated duration', () => {
  test.each([
    [0, null, null, 0],
    [100, 50, 10_000, 4_000],
    [100, null, 100, 3_000],
    // Faster than a recovery can be.
    [1_000, null, 1, 6_000],
    [100, null, null, 4_000],
    [100, 0, null, 4_000],
    [100, 50, null, 4_000],
  ])('for %i deliveries at %s per second, attempts of %s ms: %i ms', (deliveries, rate, meanMs, ms) => {
    expect(estimatedDurationMs(deliveries, { rate, meanMs })).toBe(ms);
  });
});

const now = new Date('2026-11-20T10:00:00Z');
const stored: StoredRecovery = {
  state: 'running',
  by: null,
  comment: null,
  webhookInactive: false,
  webhookPausedUntil: null,
  awaitedPid: null,
  awaitedApplication: null,
  awaitedSince: null,
  found: 100,
  exhausted: false,
  created: 40,
  pending: 5,
  blocked: 0,
  retrying: 3,
  failed: 2,
  superseded: 0,
  lastRetryAt: new Date('2026-11-20T10:05:00Z'),
  rate: 7,
  now,
};

describe('progress', () => {
  test('done, failed and left add up to the events found', () => {
    expect(recoveryProgress(stored)).toMatchObject({
      state: 'running',
      done: 30,
      failed: 2,
      open: 8,
      left: 68,
    });
  });

  test('superseded deliveries are neither done, failed nor left', () => {
    const some = { ...stored, superseded: 10 };
    expect(recoveryProgress(some)).toMatchObject({ done: 20, failed: 2, superseded: 10, left: 68 });
    // 32 have ended, of which the receiver had to accept 22.
    expect(recoveryProgress({ ...some, rate: 4.675 }).estimatedEndAt).toEqual(
      new Date('2026-11-20T10:00:10Z'),
    );
  });

  test('only open deliveries are left once all events have been looked at', () => {
    expect(recoveryProgress({ ...stored, exhausted: true })).toMatchObject({ left: 8 });
    expect(recoveryProgress({ ...stored, state: 'canceled' })).toMatchObject({ left: 8 });
  });

  test('the end follows from the rate, or from the last retry if only retries are left', () => {
    expect(recoveryProgress({ ...stored, rate: 6.8 }).estimatedEndAt).toEqual(
      new Date('2026-11-20T10:00:10Z'),
    );
    expect(recoveryProgress({ ...stored, rate: null }).estimatedEndAt).toBeNull();
    expect(recoveryProgress({ ...stored, webhookInactive: true }).estimatedEndAt).toBeNull();
    const tail = { ...stored, exhausted: true, pending: 0 };
    expect(recoveryProgress(tail).estimatedEndAt).toEqual(stored.lastRetryAt);
    expect(recoveryProgress({ ...tail, lastRetryAt: null }).estimatedEndAt).toEqual(now);
  });

  test.each<[string, Partial<StoredRecovery>, string | null]>([
    ['nothing is left', { found: 32, pending: 0, retrying: 0, created: 32, rate: null }, '10:00:00'],
    ['the last retry is overdue', { exhausted: true, pending: 0, lastRetryAt: new Date(0) }, '10:00:00'],
    ['retries are left, and new ones', { exhausted: true, rate: 0.8 }, '10:00:10'],
    ['only retries are left, but not all was looked at', { pending: 0, rate: 6.3 }, '10:00:10'],
    [
      'nothing has ended but what was superseded',
      { created: 28, failed: 0, superseded: 20, rate: 8 },
      '10:00:10',
    ],
    ['nothing ends', { rate: 0 }, null],
  ])('the end when %s', (_, change, time) => {
    const end = time === null ? null : new Date(`2026-11-20T${time}Z`);
    expect(recoveryProgress({ ...stored, ...change }).estimatedEndAt).toEqual(end);
  });
});

describe('the reason', () => {
  test.each([
    [{}, null],
    [{ state: 'completed' }, null],
    [{ state: 'completed', by: 'user' }, null],
    [{ state: 'paused' }, null],
    [{ state: 'paused', by: 'operator', comment: '' }, 'Paused by the operator of the warehouse.'],
    [{ webhookInactive: true }, 'The webhook is inactive: the recovery continues when it is activated.'],
    [{ state: 'paused', by: 'user', webhookInactive: true }, 'Paused on request.'],
    [
      { state: 'paused', by: 'operator', comment: 'stock-taking' },
      'Paused by the operator of the warehouse: stock-taking',
    ],
    [{ state: 'canceled', by: 'operator' }, 'Canceled by the operator of the warehouse.'],
    [{ state: 'canceled', by: 'deletion' }, 'Canceled with its webhook, which was deleted.'],
  ] as const)('%o', (change, reason) => {
    expect(recoveryReason({ ...stored, ...change })).toBe(reason);
  });
});

describe('the state', () => {
  test.each([
    ['running', 'running', 'paused', true],
    ['paused', 'paused', 'paused', true],
    ['completed', 'completed', 'completed', false],
    ['canceled', 'canceled', 'canceled', false],
  ] as const)(
    '%s is shown as %s, while the webhook is inactive as %s; under way: %s',
    (state, active, inactive, goesOn) => {
      expect(shownRecoveryState({ ...stored, state })).toBe(active);
      expect(shownRecoveryState({ ...stored, state, webhookInactive: true })).toBe(inactive);
      expect(isUnderWay(state)).toBe(goesOn);
    },
  );
});

describe('the default request', () => {
  const [created, deactivated, asked] = [
    new Date('2026-11-01'),
    new Date('2026-11-10'),
    new Date('2026-10-01'),
  ];
  const usual = ['failed', 'expired', 'missed'];
  const webhook = { registeredAt: created, deactivatedAt: deactivated };

  test.each([
    ['since the last deactivation, unless asked', {}, { since: deactivated, include: usual }],
    ['since the time asked for', { since: deactivated }, { since: deactivated, include: usual }],
    ['nothing from before the webhook', { since: asked }, { since: created, include: usual }],
    [
      'also from before the webhook, if the outcomes are named',
      { since: asked, include: ['missed'] },
      { since: asked, include: ['missed'] },
    ],
    ['the outcomes named', { include: ['canceled'] }, { since: deactivated, include: ['canceled'] }],
  ] as const)('%s', (_, request, recovery) => {
    expect(recoveryOfWebhook(request, webhook)).toEqual(recovery);
  });

  test('knows nothing of a webhook that was never deactivated', () => {
    expect(recoveryOfWebhook({}, { ...webhook, deactivatedAt: null })).toBeNull();
  });
});
