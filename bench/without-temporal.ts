/** The queue with a Temporal that answers at once and does nothing: the bound for any engine. Its own process. */
import pino from 'pino';
import { compensationTurns } from '../src/attempt/compensate.ts';
import { makeAttempt } from '../src/attempt/make-attempt.ts';
import { createPrepare } from '../src/attempt/prepare.ts';
import { createStatements } from '../src/attempt/statements.ts';
import { createLimits } from '../src/concurrency/limits.ts';
import { schedulerDefaults as options } from '../src/concurrency/settings.ts';
import { createStarts } from '../src/concurrency/starts.ts';
import { createPool } from '../src/db/connection/pool.ts';
import { throughSessions } from '../src/db/connection/through-sessions.ts';
import { createSender } from '../src/delivery/sender.ts';
import { defaultRetryPolicy as policy } from '../src/domain/retry-policy.ts';
import { startRelay } from '../src/relay/relay.ts';
import { createKeys } from '../src/secrets/keys.ts';
import { untraced } from '../src/traces/traces.ts';
import { unwatched } from '../test/support/unwatched.ts';

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
const execute = throughSessions(sql, sql);
const deps = {
  sql,
  statements: createStatements(sql, execute),
  sender,
  prepare: createPrepare(createKeys(Buffer.from(SECRET_KEY, 'base64'))),
  isDiskFull: () => false,
  limits,
  underWay: new Set<string>(),
  compensations: compensationTurns(),
  log,
  watch: unwatched,
  traces: untraced,
};
const answersAtOnce = async () => {};
const relay = startRelay({
  ...deps,
  policy,
  makeAttempt: ({ id: deliveryId, attemptsMade }, queue, signals) =>
    makeAttempt(
      deps,
      { deliveryId, policy, lastChance: false, expectedNumber: attemptsMade + 1, queue },
      signals,
    ),
  execute,
  sessionSql: sql,
  dispatcher: {
    startDelivery: answersAtOnce,
    signalWebhookChanged: answersAtOnce,
    signalAttemptFailed: answersAtOnce,
    signalReleaseChanged: answersAtOnce,
  },
  recoveries: { signalRecoveryChanged: answersAtOnce },
  startNotice: answersAtOnce,
  workflows: 'undelivered',
  starts: createStarts(options),
  options,
  onPass() {},
  onClaim() {},
  onTemporal() {},
});

process.once('SIGTERM', async () => {
  await relay.stop();
  await relay.ended();
  await sender.close();
  await sql.end();
});
