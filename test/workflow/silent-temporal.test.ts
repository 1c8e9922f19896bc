/** A Temporal that has fallen silent: calls wait no longer than their deadline. */
import { Client, Connection, ServiceError } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createExecutions } from '../../src/reconciler/executions.ts';
import { historiesOf, latestRun, runsFor } from '../../src/replay/fetch.ts';
import { createBulkActions } from '../../src/temporal/bulk-actions.ts';
import { workersSeen } from '../../src/temporal/pollers.ts';
import { signalWorkflow } from '../../src/temporal/workflow-calls.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';

/** gRPC's DEADLINE_EXCEEDED. A connection given up for its silence gives another error, and later. */
const TOO_LATE = 4;

/** Half a second in place of each deadline: a call without one would wait for the connection's end. */
class HastyClient extends Client {
  override withDeadline<R>(_deadline: number | Date, call: () => Promise<R>): Promise<R> {
    return super.withDeadline(Date.now() + 500, call);
  }
}

/** The code of a call's error. */
function codeOf(result: PromiseSettledResult<unknown>): unknown {
  if (result.status === 'fulfilled') return result.value;
  const reason: unknown = result.reason;
  const error = reason instanceof ServiceError ? reason.cause : reason;
  return error instanceof Error && 'code' in error ? error.code : error;
}

test('every call to a silent Temporal ends at its deadline', async () => {
  const [host = '', port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy.close());
  const connection = await Connection.connect({ address: proxy.host });
  onTestFinished(() => connection.close());
  const client = new HastyClient({ connection });
  const bulk = createBulkActions(client, 'test');
  const query = 'WorkflowType = "noSuchType"';
  // It answers until then.
  expect(await bulk.count(query)).toBe(0);
  proxy.silence();

  const input = { by: 'anna', reason: '' };
  const run = { workflowId: 'none', runId: '00000000-0000-0000-0000-000000000000', live: false };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    count: () => bulk.count(query),
    start: () => bulk.start({ jobId: 'none', query, action: 'hold', input }),
    read: () => bulk.read('none'),
    stop: () => bulk.stop('none', 'tried by a test'),
    list: () => runsFor(client, query, 10),
    describe: () => latestRun(client, 'none'),
    history: () => historiesOf(client, [run]).next(),
    signal: () => signalWorkflow(client, 'none', { name: 'none' }),
    workers: () => workersSeen(client, 'none'),
    find: () => createExecutions(client, 'none').find('none'),
  };
  const results = await Promise.allSettled(Object.values(calls).map((call) => call()));

  const names = Object.keys(calls);
  expect(Object.fromEntries(results.map((result, index) => [names[index], codeOf(result)]))).toEqual(
    Object.fromEntries(names.map((name) => [name, TOO_LATE])),
  );
});
