/**
 * The delivery side as it runs: a database, a worker on the real Temporal server, a receiver, and mails as files.
 * Events are written straight to the outbox, as the API does in its transactions.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import pino from 'pino';
import { inject } from 'vitest';
import type { Timings } from '../../../src/app/session-deps.ts';
import { type RunningWorker, startWorker } from '../../../src/app/worker-role.ts';
import type { Limits } from '../../../src/concurrency/limits.ts';
import type { SchedulerOptions } from '../../../src/concurrency/settings.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { relayWork } from '../../../src/db/outbox/notify.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { deleteWebhook, replaceSecret, replaceWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { createWebhook } from '../../../src/db/webhooks/create.ts';
import { findWebhook, listWebhooks } from '../../../src/db/webhooks/webhooks.ts';
import { createSender, type Sender } from '../../../src/delivery/sender.ts';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import type { RetryPolicy } from '../../../src/domain/retry-policy.ts';
import type { WebhookInput } from '../../../src/domain/webhook.ts';
import type { Mailer } from '../../../src/mail/mail.ts';
import { createMailer } from '../../../src/mail/mailer.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import type { WorkflowsSetting } from '../../../src/relay/deps.ts';
import { createKeys, newWebhookSecret } from '../../../src/secrets/keys.ts';
import { sealing } from '../../../src/secrets/static-headers.ts';
import { deliveryWorkflowId, type NamedDelivery } from '../../../workflows/delivery-id.ts';
import { createTestDatabase } from '../database/database.ts';
import { recordEvent } from '../database/record-event.ts';
import { sampleOf, samplesOf } from '../metrics.ts';
import { builtWorkflows } from '../programs/built.ts';
import { testWebhook } from '../test-webhook.ts';
import { until } from '../until.ts';
import { workflowIdOf } from './workflow-ids.ts';

/** 21 attempts in about two and a half seconds. */
export const quickPolicy: RetryPolicy = {
  initialIntervalMs: 40,
  coefficient: 1.1,
  maxRetries: 20,
  windowMs: 60_000,
  // Longer than a busy machine may delay its own requests, which would cause an extra attempt.
  attemptTimeoutMs: 10_000,
};

export interface DeliveryRow {
  readonly id: string;
  readonly state: StoredState;
  readonly attemptsMade: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly windowStartedAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly dispatchedAt: Date | null;
  readonly canceledBy: 'operator' | 'deletion' | null;
}

export interface AttemptRow {
  readonly number: number;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly generation: number;
  readonly nextAttemptAt: Date | null;
}

