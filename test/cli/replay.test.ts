/** `waybill replay`: the histories of a real server, against the present code and against changed code. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { Command } from 'commander';
import { expect, inject, onTestFinished, test } from 'vitest';
import { replayCommand } from '../../src/cli/replay.ts';
import { exitCodeOf, shownError } from '../../src/lib/user-error.ts';
import { startReplayer } from '../../src/replay/breaks.ts';
import { silenceTemporalLogs } from '../../src/temporal/logs.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { folderOfFile } from '../support/ends.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { builtWorkflows } from '../support/programs/built.ts';
import { authorityFile, behindTls } from '../support/servers/behind-tls.ts';
import { historyText } from '../support/temporal/history-text.ts';

// The SDK warns of the failures that this test wants; in a green run they would look like real ones.
silenceTemporalLogs();
const folder = await folderOfFile('waybill-replay-');
const stack = await stackOfFile('replay-command', { policy: { windowMs: 3_600_000 } });
const receiver = await receiverOfFile({ status: 200 });
await stack.createWebhook(`${receiver.url}/hooks?token=confidential`);
const first = await stack.fireOne('10001');
await stack.untilClosed(first);
receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
const second = await stack.fireOne('10002');
await stack.untilState(second, 'retrying');
/** Workflow ids. */
const [delivered, waiting] = [stack.workflowId(first), stack.workflowId(second)];
// The list of workflows lags behind.
const query = `TaskQueue = '${stack.taskQueue}'`;
const running = `${query} AND ExecutionStatus = 'Running'`;
await stack.until('both to be listed', async () => {
  const { workflow } = stack.client;
  return (await workflow.count(query)).count === 2 && (await workflow.count(running)).count === 1;
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function replay(
  args: readonly string[],
  workflows: WorkflowBundleOption = builtWorkflows,
  more: Record<string, string> = {},
): Promise<Ran> {
  const lines: string[] = [];
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_TASK_QUEUE: stack.taskQueue, ...more };
  const command = new Command('replay');
  replayCommand(command, { env, print: (line) => lines.push(line) }, workflows);
  const ran = (code: number, stderr = ''): Ran => ({ code, stdout: lines.join('\n'), stderr });
  try {
    await command.parseAsync(['node', 'replay', '--address', inject('temporalAddress'), ...args]);
    return ran(0);
  } catch (error) {
    return ran(exitCodeOf(error), shownError(error));
  }
}

test('live and closed histories replay on the present code', async () => {
  expect(await replay([])).toEqual({
    code: 0,
    stdout: '2 histories replayed (1 live, 1 closed): none breaks.',
    stderr: '',
  });
});

test('a planted change is reported with its workflow, event number, and the sentence of the SDK', async () => {
  const changed = await buildWorkflowBundle(new URL('../replay/example/without-patch.ts', import.meta.url));
  const { code, stdout, stderr } = await replay([], changed);
  expect(code).toBe(2);
  const width = waiting.length;
  const event = 'Activity machine does not handle this event: HistoryEvent(id: 5,';
  expect(stdout.split('\n')).toEqual([
    `${'workflow'.padEnd(width)}  event  break`,
    `${waiting}      5  ${event} UpsertWorkflowSearchAttributes)`,
    `${delivered}      5  ${event} WorkflowExecutionCompleted)`,
    '2 histories replayed (1 live, 1 closed): 2 of them break.',
  ]);
  expect(stderr).toBe('2 histories cannot be continued by this code.');
  const json = await replay([waiting, '--json'], changed);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({
    live: 1,
    closed: 0,
    broken: [{ workflowId: waiting, eventId: 5, details: expect.stringContaining('UpsertWorkflow') }],
    more: false,
  });
});

test('running workflows go first, and a check cut short by --limit does not pass', async () => {
  expect(await replay(['--limit', '1'])).toEqual({
    code: 3,
    stdout: '1 history replayed (1 live, 0 closed): none breaks.',
    stderr: 'There are more than 1: use --limit to replay all.',
  });
  expect(await replay(['--limit', '1', '--save', join(folder, 'one')])).toMatchObject({ code: 0 });
});

test('replay uses the configured TLS and API key', async () => {
  const secured = { TEMPORAL_API_KEY: 'key', TEMPORAL_TLS_CA_FILE: authorityFile };
  const { address, close } = await behindTls(inject('temporalAddress'));
  onTestFinished(close);
  const args = [delivered, '--address', address];
  expect(await replay(args, builtWorkflows, secured)).toMatchObject({ code: 0 });
  // The certificate is not trusted, then TLS is not used.
  const stderr = `Temporal at ${address} cannot be reached.`;
  expect(await replay(args, builtWorkflows, { TEMPORAL_TLS: 'true' })).toMatchObject({ code: 1, stderr });
  expect(await replay(args)).toMatchObject({ code: 1, stderr });
});

test('a query or workflow ids select the histories', async () => {
  const only = `TaskQueue = '${stack.taskQueue}' AND EntityId = '10001'`;
  expect((await replay(['--query', only])).stdout).toMatch(/^1 history replayed \(0 live, 1 closed\)/);
  expect((await replay([waiting, delivered])).stdout).toMatch(/^2 histories replayed \(1 live, 1 closed\)/);
});

test.each([
  [['--query', "EntityId = 'no such record'"], "No workflow matches EntityId = 'no such record'."],
  [['--query', 'Nonsense = 1'], /^Temporal rejects the query Nonsense = 1: .*Nonsense/],
  [['delivery/none'], 'Temporal has no workflow delivery/none.'],
  [
    ['delivery/01a1fb49-91ad-7462-92f5-c93b78f95301'],
    'Temporal has no workflow delivery/01a1fb49-91ad-7462-92f5-c93b78f95301.',
  ],
  [['delivery/none', '--query', 'x'], 'Give ids of workflows or a --query, but not both.'],
  [['--limit', '0'], '--limit must be an integer from 1 to 1000000.'],
  [['--address', 'nowhere'], '--address must be host:port.'],
  [['--address', '127.0.0.1:1'], 'Temporal at 127.0.0.1:1 cannot be reached.'],
])('a check that cannot be made does not pass: %j', async (args, message) => {
  const { code, stderr } = await replay(args);
  expect(code).toBe(1);
  expect(stderr).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

test('--save writes histories that replay, readable by their owner alone, without URL, secret or machine', async () => {
  const directory = join(folder, 'kept');
  const { code, stdout } = await replay(['--save', directory]);
  expect(code).toBe(0);
  expect(stdout).toContain(`2 histories saved in ${directory}.`);
  const files = await readdir(directory);
  expect(files).toHaveLength(2);
  const replayer = startReplayer(builtWorkflows);
  for (const file of files) {
    const path = join(directory, file);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    const history = historyFromJSON(JSON.parse(text));
    expect(await replayer.replay(file, history)).toBeUndefined();
    expect(historyText(history)).not.toMatch(/confidential|whsec_|https?:/);
    expect(text).not.toContain(`${process.pid}@`);
  }
  await replayer.close();
});

test.each(['', 'delivery/'])(
  'a delivery is found by %s<its id> alone, whatever the id of its workflow',
  async (prefix) => {
    const deliveryId = delivered.slice(-36);
    expect(delivered).not.toBe(`delivery/${deliveryId}`);
    expect(await replay([`${prefix}${deliveryId}`])).toEqual({
      code: 0,
      stdout: '1 history replayed (0 live, 1 closed): none breaks.',
      stderr: '',
    });
  },
);

test('a history with a secret is not saved, and is reported', async () => {
  const workflowId = 'delivery/7/CREATE_ORDER/10001/with-a-secret';
  const taskQueue = `${stack.taskQueue}-nobody`;
  await stack.client.workflow.start('deliverEvent', {
    workflowId,
    taskQueue,
    args: [{ deliveryId: 'whsec_of-somebody' }],
  });
  const directory = join(folder, 'refused');
  const { code, stdout, stderr } = await replay([workflowId, delivered, '--save', directory]);
  expect(code).toBe(3);
  expect(stdout).toContain(`${workflowId}      1  a webhook secret`);
  expect(stdout).not.toContain('whsec_');
  expect(stderr).toBe('1 history was not saved.');
  expect(await readdir(directory)).toHaveLength(1);
  await stack.client.workflow.getHandle(workflowId).terminate();
});

test('a workflow begun by the next release breaks, and its patch is named', async () => {
  await stack.stopWorker();
  await stack.startWorker({
    workflowBundle: await buildWorkflowBundle(new URL('../replay/example/with-patch.ts', import.meta.url)),
  });
  const id = await stack.fireOne('10003');
  await stack.untilState(id, 'retrying');
  await stack.until('its first step', async () => {
    const history = await stack
      .workflow(id)
      .fetchHistory()
      .catch(() => undefined);
    return history?.events?.some((event) => event.workflowTaskCompletedEventAttributes) === true;
  });
  const { code, stdout } = await replay([stack.workflowId(id), '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout).broken).toMatchObject([
    { eventId: 5, details: expect.stringContaining('read-first') },
  ]);
});
