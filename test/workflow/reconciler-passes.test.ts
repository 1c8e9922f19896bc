/** The reconciler's passes alone: shared by several workers, as a dry run, and over more than one page. */
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import {
  claimLateDeliveries,
  claimLateMails,
  dispatchedDeliveries,
  pendingReleases,
  unsentMails,
} from '../../src/db/reconciliation.ts';
import { transaction } from '../../src/db/transaction.ts';
import { createExecutions, type Executions } from '../../src/reconciler/executions.ts';
import { createPasses, type PassesOptions } from '../../src/reconciler/passes.ts';
import { emptyMemory, startReconciler } from '../../src/reconciler/reconciler.ts';
import { startOfSweep } from '../../src/reconciler/tracked-workflows.ts';
import { createDispatcher, type Restarter } from '../../src/temporal/dispatcher.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { createRecoveryStarter } from '../../src/temporal/start-recovery.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { exhaustDelivery } from '../support/database/deliveries.ts';
import { later } from '../support/later.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { PERMISSION_DENIED, startGrpcProxy } from '../support/servers/grpc-proxy.ts';
import type { DeliveryStack } from '../support/temporal/delivery-stack.ts';
import { insertPreOrder, loseWorkflow, runsOf } from '../support/temporal/lost-workflows.ts';
import { PAUSED_BY, pauseWorkflow } from '../support/temporal/pause.ts';
import { fireMany } from '../support/temporal/relay.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { unwatched } from '../support/unwatched.ts';

/** Without a worker: started workflows make no progress. */
async function start(name: string): Promise<DeliveryStack> {
  return await stackOfTest(name, { worker: false });
}

function restarterOf({ client, taskQueue, policy }: DeliveryStack): Restarter {
  return {
    ...createDispatcher(client, taskQueue, policy),
    ...createRecoveryStarter(client, taskQueue),
  };
}

/** The reconciler of a separate worker. @param client leads to Temporal, or nowhere */
function reconcilerOf(
  stack: DeliveryStack,
  client: Client,
  onAnswered: () => void,
  log = pino({ level: 'silent' }),
  executions: Partial<Executions> = {},
  changed: Partial<Parameters<typeof startReconciler>[0]> = {},
): ReturnType<typeof startReconciler> {
  const reconciler = startReconciler({
    sql: stack.sql,
    executions: { ...createExecutions(client, stack.taskQueue), ...executions },
    restarter: restarterOf(stack),
    log,
    watch: unwatched,
    graceMs: 1_000,
    intervalMs: 50,
    memory: emptyMemory(),
    onSetBack: () => {},
    onAnswered,
    ...changed,
  });
  onTestFinished(() => reconciler.stop());
  return reconciler;
}

/** Passes of a separate worker. */
function passesOf(stack: DeliveryStack, options: Partial<PassesOptions> = {}) {
  return createPasses({
    sql: stack.sql,
    executions: createExecutions(stack.client, stack.taskQueue),
    restarter: restarterOf(stack),
    log: pino({ level: 'silent' }),
    watch: unwatched,
    graceMs: 1_000,
    signal: new AbortController().signal,
    ...options,
  });
}

/** Open deliveries that were dispatched long ago to a Temporal that lost them. */
async function lostDeliveries(stack: DeliveryStack, count: number): Promise<string[]> {
  await stack.createWebhook('http://127.0.0.1:9/');
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await stack.fireOne(`order ${index}`));
  // All at the same microsecond: paging by time alone would repeat for ever.
  await stack.sql`update deliveries set dispatched_at = now() - interval '1 minute'`;
  return ids;
}
const idsOf = (repairs: readonly { name: Readonly<Record<string, unknown>> }[]) =>
  repairs.map(({ name }) => name.deliveryId);

test('two simultaneous sweeps start each lost delivery once', async () => {
  const stack = await start('two-sweeps');
  const ids = await lostDeliveries(stack, 12);
  const [one, two] = await Promise.all([
    passesOf(stack).everything('test'),
    passesOf(stack).everything('test'),
  ]);
  expect([...idsOf(one.repairs), ...idsOf(two.repairs)].sort()).toEqual([...ids].sort());
  expect([one.looked, two.looked]).toEqual([12, 12]);
  const again = await passesOf(stack).everything('test');
  expect(again).toEqual({ looked: 12, repairs: [] });
  for (const id of ids.slice(0, 3)) {
    await stack.until('the list', async () => (await runsOf(stack.client, stack.workflowId(id))).length > 0);
    expect(await runsOf(stack.client, stack.workflowId(id))).toHaveLength(1);
  }
});