/** A line of the log, as JSON. */
export interface LogLine {
  /** pino's: 30 info, 40 warn, 50 error. */
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface StackOptions {
  readonly policy?: Partial<RetryPolicy>;
  /** Replaces the mailer, e.g. by one whose server is unavailable. */
  readonly mailer?: Mailer;
  /** Wraps the sender, e.g. to interrupt an attempt. */
  readonly wrapSender?: (sender: Sender) => Sender;
  /** Another Temporal server than the run's own. */
  readonly temporalAddress?: string;
  /** The address at which the worker reaches that server, e.g. of a proxy; default: the server's own. */
  readonly workerTemporalAddress?: string;
  /** false: no worker until `startWorker()`. */
  readonly worker?: boolean;
  /** Default: `all`. */
  readonly workflows?: WorkflowsSetting;
  /** How long events and deliveries are kept; default: the retention does not run. */
  readonly retentionMs?: number;
  readonly limits?: Limits;
  /** Replaces numbers of the scheduler. */
  readonly scheduler?: Partial<SchedulerOptions>;
  readonly timings?: Timings;
}

/** Settings of a worker that differ from the stack's. */
export interface OtherWorker {
  /** Where it reaches Temporal. */
  readonly temporalAddress?: string;
  readonly policy?: Partial<RetryPolicy>;
  readonly workflowBundle?: WorkflowBundleOption;
  readonly onBroken?: (error: Error) => void;
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
  const { notifier } = sql;
  const mailer = options.mailer ?? createMailer({ from: 'waybill@example.test', directory: mailDirectory });
  const logged: LogLine[] = [];
  const log = pino(
    { level: 'debug' },
    {
      write(text: string) {
        logged.push(JSON.parse(text));
        if (process.env.TEST_LOG_LEVEL !== undefined) process.stdout.write(text);
      },
    },
  );
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const senders: Sender[] = [];
  const metrics = createMetrics();
  let worker: RunningWorker | undefined;
  /** Lines from before it was started. */
  let loggedBefore = 0;
  let emptyBefore = 0;
  /** How often the relay has found no import waiting. It looks for one only when nothing fresh waits. */
  const foundEmpty = async () =>
    sampleOf(samplesOf(await metrics.registry.metrics()), 'waybill_relay_passes_total', {
      loop: 'bulk',
      result: 'idle',
    }) ?? 0;
  const fired = new Map<string, NamedDelivery>();
  const handleOf = async (id: string) =>
    client.workflow.getHandle(fired.has(id) ? stack.workflowId(id) : await workflowIdOf(sql, id));

  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });

  const stack = {
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
    /** What the worker has logged so far. */
    logged,
    /** What the workers have counted so far. */
    metrics,
    notify: () => notifier.notify(relayWork),

    /** @param other overrides the stack's policy, or the workflows of this build */
    async startWorker(other: OtherWorker = {}): Promise<void> {
      loggedBefore = logged.length;
      emptyBefore = await foundEmpty();
      worker = await stack.newWorker(other);
    },

    async newWorker(other: OtherWorker = {}): Promise<RunningWorker> {
      const real = createSender({
        timeoutMs: policy.attemptTimeoutMs,
        allowCidrs: ['127.0.0.0/8', '::1/128'],
        version: 'test',
      });
      const sender = options.wrapSender?.(real) ?? real;
      senders.push(real);
      return await startWorker({
        sql,
        sessionSql: sql,
        temporal: {
          address: other.temporalAddress ?? options.workerTemporalAddress ?? address,
          namespace: 'default',
          taskQueue,
        },
        policy: { ...policy, ...other.policy },
        workflows: options.workflows ?? 'all',
        keys,
        sender,
        isDiskFull: () => false,
        mailer,
        publicUrl: null,
        log,
        metrics,
        retention: {
          periodMs: options.retentionMs ?? 30 * 24 * 3_600_000,
          scheduled: options.retentionMs !== undefined,
        },
        ...(options.scheduler === undefined ? {} : { scheduler: options.scheduler }),
        ...(options.limits === undefined ? {} : { limits: options.limits }),
        ...(options.timings === undefined ? {} : { timings: options.timings }),
        workflowBundle: other.workflowBundle ?? builtWorkflows,
        ...(other.onBroken === undefined ? {} : { onBroken: other.onBroken }),
      });
    },

    /** The repairs of the worker's reconciler since its start, by its log. */
    repaired() {
      const counts = new Map<string, Record<'kind' | 'action' | 'reason', unknown> & { count: number }>();
      for (const { repaired: kind, action, reason } of logged.slice(loggedBefore)) {
        if (kind === undefined) continue;
        const key = `${kind} ${action} ${reason}`;
        counts.set(key, { kind, action, reason, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      return [...counts.values()];
    },

    async stopWorker(): Promise<void> {
      await worker?.stop();
      worker = undefined;
    },

    /** Creates one as the API does. */
    async createWebhook(
      url: string,
      {
        type = 'CREATE_ORDER',
        of = eshopId,
        ...named
      }: Partial<WebhookInput> & { type?: EventType; of?: number } = {},
    ): Promise<{ id: number; secret: string }> {
      const secret = newWebhookSecret();
      const input = testWebhook({ url, webhookType: type, ...named });
      const seal = sealing(keys, of, { secret });
      const row = await createWebhook(sql, of, input, seal, 1_000);
      if (row === null) throw new Error('too many webhooks');
      return { id: row.id, secret };
    },

    /** An activation, a deactivation, a PUT with a new URL, or a deletion. */
    async changeWebhook(
      id: number,
      change: { readonly active: boolean } | { readonly url: string } | { readonly deleted: true },
    ): Promise<void> {
      if ('deleted' in change) await deleteWebhook(sql, eshopId, id);
      else if ('active' in change) await setActive(sql, eshopId, id, change.active);
      else {
        const before = await findWebhook(sql, eshopId, id);
        if (before === null) throw new Error(`no webhook ${id}`);
        await replaceWebhook(sql, eshopId, id, { ...before, ...change });
      }
    },

    /** Sets a new secret; by default the previous one goes on signing beside it. */
    async replaceSecret(id: number, overlap = true): Promise<string> {
      const secret = newWebhookSecret();
      await replaceSecret(sql, eshopId, id, keys.encryptSecret(secret, { eshopId, webhookId: id }), overlap);
      return secret;
    },

    /** Deletes all webhooks so far, so that the next test's events reach only its own. */
    async retireWebhooks(): Promise<void> {
      for (const { id } of await listWebhooks(sql, eshopId, null)) {
        await deleteWebhook(sql, eshopId, id);
      }
    },

    /** Fires an event; returns the ids of the deliveries that its transaction has written. */
    async fire(
      entityId: string,
      record: object = { eshopOrderId: entityId },
      type: EventType = 'CREATE_ORDER',
    ) {
      const made = await transaction(sql, async (tx) => {
        await recordEvent(tx, { eshopId, type, entityId, record });
        return await tx<NamedDelivery[]>`
          select id, webhook_id, event_type, entity_id from deliveries
          where xmin = pg_current_xact_id()::xid order by id`;
      });
      for (const row of made) fired.set(row.id, row);
      return made.map(({ id }) => id);
    },

    /** Fires an event that has exactly one delivery. */
    async fireOne(entityId: string, record?: object): Promise<string> {
      const [id, ...others] = await stack.fire(entityId, record);
      if (id === undefined || others.length > 0) throw new Error('expected exactly one delivery');
      return id;
    },

    async delivery(id: string): Promise<DeliveryRow> {
      const [row] = await sql<DeliveryRow[]>`select * from deliveries where id = ${id}`;
      if (row === undefined) throw new Error(`no delivery ${id}`);
      return row;
    },

    attempts: (id: string): Promise<AttemptRow[]> =>
      sql<AttemptRow[]>`select * from attempts where delivery_id = ${id} order by number`,

    async webhook(id: number) {
      const [row] = await sql<
        { active: boolean; generation: number; unregisteredAt: Date | null }[]
      >`select active, generation, unregistered_at from webhooks where id = ${id}`;
      if (row === undefined) throw new Error(`no webhook ${id}`);
      return row;
    },

    until,

    /** Until the worker has seen an empty queue: from then on a workflow starts with the first attempt's result. */
    untilCalm: (): Promise<boolean> =>
      stack.until('an empty queue', async () => (await foundEmpty()) > emptyBefore),

    /** Waits until the workflow tells the operator that its delivery is held. */
    untilHeld: (id: string): Promise<boolean> =>
      stack.until('the workflow to say held', async () => {
        const attributes = (await stack.describe(id))?.typedSearchAttributes.getAll() ?? [];
        return attributes.some((pair) => pair.value === 'held');
      }),

    untilState: (id: string, state: StoredState, timeoutMs?: number): Promise<DeliveryRow> =>
      stack.until(
        `delivery ${state}`,
        async () => {
          const row = await stack.delivery(id);
          // Its workflow is started with the result of its attempt.
          if (state === 'retrying' && row.dispatchedAt === null) return false;
          return row.state === state && row;
        },
        timeoutMs,
      ),

    /** Waits until a workflow has ended; answers its status. */
    untilEnded: (workflowId: string): Promise<string> =>
      stack.until(`${workflowId} to end`, async () => {
        const { status } = await client.workflow.getHandle(workflowId).describe();
        return status.name !== 'RUNNING' && status.name;
      }),

    /** Waits for the end of the delivery's workflow; returns COMPLETED (also without one), FAILED or CANCELLED. */
    untilClosed: (id: string, timeoutMs?: number): Promise<string> =>
      stack.until(
        'the workflow to end',
        async () => {
          const description = await stack.describe(id);
          if (description === undefined) {
            const { state, dispatchedAt } = await stack.delivery(id);
            return state === 'delivered' && dispatchedAt !== null && 'COMPLETED';
          }
          return description.status.name !== 'RUNNING' && description.status.name;
        },
        timeoutMs,
      ),

    /** Waits for its workflow, which is started once its first attempt has its result. */
    untilBegun: (id: string): Promise<boolean> =>
      stack.until('its workflow', async () => (await stack.describe(id)) !== undefined),

    /** Waits until its first attempt has failed and its workflow, the first task done, waits for the next. */
    async untilWaiting(id: string): Promise<void> {
      await stack.untilState(id, 'retrying');
      await stack.untilBegun(id);
      await stack.until('its workflow to wait', async () => {
        const { events } = await (await handleOf(id)).fetchHistory();
        return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) === true;
      });
    },

    /** undefined before the workflow has been started. */
    async describe(id: string) {
      try {
        return await (await handleOf(id)).describe();
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    /** The workflow id of a delivery fired here. */
    workflowId(id: string): string {
      const delivery = fired.get(id);
      if (delivery === undefined) throw new Error(`delivery ${id} was not fired by this stack`);
      return deliveryWorkflowId(delivery);
    },

    workflow: (id: string) => client.workflow.getHandle(stack.workflowId(id)),

    /** Waits for its workflow, which is started once its first attempt has its result, and sends it a signal. */
    async signal(id: string, name: string, ...args: readonly unknown[]): Promise<void> {
      await stack.untilBegun(id);
      await stack.workflow(id).signal(name, ...args);
    },

    /** Resets a workflow to its first task, as the UI's button does. */
    async resetWorkflow(id: string): Promise<void> {
      const { events } = await stack.workflow(id).fetchHistory();
      const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
      await client.workflowService.resetWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: stack.workflowId(id) },
        reason: 'tried again by an operator',
        workflowTaskFinishEventId: task?.eventId ?? null,
        requestId: `${id}-reset`,
      });
    },

    /** The mails about deactivations. With shrunk policies it depends on the machine whether there is a warning. */
    async mails(): Promise<string[]> {
      const names = (await readdir(mailDirectory)).filter((file) => file.endsWith('.eml')).sort();
      const mails = await Promise.all(names.map((file) => readFile(join(mailDirectory, file), 'utf8')));
      return mails.filter((mail) => !/^Message-ID:\s*<(?:warning|notice)-/m.test(mail));
    },

    async stop(): Promise<void> {
      await worker?.stop();
      await notifier.close();
      await Promise.all(senders.map((sender) => sender.close()));
      await connection.close();
      await database.drop();
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
  if (options.worker !== false) await stack.startWorker();
  return stack;
}
