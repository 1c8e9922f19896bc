/** The retention on its schedule, visible in Temporal. */
import { expect, test } from 'vitest';
import { listPartitions } from '../../src/db/retention/partitions.ts';
import { retain } from '../../src/retention/retain.ts';
import type { retention } from '../../workflows/retention.ts';
import { retentionId } from '../../workflows/retention-types.ts';
import { firstWeek } from '../support/database/weeks.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

const retentionMs = 30 * 24 * 3_600_000;

const receiver = await receiverOfFile();
const stack = await stackOfFile('retention', {
  retentionMs,
  worker: false,
  policy: { initialIntervalMs: 2_000 },
});
// As if a month had passed: the present rows lie in the week before the partitions begin.
for (const { table, week, until } of await listPartitions(stack.sql)) {
  if (week === 'default' || until === null) continue;
  if (week !== 'first') await stack.sql`drop table ${stack.sql(`${table}_${week}`)}`;
}

const schedule = () => stack.client.schedule.getHandle(retentionId(stack.taskQueue));
/** The runs so far, newest last. */
const runs = async () => (await schedule().describe()).info.recentActions;

async function resultOf(workflowId: string) {
  const handle = stack.client.workflow.getHandle<typeof retention>(workflowId);
  return { result: await handle.result(), description: await handle.describe() };
}

test('a worker creates the schedule, whose first run makes weeks ahead and reports it', async () => {
  await stack.startWorker();

  const first = await stack.until('the first run', async () => (await runs())[0]);
  const { workflowId } = first.action.workflow;
  const { result, description } = await resultOf(workflowId);

  expect(workflowId).toMatch(new RegExp(`^retention/${stack.taskQueue}`));
  expect(description.status.name).toBe('COMPLETED');
  expect(result.made.length).toBeGreaterThan(2);
  expect(result.message).toMatch(/^made \d weeks ahead \(\d{8}, /);
  expect(stack.logged.map(({ msg }) => msg)).toContainEqual(`retention: ${result.message}`);
  const { spec, policies } = await schedule().describe();
  expect(spec.intervals?.[0]?.every).toBe(3_600_000);
  expect(policies.overlap).toBe('SKIP');
  // One that cannot go on makes room for the next.
  expect(description.raw.executionConfig).toMatchObject({
    workflowRunTimeout: { seconds: expect.anything() },
  });
  expect(Number(description.raw.executionConfig?.workflowRunTimeout?.seconds)).toBe(59 * 60);
});

test('another worker keeps an operator’s changes to the schedule', async () => {
  await schedule().pause('while the disk is moved');
  await stack.stopWorker();
  await stack.startWorker();

  expect((await schedule().describe()).state).toMatchObject({
    paused: true,
    note: 'while the disk is moved',
  });
  await schedule().unpause();
});

test('delivered deliveries are removed with their week; open ones are kept, and none is missing', async () => {
  const { sql } = stack;
  await stack.createWebhook(receiver.url);
  const delivered = await stack.fireOne('1');
  await stack.untilState(delivered, 'delivered');
  await stack.untilClosed(delivered);
  receiver.respond({ status: 503 });
  const open = await stack.fireOne('2');
  await stack.untilState(open, 'retrying');

  const later = new Date((await firstWeek(sql)).getTime() + retentionMs);
  const { kept, removed } = await retain(sql, { retentionMs, now: later });

  expect(kept).toContainEqual({ partition: 'deliveries_first', neededBy: 1 });
  expect(removed.deliveries).toBe(1);
  expect(await sql`select from deliveries where id = ${delivered}`).toEqual([]);
  // A worker checks everything when it starts.
  await stack.stopWorker();
  await stack.startWorker();
  receiver.respond({ status: 200 });
  await stack.untilState(open, 'delivered');
  expect(stack.repaired()).toEqual([]);
  expect((await stack.describe(delivered))?.status.name).toBe('COMPLETED');
});