test('two simultaneous claims share the late deliveries, which are then left alone for a while', async () => {
  const stack = await start('two-claims');
  const ids = await lostDeliveries(stack, 4);
  const mine = await stack.sql.begin(async (tx) => {
    const first = await claimLateDeliveries(tx, 1_000, 3);
    const second = await claimLateDeliveries(stack.sql, 1_000, 3);
    return [first, second];
  });
  expect(mine.map((claimed) => claimed.length)).toEqual([3, 1]);
  expect(new Set(mine.flat().map(({ id }) => id))).toEqual(new Set(ids));
  expect(await claimLateDeliveries(stack.sql, 1_000, 3)).toEqual([]);
});

test('an interrupted sweep is finished by the next one, which then checks everything', async () => {
  const stack = await start('interrupted-sweep');
  await lostDeliveries(stack, 1);
  await fireMany(stack, 229);
  await stack.sql`update deliveries set dispatched_at = now() - interval '1 minute'`;
  const sweepPlace = startOfSweep();
  const interrupting = new AbortController();
  let repairs = 0;
  const found = new Set<string>();
  /** Passes at a Temporal that has lost each workflow, until it is started again. */
  const passes = (options: Partial<PassesOptions> = {}) =>
    passesOf(stack, {
      sweepPlace,
      executions: {
        ...createExecutions(stack.client, stack.taskQueue),
        async find(workflowId) {
          if (found.has(workflowId)) return { as: 'running', asleep: false, failing: false, atWork: false };
          found.add(workflowId);
          return { as: 'missing' };
        },
      },
      restarter: { ...restarterOf(stack), restart: async () => true },
      ...options,
    });
  const { looked } = await passes({
    signal: interrupting.signal,
    onRepair() {
      repairs += 1;
      // Within the second page.
      if (repairs === 120) interrupting.abort();
    },
  }).everything('test');
  expect(looked).toBe(200);
  const next = await passes().everything('test');
  expect(next.looked).toBe(130 + 230);
  expect(repairs + next.repairs.length).toBe(230);
  expect((await passes().everything('test')).looked).toBe(230);
});

test('any number of workflows that cannot continue are one cause to renew workers', async () => {
  const stack = await start('one-cause');
  await lostDeliveries(stack, 3);
  const memory = emptyMemory();
  /** A reconciler that finds them all late and failing. @returns why it would have workers renewed */
  const reasonsOfNext = async () => {
    const reasons: string[] = [];
    let checks = 0;
    await stack.sql`update deliveries set check_at = null`;
    const reconciler = reconcilerOf(
      stack,
      stack.client,
      () => {},
      undefined,
      {
        find: async () => ({ as: 'running', asleep: false, failing: true, atWork: false }),
        async *endedExternally() {
          checks += 1;
          yield [];
        },
      },
      {
        memory,
        restarter: { ...restarterOf(stack), restart: async () => true },
        onSetBack: (why) => void reasons.push(why),
      },
    );
    await stack.until('the second check', async () => checks > 1);
    await reconciler.stop();
    return reasons;
  };
  expect(await reasonsOfNext()).toContain('a workflow could not go on');
  // The session is renewed. Those that become late now have the same cause.
  expect(await reasonsOfNext()).toEqual([]);
  // Ten minutes without any: it is another one.
  memory.stuckAt -= 600_001;
  expect(await reasonsOfNext()).toContain('a workflow could not go on');
});

test('a delivery just dispatched, or with its next attempt ahead, is not late', async () => {
  const stack = await start('not-late');
  const [fresh = '', ahead = ''] = await lostDeliveries(stack, 2);
  await stack.sql`update deliveries set dispatched_at = now() where id = ${fresh}`;
  await stack.sql`update deliveries set next_attempt_at = now() + interval '1 hour' where id = ${ahead}`;
  expect(await passesOf(stack, { graceMs: 30_000 }).late()).toEqual({ looked: 0, repairs: [] });
});

