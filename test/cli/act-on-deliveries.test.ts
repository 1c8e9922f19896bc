/** `waybill deliveries try-now|hold|resume|give-up|redeliver` on a real database, worker and Temporal. */
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { transaction } from '../../src/db/transaction.ts';
import { webhookIdKey } from '../../workflows/search-attributes.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { nightly } from '../support/runner/nightly.ts';

/** Several seconds of work for a job: the server executes 50 per second. */
const JOB_SIZE = 600;

/** Half a second of work for the command. */
const BEHIND = 150;

// No reconciler: what a test ends in Temporal stays open in the database.
const stack = await stackOfFile('cli-actions', {
  policy: { windowMs: 3_600_000 },
  timings: { reconcileIntervalMs: 3_600_000 },
});
const receiver = await receiverOfFile();
const { env } = stack;
beforeEach(async () => {
  await stack.retireWebhooks();
  receiver.clear();
});

const deliveries = (...args: string[]) => triedWaybill(['deliveries', ...args], env);

/** A webhook with this many deliveries, which fail and wait for ten minutes. */
async function waiting(count: number) {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  const { id } = await stack.createWebhook(receiver.url);
  const ids: string[] = [];
  for (let index = 1; index <= count; index += 1) ids.push(await stack.fireOne(`order ${index}`));
  for (const each of ids) await stack.untilState(each, 'retrying');
  return { webhookId: id, ids };
}

const actionsOf = async (id: string) =>
  (
    await stack.sql<{ operatorActions: { action: string; by: string; reason: string }[] | null }[]>`
      select operator_actions from deliveries where id = ${id}`
  )[0]?.operatorActions ?? [];

