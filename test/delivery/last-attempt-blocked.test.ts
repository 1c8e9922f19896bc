/**
 * A delivery's last attempt while our database is unavailable: it is tried again and again, and an operator is
 * alerted.
 */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createAttemptDelivery } from '../../activities/attempt-delivery.ts';
import { createPrepare } from '../../src/attempt/prepare.ts';
import { createStatements } from '../../src/attempt/statements.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { throughSessions } from '../../src/db/connection/through-sessions.ts';
import { logDeliveries } from '../../src/log/delivery-log.ts';
import { createKeys } from '../../src/secrets/keys.ts';
import { untraced } from '../../src/traces/traces.ts';
import { alone } from '../support/limits.ts';
import { startSender } from './support.ts';

const policy = {
  initialIntervalMs: 1_000,
  coefficient: 1.5,
  maxRetries: 20,
  windowMs: 60_000,
  attemptTimeoutMs: 1_000,
};
const keys = createKeys(Buffer.alloc(32, 1));
const sql = createPool('postgres://nobody@127.0.0.1:1/nowhere', 1);
afterAll(() => sql.end({ timeout: 0 }));

test.each([
  { lastChance: true, attempt: 99, alarms: 0 },
  { lastChance: true, attempt: 100, alarms: 1 },
  { lastChance: true, attempt: 200, alarms: 1 },
  { lastChance: false, attempt: 100, alarms: 0 },
])(
  'after $attempt tries, with a last chance: $lastChance, there are $alarms alarms',
  async ({ lastChance, attempt, alarms }) => {
    const logged: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
    const run = createAttemptDelivery({
      sql,
      statements: createStatements(sql, throughSessions(sql, null)),
      sender: startSender(),
      prepare: createPrepare(keys),
      ...alone(),
      log,
      watch: logDeliveries(log),
      traces: untraced,
      signalAttemptFailed: async () => {},
    });
    const activity = new MockActivityEnvironment({ attempt });
    const input = {
      deliveryId: '0197a0b4-0000-7000-8000-000000000001',
      policy,
      lastChance,
      attemptsBefore: 20,
    };

    await expect(activity.run(run, input)).rejects.toMatchObject({ nonRetryable: !lastChance });

    expect(logged.filter(({ alarm }) => alarm === 'lastAttemptBlocked')).toHaveLength(alarms);
  },
);