test('a late workflow whose tasks start but do not end is started again after a while', async () => {
  const stack = await start('stalled');
  const [id = ''] = await lostDeliveries(stack, 1);
  const passes = passesOf(stack, { stalledMs: 2_000 });
  await passes.everything('test');
  // A worker that takes the task and never answers.
  const { workflowExecution } = await stack.client.withDeadline(Date.now() + PATIENCE_MS, () =>
    stack.client.workflowService.pollWorkflowTaskQueue({
      namespace: 'default',
      taskQueue: { name: stack.taskQueue },
      identity: 'a worker that hangs',
    }),
  );
  expect(workflowExecution?.workflowId).toBe(stack.workflowId(id));
  const watchedSince = performance.now();
  expect((await passes.everything('test')).repairs).toEqual([]);
  const [repaired] = await stack.until('the repair', async () => {
    const { repairs } = await passes.late();
    return repairs.length > 0 && repairs;
  });
  expect(performance.now() - watchedSince).toBeGreaterThan(1_900);
  expect(repaired).toMatchObject({ reason: 'stalled', action: 'startedAgain', name: { deliveryId: id } });
  await stack.until(
    'the new run in the list',
    async () => (await runsOf(stack.client, stack.workflowId(id))).length === 2,
  );
  // The new run waits for a worker, and is left alone.
  expect((await passes.everything('test')).repairs).toEqual([]);
});

test('a dry run reports the repairs, and changes nothing', async () => {
  const stack = await start('dry');
  const [missing = '', terminated = ''] = await lostDeliveries(stack, 2);
  const other = passesOf(stack);
  await other.everything('test');
  await loseWorkflow(stack.client, stack.workflowId(missing));
  await stack.workflow(terminated).terminate();
  const rows = () => stack.sql`select * from deliveries order by id`;
  const before = await rows();
  const dry = passesOf(stack, { dryRun: true });
  const found = [
    expect.objectContaining({ reason: 'missing', action: 'startedAgain' }),
    expect.objectContaining({ reason: 'terminated', action: 'closed' }),
  ];
  const { repairs } = await dry.everything('test');
  expect([...repairs].sort((a, b) => a.reason.localeCompare(b.reason))).toEqual(found);
  expect(await rows()).toEqual(before);
  expect(await stack.describe(missing)).toBeUndefined();
  // The same pass, when it is not dry, does what the dry run said.
  const done = await other.everything('test');
  expect([...done.repairs].sort((a, b) => a.reason.localeCompare(b.reason))).toEqual(found);
  expect(await stack.delivery(terminated)).toMatchObject({ state: 'canceled' });
});

test('a woken delivery is checked again, even after an outage of the database', async () => {
  const stack = await start('woken');
  const [id = ''] = await lostDeliveries(stack, 1);
  let away = false;
  const sql = new Proxy(stack.sql, {
    apply(target, self, asked) {
      if (away) throw new Error('The database is unavailable.');
      return Reflect.apply(target, self, asked);
    },
  });
  const passes = passesOf(stack, {
    sql,
    executions: {
      ...createExecutions(stack.client, stack.taskQueue),
      find: async () => ({ as: 'running', asleep: true, failing: false, atWork: false }),
      isUnresponsive: async () => false,
    },
    restarter: { ...restarterOf(stack), signalWebhookChanged: async () => {} },
  });
  expect(idsOf((await passes.late()).repairs)).toEqual([id]);
  away = true;
  await expect(passes.late()).rejects.toThrow('The database is unavailable.');
  away = false;
  expect(idsOf((await passes.late()).repairs)).toEqual([id]);
});

test('a workflow signaled a moment ago is not unresponsive', async () => {
  const stack = await start('signaled');
  const [id = ''] = await lostDeliveries(stack, 1);
  await passesOf(stack).everything('test');
  await stack.workflow(id).signal(webhookChangedSignal);
  const executions = createExecutions(stack.client, stack.taskQueue);
  expect(await executions.isUnresponsive(stack.workflowId(id))).toBe(false);
});