describe('deliveries named by id', () => {
  it('queued deliveries are changed while Temporal is unavailable; others need Temporal', async () => {
    const { ids } = await waiting(2);
    const [queued = '', other = ''] = ids;
    // The first step of its workflow would take it out of the queue again.
    await stack.untilWaiting(queued);
    await stack.sql`
      update deliveries set dispatched_at = null, class = 1, due_at = now() + interval '1 hour' where id = ${queued}`;
    const away = { ...env, TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const held = await triedWaybill(['deliveries', 'hold', queued, '--by', 'anna'], away);
    expect(held).toMatchObject({ error: undefined, code: 0 });
    expect(await actionsOf(queued)).toMatchObject([{ action: 'hold', by: 'anna' }]);
    const asked = await triedWaybill(['deliveries', 'give-up', other], away);
    expect(asked.error).toBe('Temporal at 127.0.0.1:9 cannot be reached.');
    expect(await actionsOf(other)).toEqual([]);
  });

  it('are held, resumed, tried and given up; who asked and why is recorded', async () => {
    const { ids } = await waiting(2);
    const [first = '', second = ''] = ids;
    const held = await deliveries('hold', ...ids, '--reason', 'stock-taking', '--by', 'anna');
    expect(held).toMatchObject({ error: undefined, code: 0 });
    expect(held.printed.split('\n')).toEqual(
      ids.map((id) => expect.stringMatching(`^${id}  Held: no attempt is made until it is resumed`)),
    );
    expect(await actionsOf(first)).toMatchObject([{ action: 'hold', by: 'anna', reason: 'stock-taking' }]);
    expect((await deliveries('show', first)).printed).toMatch(/^Held by +anna at .*: stock-taking$/m);

    const again = await deliveries('hold', first, '--json');
    expect(JSON.parse(again.printed)).toMatchObject([
      { deliveryId: first, done: false, message: expect.stringMatching(/^It is already held by anna at /) },
    ]);
    expect(again).toMatchObject({ error: 'Refused for 1 delivery.', code: 2 });

    expect((await deliveries('resume', ...ids)).printed).toMatch(/Resumed: attempt 2 of 21 follows at /);
    receiver.respond({});
    expect((await deliveries('try-now', first)).printed).toMatch(/Attempt 2 of 21 follows at once/);
    await stack.untilState(first, 'delivered');
    expect((await deliveries('give-up', second, '--reason', 'a test')).code).toBe(0);
    await stack.untilState(second, 'canceled');
  });

  it('an ended delivery cannot be tried, but is redelivered once', async () => {
    receiver.respond({});
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('has ended');
    await stack.untilState(id, 'delivered');
    receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
    expect(await deliveries('try-now', id)).toMatchObject({
      printed: `${id}  It has ended as delivered. To send its event again: waybill deliveries redeliver ${id}`,
      code: 2,
    });
    const [made] = JSON.parse((await deliveries('redeliver', id, '--json')).printed);
    expect(made).toMatchObject({ deliveryId: id, done: true, redelivery: expect.any(String) });
    await stack.untilState(made.redelivery, 'retrying');
    expect(await deliveries('redeliver', id)).toMatchObject({
      printed: `${id}  Delivery ${made.redelivery} of the same event to this webhook is still open.`,
      code: 2,
    });
    expect((await deliveries('redeliver', made.redelivery)).printed).toBe(
      `${made.redelivery}  It is still open. To make its next attempt now: waybill deliveries try-now ${made.redelivery}`,
    );
    expect((await deliveries('retry', made.redelivery)).printed).toMatch(/Attempt \d+ of 21 follows at once/);
    expect((await deliveries('hold', id)).printed).toBe(
      `${id}  The delivery has already ended as delivered.`,
    );
  });

  it('an unknown id is reported', async () => {
    const none = '01a205b3-d000-7000-8000-000000000000';
    for (const verb of ['try-now', 'redeliver'])
      expect(await deliveries(verb, none)).toMatchObject({
        printed: `${none}  There is no such delivery, or its webhook is deleted.`,
        code: 2,
      });
    expect((await deliveries('hold', none)).printed).toBe(`${none}  There is no delivery ${none}.`);
  });
});

describe('deliveries selected by options', () => {
  it('a job acts on all matches and reports its progress', async () => {
    const { webhookId, ids } = await waiting(3);
    const other = await stack.createWebhook(receiver.url, { type: 'CREATE_PRODUCT' });
    const [untouched = ''] = await stack.fire('another', {}, 'CREATE_PRODUCT');
    await stack.untilState(untouched, 'retrying');
    await stack.until('all are in the list', async () => {
      const { printed } = await deliveries(
        'hold',
        '--receiver',
        '127.0.0.1',
        '--dry-run',
        '--state',
        'retrying',
      );
      return printed === '4 deliveries found. Nothing was changed (dry run).';
    });

    const done = await deliveries(
      'hold',
      '--webhook',
      String(webhookId),
      '--reason',
      'moving',
      '--by',
      'anna',
    );
    expect(done).toMatchObject({ error: undefined, code: 0 });
    const [begun, ended] = done.printed.split('\n');
    expect(begun).toMatch(/^Job waybill-hold-[0-9a-f-]{36}: 3 deliveries\.$/);
    expect(ended).toBe('completed: 3 of 3 done');
    for (const id of ids) {
      await stack.until(`${id} is held`, async () => (await actionsOf(id)).length === 1);
      expect(await actionsOf(id)).toMatchObject([{ action: 'hold', by: 'anna', reason: 'moving' }]);
    }
    expect(await actionsOf(untouched)).toEqual([]);

    const jobId = begun?.split(/[ :]/)[1] ?? '';
    expect((await deliveries('jobs', 'show', jobId)).printed).toBe('completed: 3 of 3 done');
    expect(await deliveries('jobs', 'cancel', jobId)).toMatchObject({
      error: `Job ${jobId} has ended as completed: there is nothing to cancel.`,
      code: 1,
    });
    await stack.changeWebhook(other.id, { deleted: true });
  });

  it.runIf(nightly)('a job continues after its command has ended, and can be canceled', async () => {
    // No worker runs these workflows: they only get signals, at the rate of the server's batch operations.
    const webhookId = randomInt(1_000_000, 100_000_000);
    const taskQueue = `nobody-${randomUUID()}`;
    const names = Array.from({ length: JOB_SIZE }, (_, index) => `${taskQueue}/${index}`);
    const typedSearchAttributes = new TypedSearchAttributes([{ key: webhookIdKey, value: webhookId }]);
    await pLimit(20).map(names, async (workflowId) => {
      await stack.client.workflow.start('deliverEvent', { taskQueue, workflowId, typedSearchAttributes });
    });
    onTestFinished(async () => {
      await pLimit(20).map(names, (name) => stack.client.workflow.getHandle(name).terminate());
    });
    const elsewhere = { ...env, TEMPORAL_TASK_QUEUE: taskQueue };
    const all = ['deliveries', 'hold', '--webhook', String(webhookId)];
    await stack.until('all are in the list', async () =>
      (await triedWaybill([...all, '--dry-run'], elsewhere)).printed.startsWith(`${JOB_SIZE} deliveries`),
    );
    const program = spawn(process.execPath, [builtCli, ...all, '--json'], {
      env: { PATH: process.env.PATH ?? '', ...elsewhere },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(program, 'exit');
    const [first] = await once(createInterface({ input: program.stdout }), 'line');
    program.kill('SIGKILL');
    await ended;
    const { jobId, count } = JSON.parse(first);
    expect(count).toBe(JOB_SIZE);
    expect(
      await triedWaybill(['deliveries', 'jobs', 'cancel', jobId, '--reason', 'a mistake'], elsewhere),
    ).toEqual({
      printed: expect.stringMatching(/^Job .* was canceled after \d+ (delivery|deliveries)\.$/),
      error: undefined,
      code: 0,
    });
    expect(await triedWaybill(['deliveries', 'jobs', 'show', jobId], elsewhere)).toMatchObject({
      error: expect.stringMatching(/^It was stopped: /),
      code: 2,
    });
  });

  it("reports how many deliveries of the database are missing from Temporal's list", async () => {
    const { webhookId, ids } = await waiting(2);
    const [lost = ''] = ids;
    const handles = stack.client.workflow.list({
      query: `${webhookIdKey.name} = ${webhookId} AND ExecutionStatus = "Running"`,
    });
    const dryRun = (...more: string[]) =>
      deliveries('give-up', '--webhook', String(webhookId), '--dry-run', ...more);
    const found = (count: string) => `${count} found. Nothing was changed (dry run).`;
    await stack.until('both are in the list', async () => (await dryRun()).printed === found('2 deliveries'));
    // As if its entry were lost.
    for await (const { workflowId } of handles) {
      if (workflowId.endsWith(lost)) await stack.client.workflow.getHandle(workflowId).terminate();
    }
    await stack.sql`update deliveries set dispatched_at = now() - interval '1 minute' where id = any(${ids})`;
    await stack.until('one is in the list', async () =>
      (await dryRun()).printed.startsWith(found('1 delivery')),
    );
    expect((await dryRun()).printed).toBe(
      `${found('1 delivery')}\nTemporal lists only 1 of the 2 deliveries open in the database: the others are not acted on. Their entries are late or lost, or their workflows are paused in Temporal. Give their ids instead.`,
    );
    expect(JSON.parse((await dryRun('--json')).printed)).toMatchObject({ count: 1, open: 2 });
    // The state in the list may be an older one.
    expect((await dryRun('--state', 'retrying')).printed).toBe(found('1 delivery'));
    const done = await deliveries('hold', '--webhook', String(webhookId));
    expect(done.printed).toMatch(/^Job \S+: 1 delivery\.\nTemporal lists only 1 of the 2 deliveries/);
    expect(done).toMatchObject({ error: 'Some of the deliveries were not acted on.', code: 2 });

    await stack.sql`
      update deliveries set dispatched_at = null, class = 1, due_at = now() + interval '1 hour' where id = ${lost}`;
    expect((await dryRun()).printed).toBe(
      '2 deliveries found, 1 of them in the queue. Nothing was changed (dry run).',
    );
    expect(JSON.parse((await dryRun('--json')).printed)).toMatchObject({ count: 1, open: 1, queued: 1 });
    const ended = await deliveries('give-up', '--webhook', String(webhookId), '--by', 'anna');
    expect(ended.printed).toMatch(/^Job \S+: 1 delivery\.\nqueue: 1 of 1 done\ncompleted: 1 of 1 done$/);
    expect(ended).toMatchObject({ error: undefined, code: 0 });
    for (const id of ids) {
      await stack.untilState(id, 'canceled');
      expect((await actionsOf(id)).at(-1)).toMatchObject({ action: 'giveUp', by: 'anna' });
    }
  });

  it('queued deliveries need no job, whatever state is selected', async () => {
    const { webhookId, ids } = await waiting(1);
    const [id = ''] = ids;
    await stack.untilWaiting(id);
    await stack.sql`
      update deliveries set dispatched_at = null, class = 1, due_at = now() + interval '1 hour' where id = ${id}`;
    const handle = stack.client.workflow.list({ query: `${webhookIdKey.name} = ${webhookId}` });
    // Temporal's list may be older than the end of a workflow.
    for await (const { workflowId } of handle)
      await stack.client.workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => {});
    const hold = ['hold', '--webhook', String(webhookId), '--state', 'retrying'];
    await stack.until('none is in the list', async () =>
      (await deliveries(...hold, '--dry-run')).printed.startsWith('1 delivery found, 1 of them'),
    );
    expect(await deliveries(...hold)).toEqual({
      printed: 'In Temporal: 0 deliveries.\nqueue: 1 of 1 done',
      error: undefined,
      code: 0,
    });
    expect(await actionsOf(id)).toMatchObject([{ action: 'hold' }]);
  });

  it('a blocked delivery refuses an attempt, and is not sent when all of its record are given up', async () => {
    receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
    const { id: webhookId } = await stack.createWebhook(receiver.url, { ordering: 'record' });
    const first = await stack.fireOne('ordered');
    await stack.untilWaiting(first);
    // So many that a job begun beside them would end the first one before them.
    for (let sequence = 2; sequence <= BEHIND; sequence += 1)
      await transaction(stack.sql, (tx) =>
        recordEvent(tx, {
          eshopId: stack.eshopId,
          type: 'CREATE_ORDER',
          entityId: 'ordered',
          record: {},
          sequence,
        }),
      );
    const all = ['--webhook', String(webhookId), '--yes'];
    const tried = await deliveries('try-now', ...all);
    expect(tried).toMatchObject({ error: `${BEHIND - 1} deliveries did not accept it.`, code: 2 });
    expect(tried.printed).toMatch(/^queue: 0 of \d+ done, \d+ failed\n {2}\d+ deliveries: It waits /m);
    await stack.until('the second attempt', async () => (await stack.delivery(first)).attemptsMade === 2);
    await deliveries('give-up', ...all);
    await stack.until('all to be canceled', async () => {
      const open = await stack.sql`
        select from deliveries where webhook_id = ${webhookId} and state in ('pending', 'retrying')`;
      return open.length === 0;
    });
    expect(receiver.requests).toHaveLength(2);
  });

  it('giving up more than a thousand deliveries requires --yes', async () => {
    const { webhookId, ids } = await waiting(1);
    await stack.sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, due_at)
      select overlay(d.id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, d.event_id, d.eshop_id, d.webhook_id, d.event_type, n::text,
        now() + interval '1 hour'
      from deliveries d, generate_series(1, 1001) n where d.id = ${ids[0] ?? ''}`;
    const giveUp = ['give-up', '--webhook', String(webhookId), '--since', '2026-11-20 10:00'];
    expect((await deliveries(...giveUp)).error).toMatch(
      /^1,00[12] deliveries since 2026-11-20 10:00:00Z would end as canceled, which cannot be undone\. Use --yes/,
    );
    const [counts] = await stack.sql`
      select count(*)::int as open from deliveries where webhook_id = ${webhookId} and state <> 'canceled'`;
    expect(counts?.open).toBe(1002);
    const { printed } = await deliveries(...giveUp, '--yes');
    expect(printed).toContain('since 2026-11-20 10:00:00Z.\nqueue: 1001 of 1001 done');
  });

  it('without a match nothing is changed', async () => {
    const { printed, code } = await deliveries('give-up', '--webhook', '999999');
    expect([printed, code]).toEqual(['0 deliveries found. Nothing was changed.', 0]);
  });

  it('a receiver with more webhooks than a query can name is refused', async () => {
    const host = 'many.example';
    await stack.sql`
      insert into webhooks (eshop_id, url, webhook_type, active, method, payload_version, secret)
      select eshop_id, 'https://many.example/' || n, webhook_type, false, method, payload_version, secret
      from (select * from webhooks order by id limit 1) w, generate_series(1, 1001) n`;
    const { error } = await deliveries('hold', '--receiver', host);
    expect(error).toBe(`More than 1,000 webhooks call ${host}: give an e-shop or a webhook, too.`);
    const { printed } = await deliveries('hold', '--receiver', host, '--eshop', '999999', '--dry-run');
    expect(printed).toBe('');
    await stack.sql`update webhooks set deleted_at = now() where host = ${host}`;
  });

  it('mistakes are reported in one sentence', async () => {
    const id = randomUUID();
    const wrong = async (...args: string[]) => (await deliveries('hold', ...args)).error;
    expect(await wrong()).toMatch(/^Give ids of deliveries, or options .* that select them\.$/);
    expect(await wrong(id, '--webhook', '7')).toMatch(/, but not both\.$/);
    expect(await wrong(id, '--dry-run')).toBe(
      '--dry-run cannot be combined with ids: select the deliveries by options, such as --webhook.',
    );
    expect(await wrong('7')).toBe('<id> must be the id of a delivery.');
    expect(await wrong('--state', 'delivered')).toMatch(/^--state must be retrying or held/);
    expect(await wrong('--order', '"')).toMatch(/^--order must not contain quotation marks/);
    expect(await wrong(id, '--reason', 'x'.repeat(501))).toBe('--reason must have at most 500 characters.');
    expect(await wrong('--receiver', 'nobody.example')).toBe('No webhook calls nobody.example.');
    const { error } = await deliveries('jobs', 'show', 'waybill-hold-none');
    expect(error).toBe('There is no job waybill-hold-none.');
    const away = { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    expect((await triedWaybill(['deliveries', 'hold', id], away)).error).toBe(
      'Temporal at 127.0.0.1:1 cannot be reached.',
    );
  });
});
