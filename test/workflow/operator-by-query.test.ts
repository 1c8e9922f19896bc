/** Temporal's own command line, as docs/handbook/temporal-ui.md shows it: for one delivery, and for a whole query. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

const stack = await stackOfFile('operator-by-query', { policy: { windowMs: 3_600_000, maxRetries: 3 } });
const receiver = await receiverOfFile({ status: 503, headers: { 'retry-after': '600' } });
const program: string = await findTemporal({ report: () => {} });

/** Runs `temporal …`; answers its output. */
async function temporal(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args, '--address', inject('temporalAddress')]);
  return stdout;
}

/** Waits until Temporal's list has this many results for a query. */
const listed = (query: string, count: number) =>
  stack.until(`${count} in the list: ${query}`, async () => {
    const found: string[] = [];
    for await (const { workflowId } of stack.client.workflow.list({ query })) found.push(workflowId);
    return found.length === count;
  });

test('a query holds, resumes and tries several deliveries, and an update gives up a single one', async () => {
  await stack.createWebhook(receiver.url);
  const ids = [await stack.fireOne('1'), await stack.fireOne('2'), await stack.fireOne('3')];
  for (const id of ids) await stack.untilState(id, 'retrying');
  const there = `ExecutionStatus = "Running" AND ReceiverHost = "127.0.0.1:${receiver.port}"`;
  const order = ['--input', '{"reason": "maintenance of the shop", "by": "anna"}'];
  await listed(there, 3);
  await temporal('workflow', 'signal', '--query', there, '--name', 'hold', ...order, '--yes');
  const held = `${there} AND DeliveryState = "held"`;
  await listed(held, 3);
  const rows = await stack.sql<{ operatorStop: string; by: string; reason: string }[]>`
    select operator_stop, operator_actions -> 0 ->> 'by' as by, operator_actions -> 0 ->> 'reason' as reason from deliveries`;
  for (const row of rows) {
    expect(row).toEqual({ operatorStop: 'hold', by: 'anna', reason: 'maintenance of the shop' });
  }

  const [given = '', ...others] = ids;
  const one = ['--workflow-id', stack.workflowId(given), '--name', 'giveUp', ...order];
  expect(await temporal('workflow', 'update', 'execute', ...one)).toContain('Given up: it ends as canceled');
  await stack.untilState(given, 'canceled');
  await listed(held, 2);

  await temporal(
    'workflow',
    'signal',
    '--query',
    held,
    '--name',
    'resume',
    '--input',
    '{"by": "anna"}',
    '--yes',
  );
  const failing = `${there} AND DeliveryState = "retrying"`;
  await listed(failing, 2);
  receiver.respond({ status: 200 });
  await temporal('workflow', 'signal', '--query', failing, '--name', 'tryNow', '--rps', '10', '--yes');
  for (const id of others) await stack.untilState(id, 'delivered');
  expect(receiver.requests).toHaveLength(5);
});
