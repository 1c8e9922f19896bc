/**
 * The delivery side as it runs: a database, a worker on the real Temporal server, a receiver, and mails as files.
 * Events are written straight to the outbox, as the API does in its transactions.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { relayWork } from '../../../src/db/outbox/notify.ts';
import type { RetryPolicy } from '../../../src/domain/retry-policy.ts';
import type { Mailer } from '../../../src/mail/mail.ts';
import { createMailer } from '../../../src/mail/mailer.ts';
import { createKeys } from '../../../src/secrets/keys.ts';
import { createTestDatabase } from '../database/database.ts';
import { until } from '../until.ts';
import { createStackRecords } from './stack-records.ts';
import { createStackWorkers, type WorkerOptions } from './stack-workers.ts';
import { createStackWorkflows } from './stack-workflows.ts';

/** 21 attempts in about two and a half seconds. */
const quickPolicy: RetryPolicy = {
  initialIntervalMs: 40,
  coefficient: 1.1,
  maxRetries: 20,
  windowMs: 60_000,
  // Longer than a busy machine may delay its own requests, which would cause an extra attempt.
  attemptTimeoutMs: 10_000,
};

export interface StackOptions extends WorkerOptions {
  readonly policy?: Partial<RetryPolicy>;
  /** Replaces the mailer, e.g. by one whose server is unavailable. */
  readonly mailer?: Mailer;
  /** Another Temporal server than the run's own. */
  readonly temporalAddress?: string;
  /** false: no worker until `startWorker()`. */
  readonly worker?: boolean;
}

export type DeliveryStack = Awaited<ReturnType<typeof startDeliveryStack>>;

/** @param name of the test file: it names the task queue */
export async function startDeliveryStack(name: string, options: StackOptions = {}) {
  const database = await createTestDatabase();
  const { sql } = database;
  const mailDirectory = await mkdtemp(join(tmpdir(), 'waybill-mail-'));
  const policy: RetryPolicy = { ...quickPolicy, ...options.policy };
  const keys = createKeys(Buffer.alloc(32, 7));
  const address = options.temporalAddress ?? inject('temporalAddress');
  const taskQueue = `${name}-${Math.random().toString(36).slice(2, 8)}`;
  const mailer = options.mailer ?? createMailer({ from: 'waybill@example.test', directory: mailDirectory });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  const records = createStackRecords(sql, eshopId, keys);
  const workers = createStackWorkers({ sql, keys, policy, mailer, address, taskQueue }, options);

  const stack = {
    ...records,
    ...workers,
    ...createStackWorkflows(client, records),
    until,
    sql,
    database,
    policy,
    client,
    taskQueue,
    eshopId,
    mailDirectory,
    keys,
    /** The variables with which a process of the program finds this stack. */
    env: { DATABASE_URL: database.url, TEMPORAL_ADDRESS: address, TEMPORAL_TASK_QUEUE: taskQueue },
    notify: () => sql.notifier.notify(relayWork),

    /** The mails about deactivations. With shrunk policies it depends on the machine whether there is a warning. */
    async mails(): Promise<string[]> {
      const names = (await readdir(mailDirectory)).filter((file) => file.endsWith('.eml')).sort();
      const mails = await Promise.all(names.map((file) => readFile(join(mailDirectory, file), 'utf8')));
      return mails.filter((mail) => !/^Message-ID:\s*<(?:warning|notice)-/m.test(mail));
    },

    async stop(): Promise<void> {
      await workers.closeWorkers();
      await connection.close();
      await database.drop();
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
  if (options.worker !== false) await stack.startWorker();
  return stack;
}