test('a late delivery whose workflow is paused is left alone, and the log says who paused it', async () => {
  const stack = await start('paused');
  const [id = ''] = await lostDeliveries(stack, 1);
  await passesOf(stack).everything('test');
  await pauseWorkflow(stack.client, stack.workflowId(id));
  await stack.sql`update deliveries set dispatched_at = now() - interval '1 minute', check_at = null`;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });

  expect(await passesOf(stack, { log }).late()).toEqual({ looked: 1, repairs: [] });

  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      deliveryId: id,
      by: `${PAUSED_BY.identity}: ${PAUSED_BY.reason}`,
      since: expect.stringMatching(/^20.*Z$/),
      msg: expect.stringContaining('an operator has paused the workflow in Temporal'),
    },
  ]);
});

test('a delivery that a relay has only claimed is left to the relay', async () => {
  const stack = await start('claimed');
  const [id = ''] = await lostDeliveries(stack, 1);
  await stack.sql`update deliveries set dispatched_at = null, claimed_until = now() + interval '30 seconds'`;
  expect(await passesOf(stack).everything('test')).toEqual({ looked: 0, repairs: [] });
  expect(await stack.describe(id)).toBeUndefined();
});

test('the mail of a queued delivery is left to its workflow, which the relay starts', async () => {
  const stack = await start('mail-in-queue');
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('order 1');
  await exhaustDelivery(stack.sql, id);
  await stack.sql`update notices set at = now() - interval '1 minute', check_at = now() - interval '1 minute'`;
  const passes = passesOf(stack);
  expect(await passes.everything('test')).toEqual({ looked: 0, repairs: [] });
  expect(await passes.late()).toEqual({ looked: 0, repairs: [] });
  expect(await stack.describe(id)).toBeUndefined();
  await stack.sql`update deliveries set dispatched_at = now() where id = ${id}`;
  expect((await passes.late()).repairs).toMatchObject([
    { kind: 'mail', reason: 'missing', action: 'startedAgain' },
  ]);
});

test('a delivery closed between check and repair is not started again', async () => {
  const stack = await start('closed-meanwhile');
  const [id = ''] = await lostDeliveries(stack, 1);
  const executions = createExecutions(stack.client, stack.taskQueue);
  const passes = passesOf(stack, {
    executions: {
      ...executions,
      async find(workflowId) {
        const found = await executions.find(workflowId);
        await stack.sql`update deliveries set state = 'delivered', finished_at = now() where id = ${id}`;
        return found;
      },
    },
  });
  expect((await passes.everything('test')).repairs).toEqual([]);
  expect(await stack.describe(id)).toBeUndefined();
});

test('a pre-order with a change to signal is left to the relay; others get their timer again', async () => {
  const stack = await start('pre-orders');
  const releaseAt = new Date(Date.now() + 3_600_000);
  await insertPreOrder(stack, 'signaled', releaseAt);
  await insertPreOrder(stack, 'to be signaled', releaseAt);
  await transaction(stack.sql, (tx) => enqueueReleaseChange(tx, stack.eshopId, 'to be signaled'));
  const { repairs } = await passesOf(stack).everything('test');
  expect(repairs).toEqual([
    {
      kind: 'release',
      reason: 'missing',
      action: 'startedAgain',
      name: { eshopId: stack.eshopId, eshopOrderId: 'signaled' },
    },
  ]);
  const description = await stack.client.workflow
    .getHandle(releaseWorkflowId(stack.eshopId, 'signaled'))
    .describe();
  expect(description.status.name).toBe('RUNNING');
});

