/** `waybill status` on a real database and a real Temporal. */
import { expect, it } from 'vitest';
import { recordLastClaims } from '../../src/db/outbox/last-claims.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { readOverdue } from '../../src/db/overdue.ts';
import { beginRecovery } from '../../src/db/recoveries/recoveries.ts';
import { makeAhead } from '../../src/retention/retain.ts';
import { loseEvents } from '../support/api/recoveries.ts';
import { makeAttempt } from '../support/database/deliveries.ts';
import { stackOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const stack = await stackOfFile('status', { worker: false });
const { env } = stack;
const databaseName = new URL(env.DATABASE_URL).pathname.slice(1);

const status = async (more: Record<string, string> = {}) => {
  const { printed, error } = await triedWaybill(['status', '--json'], { ...env, ...more });
  const shown = JSON.parse(printed);
  return { ...shown, messages: shown.problems.map((each: { message: string }) => each.message), error };
};
const noWorker = (taskQueue: string) =>
  `No worker is polling the task queue ${taskQueue} of the namespace default: start a process with ROLE=worker or ROLE=all.`;

it('status reports an empty queue, and what a database without an instance needs', async () => {
  const { database, temporal, messages, problems, error } = await status();
  expect(database).toMatchObject({
    problem: null,
    version: expect.stringMatching(/^\d+/),
    bytes: expect.any(Number),
    outbox: {
      fresh: 0,
      recovered: 0,
      retry: 0,
      undelivered: 0,
      delivered: 0,
      withoutWorkflow: 0,
      oldestSeconds: null,
      changes: 0,
    },
    open: { pending: 0, retrying: 0, held: 0, holdingWebhooks: 0 },
    mails: {
      pending: 0,
      deferred: 0,
      oldestSeconds: null,
      oldestOf: null,
      lastError: null,
      givenUp: 0,
      givenUpOf: null,
    },
    recoveries: [],
  });
  expect(temporal).toEqual({
    problem: null,
    address: env.TEMPORAL_ADDRESS,
    namespace: 'default',
    taskQueue: stack.taskQueue,
    workers: [],
    unpolled: ['workflows', 'attempts', 'steps'],
    paused: { count: 0, example: null },
  });
  expect(messages).toContain(noWorker(stack.taskQueue));
  expect(problems).toContainEqual({ id: 'noWorker', message: noWorker(stack.taskQueue) });
  expect(error).toBe(messages.join('\n'));
});

it('status counts waiting, open, held and recovered deliveries', async () => {
  await makeAhead(stack.sql);
  const { sql, eshopId } = stack;
  const webhook = await stack.createWebhook('http://127.0.0.1:9/');
  await loseEvents({ sql, eshopId, webhookId: webhook.id }, 'failed', ['lost 1', 'lost 2']);
  const lostSince = { since: new Date(Date.now() - 3_600_000), until: null, include: ['failed'] } as const;
  await beginRecovery(sql, { eshopId, webhookId: webhook.id, ...lostSince });

  await stack.fireOne('waits');
  for (const name of ['retry', 'undelivered', 'delivered'] as const) {
    const id = await stack.fireOne(`waits: ${name}`);
    const state = name === 'delivered' ? 'delivered' : 'retrying';
    await sql`
      update deliveries set class = ${CLASS[name]}, state = ${state}, created_at = now() - interval '1 hour' where id = ${id}`;
  }
  const retried = await stack.fireOne('is retried');
  await sql`update deliveries set dispatched_at = now() where id = ${retried}`;
  await makeAttempt(sql, retried, 1, { nextAttemptAt: new Date(Date.now() + 60_000) });
  const inactive = await stack.createWebhook('http://127.0.0.1:9/', { type: 'CREATE_PRODUCT' });
  const [held] = await stack.fire('is held', {}, 'CREATE_PRODUCT');
  await sql`update deliveries set dispatched_at = now() - interval '1 hour' where id = ${held ?? ''}`;
  await stack.changeWebhook(inactive.id, { active: false });

  const { database, messages } = await status();
  expect(database.outbox).toMatchObject({
    fresh: 1,
    recovered: 0,
    retry: 1,
    undelivered: 1,
    delivered: 1,
    changes: 1,
  });
  // Those behind an attempt count from when they are due.
  expect(database.outbox.oldestSeconds).toBeLessThan(1_800);
  expect(database.open).toEqual({ pending: 1, retrying: 3, held: 1, holdingWebhooks: 1 });
  expect(database.recoveries).toMatchObject([
    { eshopId, webhookId: webhook.id, state: 'running', done: 0, failed: 0, left: 2 },
  ]);
  expect(database.partitions).toMatchObject({ since: null, outOfRange: 0 });
  expect(database.partitions.daysAhead).toBeGreaterThan(27);
  expect(messages).toEqual([noWorker(stack.taskQueue)]);
});

it('status reports overdue work, unless a worker has asked for its class lately', async () => {
  const { sql } = stack;
  const fired = await stack.fireOne('is in flight');
  await sql`
    update deliveries set due_at = now() - interval '10 min' where dispatched_at is null and class = 0`;
  await sql`update changes_to_signal set due_at = now() - interval '5 min'`;
  const late = [
    expect.stringMatching(
      /^No worker takes the deliveries of the class fresh from the queue, the first due for 10 min/,
    ),
    expect.stringMatching(
      /^1 change to webhooks or pre-orders has not been signaled to Temporal, the oldest for 5 min/,
    ),
  ];
  const rest = [late[1], noWorker(stack.taskQueue)];
  expect((await status()).messages).toEqual([...late, noWorker(stack.taskQueue)]);

  const note = recordLastClaims(sql);
  const noted = (name: 'fresh' | 'retry') =>
    until('the note', async () => (await readOverdue(sql)).lastClaims[name] !== undefined);
  note('retry');
  await noted('retry');
  expect((await status()).messages).toEqual([...late, noWorker(stack.taskQueue)]);
  note('fresh');
  await noted('fresh');
  expect((await status()).messages).toEqual(rest);
  await sql`update deliveries set dispatched_at = now() where id = ${fired}`;
});

it('status counts pending notices, and says why they wait', async () => {
  const { sql, eshopId } = stack;
  const [address] = await sql<{ id: number }[]>`
    insert into notice_addresses (eshop_id, address, confirmed_at) values (${eshopId}, 'a@shop.example', now()) returning id`;
  const addNotice = (recipient: string, hours: number, more: object) =>
    sql`
      insert into notices ${sql({ eshopId, kind: 'recovered', recipient, at: new Date(Date.now() - hours * 3_600_000), ...more })}`;
  const addressId = address?.id ?? 0;
  await addNotice('url', 3, { error: 'HTTP 503 from chat.example after 12 ms', tries: 1 });
  await addNotice('address', 2, { addressId, error: 'the mail server is full' });
  await addNotice('email', 4, { deferred: true });
  // One that was refused waits for its mail server, and no longer for the budget.
  const refused = 'the mail server refused the message (EMESSAGE, 554)';
  await addNotice('email', 5, { deferred: true, error: refused });
  await addNotice('email', 5, { outcome: 'sent', settledAt: new Date() });
  await addNotice('email', 6, { outcome: 'dropped', settledAt: new Date() });
  const givenUp = { outcome: 'givenUp', settledAt: new Date() };
  await addNotice('email', 7, { ...givenUp, error: 'given up' });
  await addNotice('url', 7, { ...givenUp, error: 'given up' });
  const { database, messages } = await status();
  const its = { id: eshopId, name: expect.any(String) };
  expect({ mails: database.mails, furtherNotices: database.furtherNotices }).toEqual({
    mails: {
      pending: 1,
      deferred: 1,
      oldestSeconds: expect.closeTo(5 * 3_600, -3),
      oldestOf: its,
      lastError: refused,
      givenUp: 1,
      givenUpOf: its,
    },
    furtherNotices: {
      pending: 2,
      deferred: 0,
      oldestSeconds: expect.closeTo(3 * 3_600, -3),
      oldestOf: its,
      lastError: 'HTTP 503 from chat.example after 12 ms',
      givenUp: 1,
      givenUpOf: its,
    },
  });
  expect(messages).toContainEqual(
    expect.stringMatching(/^1 mail to e-shops has not been sent, the oldest waiting for 5 h/),
  );
  expect(messages).toContainEqual(expect.stringMatching(/^1 mail was given up in the last day/));
  await sql`update notices set settled_at = now() - interval '2 days' where outcome = 'givenUp'`;
  expect((await status()).database).toMatchObject({ mails: { givenUp: 0 }, furtherNotices: { givenUp: 0 } });
  await sql`delete from notices`;
});

it('status reports an unusable database or Temporal, and the state of the other', async () => {
  const nobody = `127.0.0.1:${await freePort()}`;
  const withoutDatabase = await status({ DATABASE_URL: `postgres://waybill:waybill@${nobody}/waybill` });
  expect(withoutDatabase.database).toEqual({ problem: 'The database at DATABASE_URL cannot be reached.' });
  expect(withoutDatabase.temporal.problem).toBeNull();

  await stack.sql.unsafe(`alter database ${databaseName} set default_transaction_read_only = on`);
  const readOnly = await status();
  expect(readOnly.database).toEqual({
    problem: 'The database is read-only: it may be a standby.',
  });
  expect(readOnly.temporal.problem).toBeNull();
  await stack.sql.unsafe(`alter database ${databaseName} reset default_transaction_read_only`);

  // Any failure of the database is its problem, and no stack.
  await stack.sql`alter table notices rename error to renamed`;
  const failing = await status();
  expect(failing.database.problem).toMatch(/error.* does not exist/);
  expect(failing.temporal.problem).toBeNull();
  await stack.sql`alter table notices rename renamed to error`;

  const withoutTemporal = await status({ TEMPORAL_ADDRESS: nobody });
  expect(withoutTemporal.database.problem).toBeNull();
  expect(withoutTemporal.temporal).toEqual({
    problem: `Temporal at ${nobody} cannot be reached.`,
    away: true,
  });
  expect(withoutTemporal.error).toContain(
    `Temporal at ${nobody} cannot be reached. Events are still accepted`,
  );

  const unknown = await status({ TEMPORAL_NAMESPACE: 'nobody-made-it' });
  expect(unknown.temporal.problem).toBe(
    `The namespace nobody-made-it does not exist at ${env.TEMPORAL_ADDRESS}: create it, or correct TEMPORAL_NAMESPACE.`,
  );
  expect(unknown.messages).toContain(unknown.temporal.problem);
});

it('status reports once that no instance has run, and nothing about Temporal', async () => {
  const { printed, error } = await triedWaybill(['status'], {});
  expect(error).toMatch(
    /^No Waybill instance has run with DATA_DIR=.+: run waybill start, or set DATABASE_URL\.$/,
  );
  expect(printed).toBe(`Database  ${error}`);
});

it('status lists the workers, and exits without an error if nothing needs attention', async () => {
  const { sql } = stack;
  await sql`delete from changes_to_signal`;
  await sql`update deliveries set state = 'canceled', dispatched_at = now(), finished_at = now()`;
  await sql`update recoveries set state = 'canceled', finished_at = now()`;
  await stack.startWorker();
  await until('the worker asks for work', async () => (await status()).temporal.workers.length === 1);
  const { printed, error } = await triedWaybill(['status'], env);
  expect(error).toBeUndefined();
  expect(printed).toMatch(new RegExp(`^Workers +1 in the task queue ${stack.taskQueue}: `, 'm'));
  expect(printed).toMatch(/^Queue +empty$/m);
  expect(printed).toMatch(/\nNothing needs attention\.$/);
});
