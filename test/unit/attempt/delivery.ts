import type { BegunAttempt, DeliveryForAttempt } from '../../../src/db/deliveries/attempts.ts';
import type { AttemptResult } from '../../../src/delivery/sender.ts';
import type { RetryPolicy } from '../../../src/domain/retry-policy.ts';

export const MINUTE = 60_000;
export const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** This many milliseconds after now. */
export const at = (ms: number) => new Date(NOW + ms);

/** 21 attempts; the window of an hour has room for all. */
export const policy: RetryPolicy = {
  initialIntervalMs: 10_000,
  coefficient: 1.1,
  maxRetries: 20,
  windowMs: 60 * MINUTE,
  attemptTimeoutMs: 5_000,
};

/** Failed once five minutes ago, and due now. */
export const waiting: DeliveryForAttempt = {
  id: '019aa1b2-0000-7000-8000-000000000001',
  eventId: '019aa1b2-0000-7000-8000-000000000002',
  eshopId: 3,
  webhookId: 7,
  eventType: 'UPDATE_ORDER',
  entityId: '10001',
  sequence: 3,
  happenedAt: at(-6 * MINUTE),
  origin: 'shop',
  changed: 'note',
  state: 'retrying',
  attemptsMade: 1,
  windowStartedAt: at(-5 * MINUTE),
  nextAttemptAt: at(0),
  lastStatus: 503,
  lastError: 'HTTP 503',
  lastGeneration: 2,
  deferredGeneration: null,
  lastOutcome: 'failure',
  lastAttemptAt: at(-5 * MINUTE + 200),
  lateBeforeMs: 0,
  windowLost: false,
  operatorStop: null,
  receiverHost: 'shop.example',
  operatorActions: null,
  createdAt: at(-6 * MINUTE),
  recoveryId: null,
  traceparent: null,
  url: 'https://shop.example/hook',
  method: 'POST',
  active: true,
  generation: 2,
  webhookVersion: '701',
  generationAt: at(-60 * MINUTE),
  payloadVersion: 'v21',
  parameters: null,
  headers: null,
  secret: Buffer.from('new'),
  previousSecret: null,
  previousSecretUntil: null,
  signingKey: null,
  previousSigningKey: null,
  deletedAt: null,
  pausedUntil: null,
  ordering: 'none',
  snapshot: '{"eshopOrderId":"10001","orderProducts":[{"sku":"A","quantity":"2","packingLists":[]}]}',
  test: false,
  underWayUntil: null,
  now: at(0),
};

/** Never attempted. */
export const untried: DeliveryForAttempt = {
  ...waiting,
  state: 'pending',
  attemptsMade: 0,
  windowStartedAt: null,
  nextAttemptAt: null,
  lastStatus: null,
  lastError: null,
  lastGeneration: null,
  lastOutcome: null,
  lastAttemptAt: null,
};

export const begun: BegunAttempt = { startedAt: at(0), windowStartedAt: at(-5 * MINUTE) };

export const refusedByReceiver = {
  outcome: 'failure',
  status: 503,
  error: 'HTTP 503 from shop.example after 212 ms',
  durationMs: 212,
  responseExcerpt: 'busy',
  retryAfterMs: null,
} satisfies AttemptResult;