test('late and all deliveries are found by the indexes made for them', async () => {
  const stack = await start('indexes');
  const reserved = await stack.sql.reserve();
  try {
    // Otherwise an empty table is read as a whole.
    await reserved`set enable_seqscan = off`;
    await reserved`set enable_bitmapscan = off`;
    /** For a partitioned index: of its partitions. */
    const scans = async () => {
      await reserved`select pg_stat_force_next_flush()`;
      await reserved`select pg_stat_clear_snapshot()`;
      const rows = await reserved<{ name: string; scans: number }[]>`
        select coalesce(p.relname, s.indexrelname) as name, max(s.idx_scan)::int as scans
        from pg_stat_user_indexes s left join pg_inherits i on i.inhrelid = s.indexrelid left join pg_class p on p.oid = i.inhparent
        where s.idx_scan > 0 group by 1`;
      return new Map(rows.map(({ name, scans }) => [name, scans]));
    };
    const options = { graceMs: 1_000, limit: 10, after: null };
    const found = new Map<string, number>();
    for (const [index, ask] of [
      ['deliveries_by_next_step', () => claimLateDeliveries(reserved, 1_000, 10)],
      ['deliveries_by_next_step', () => dispatchedDeliveries(reserved, { ...options, asOf: '2030-01-01' })],
      ['deactivation_mails_pending', () => claimLateMails(reserved, 1_000, 10)],
      ['deactivation_mails_pending', () => unsentMails(reserved, options)],
      ['orders_to_be_released', () => pendingReleases(reserved, { ...options, lateOnly: true })],
    ] as const) {
      const before = (await scans()).get(index) ?? 0;
      await ask();
      found.set(`${index} ${found.size}`, ((await scans()).get(index) ?? 0) - before);
    }
    expect([...found.values()]).toEqual([1, 1, 1, 1, 1]);
  } finally {
    reserved.release();
  }
});

test('a held delivery whose workflow cannot continue is started again, still held', async () => {
  const stack = await start('held-and-stuck');
  const receiver = await receiverOfTest();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.sql`
    update deliveries set dispatched_at = now() - interval '1 minute', operator_stop = 'hold'
    where id = ${id}`;
  const workflow = stack.client.workflow.getHandle(stack.workflowId(id));
  // Each of its tasks fails, like those of a history that the present code cannot continue.
  await stack.client.workflow.start('noSuchWorkflow', {
    workflowId: stack.workflowId(id),
    taskQueue: stack.taskQueue,
  });
  await stack.startWorker();
  await stack.until('its own workflow', async () => {
    await passesOf(stack).everything('test');
    return (await workflow.describe()).type === 'deliverEvent';
  });
  const request = createOperatorActions({ client: stack.client, sql: stack.sql, policy: stack.policy });
  expect(receiver.requests).toHaveLength(0);
  await request('resume', id, { by: 'anna', reason: '' });
  await stack.untilState(id, 'delivered');
});

test('responses of Temporal are reported while the checks are under way', async () => {
  const stack = await start('long-checks');
  const [ended, end] = later();
  let answers = 0;
  const onAnswered = () => {
    answers += 1;
  };
  reconcilerOf(stack, stack.client, onAnswered, undefined, {
    async *endedExternally() {
      await ended;
      yield [];
    },
  });
  onTestFinished(() => end());
  await stack.until('three answers', async () => answers > 2);
});

test('late deliveries are repaired while the list of workflows is refused; the sweep follows once', async () => {
  const stack = await start('no-list');
  const proxy = await startGrpcProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  proxy.refuse(/\/ListWorkflowExecutions$/, PERMISSION_DENIED);
  const connection = await Connection.connect({ address: proxy.address });
  onTestFinished(() => connection.close());
  const said: { readonly msg: string; readonly why?: string }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void said.push(JSON.parse(line)) });
  let checks = 0;
  const onAnswered = () => {
    checks += 1;
  };
  reconcilerOf(stack, new Client({ connection }), onAnswered, log, {}, { sweepSpacingMs: 500 });
  await stack.until('some checks', async () => checks > 3);

  const [id = ''] = await lostDeliveries(stack, 1);
  await stack.untilBegun(id);
  const before = checks;
  await stack.until('some more checks', async () => checks > before + 3);
  const texts = () => said.map(({ msg }) => msg);
  expect(
    texts().filter((msg) => msg === 'workflows that operators end in Temporal are noticed late'),
  ).toHaveLength(1);
  expect(texts()).not.toContain('a step of the reconciler failed: repeating it');
  expect(said).toContainEqual(expect.objectContaining({ why: 'late' }));

  expect(texts()).not.toContain('checked everything');
  proxy.pass();
  await stack.until('a look at everything', async () => texts().includes('checked everything'));
  // At the level of every log.
  for (const msg of ['checking everything', 'checked everything'])
    expect(said).toContainEqual(expect.objectContaining({ level: 30, msg }));
});
