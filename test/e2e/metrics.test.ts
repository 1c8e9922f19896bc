/** `GET /metrics` of processes in each role. */
import { get } from 'node:http';
import { expect, it } from 'vitest';
import { listeningPorts } from '../../src/embedded/ports.ts';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfTest } from '../support/lifetimes.ts';
import { type Sample, sampleOf, samplesOf } from '../support/metrics.ts';
import type { Program } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { withTemporal } from '../support/temporal/workflows.ts';
import { until } from '../support/until.ts';

async function start(
  env: Record<string, string>,
  ports: Record<string, string> = { METRICS_PORT: '0' },
): Promise<Program & { readonly metrics: string }> {
  const program = await programOfTest({ ...ports, ...installation.env, ...env });
  return { ...program, metrics: /Metrics\s+(http:\S+)\/metrics/.exec(program.output())?.[1] ?? '' };
}

async function scrape(base: string): Promise<Sample[]> {
  const response = await fetch(`${base}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return samplesOf(await response.text());
}

/** Waits until the database has been read: a scrape does not wait long for that. */
async function scrapeAll(base: string): Promise<Sample[]> {
  return await until('the metrics of the database', async () => {
    const samples = await scrape(base);
    return sampleOf(samples, 'waybill_database_up') === 1 && samples;
  });
}

const installation = await installationOfFile();
it('an API and a worker show what they do, and no label says whose it is', async () => {
  const [api, worker] = await Promise.all([start({ ROLE: 'api' }), start({ ROLE: 'worker' })]);
  const receiver = await createReceiver({ status: 204 });
  const name = 'planted-order-4711';
  try {
    const client = await login(api.url, installation.credentials);
    const url = `${receiver.url.replace(/\/$/, '')}/planted-path?planted-query=1`;
    for (const webhookType of ['CREATE_ORDER', 'UPDATE_ORDER']) {
      await client.request('POST', '/webhooks', { url, webhookType, active: true, method: 'POST' });
    }
    expect((await client.createOrder(name)).statusCode).toBe(200);
    await client.request('PATCH', `/orders/${name}`, { note: 'planted-note' });
    await client.request('GET', '/orders/planted-missing');
    await client.request('PURGE', '/orders');
    const delivered = async (kind: string) =>
      sampleOf(await scrape(worker.metrics), 'waybill_deliveries_total', {
        outcome: 'delivered',
        event_type: kind,
      });
    for (const kind of ['CREATE_ORDER', 'UPDATE_ORDER'])
      await until(`the delivery of ${kind}`, async () => (await delivered(kind)) === 1);
  } finally {
    await receiver.close();
  }
  const [ofApi, ofWorker] = [await scrapeAll(api.metrics), await scrapeAll(worker.metrics)];

  expect(sampleOf(ofApi, 'waybill_info', { role: 'api' })).toBe(1);
  const requests = (method: string, status: string) =>
    sampleOf(ofApi, 'waybill_request_duration_seconds_count', { method, status });
  expect(requests('POST', '2xx')).toBeGreaterThanOrEqual(4);
  expect(requests('GET', '4xx')).toBe(1);
  expect(requests('other', '4xx')).toBe(1);
  // Present, at zero: an alert must not depend on the process that is scraped.
  expect(sampleOf(ofApi, 'waybill_attempts_total', { status: '2xx' })).toBe(0);
  expect(sampleOf(ofApi, 'waybill_temporal_up')).toBeUndefined();
  for (const receivers of ['hanging', 'other'])
    expect(sampleOf(ofWorker, 'waybill_attempts_open', { receivers }), receivers).toBe(0);
  expect(sampleOf(ofApi, 'waybill_attempts_open')).toBeUndefined();
  expect(sampleOf(ofWorker, 'waybill_temporal_up')).toBe(1);
  expect(sampleOf(ofWorker, 'waybill_attempts_total', { status: '2xx' })).toBe(2);
  // A metric of Temporal's SDK.
  expect(
    sampleOf(ofWorker, 'temporal_worker_task_slots_available', { worker_type: 'ActivityWorker' }),
  ).toBeGreaterThan(0);
  expect(
    sampleOf(ofWorker, 'temporal_request_total', { operation: 'StartWorkflowExecution' }),
  ).toBeGreaterThan(0);
  expect(ofApi.filter((sample) => sample.name.startsWith('temporal_'))).toEqual([]);
  await withTemporal(installation.env.TEMPORAL_ADDRESS, async ({ workflow }) => {
    const taskQueue = installation.env.TEMPORAL_TASK_QUEUE;
    const handle = await workflow.start('unknown', { taskQueue, workflowId: `unknown-${taskQueue}` });
    const failing = { workflow_type: 'unknown', failure_reason: 'WorkflowError' };
    await until('a failed workflow task', async () => {
      const samples = await scrape(worker.metrics);
      return (sampleOf(samples, 'temporal_workflow_task_execution_failed_total', failing) ?? 0) > 0;
    });
    await handle.terminate();
  });
  for (const samples of [ofApi, ofWorker]) {
    expect(sampleOf(samples, 'waybill_database_up')).toBe(1);
    expect(sampleOf(samples, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(sampleOf(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sampleOf(samples, 'waybill_database_connections_max')).toBe(20);
    expect(sampleOf(samples, 'waybill_database_connections', { state: 'idle' })).toBeGreaterThan(0);
    expect(sampleOf(samples, 'waybill_database_connections', { state: 'busy' })).toBeGreaterThanOrEqual(0);
    const values = new Set(samples.flatMap(({ labels }) => Object.values(labels)));
    const { eshopId, apiKey, username, password } = installation.credentials;
    for (const planted of [
      'planted',
      'PURGE',
      '127.0.0.1',
      'localhost',
      'shop.example',
      apiKey,
      password,
      'MUG',
    ]) {
      expect([...values].filter((value) => value.includes(planted))).toEqual([]);
    }
    expect([...values].filter((value) => value === String(eshopId) || value === username)).toEqual([]);
  }

  // A worker reports its health there too.
  expect(await (await fetch(`${worker.metrics}/healthz`)).json()).toMatchObject({ status: 'ok' });
  expect(await (await fetch(`${worker.metrics}/readyz`)).json()).toMatchObject({
    status: 'ready',
    temporal: 'up',
  });
  expect((await fetch(`${worker.metrics}/`)).status).toBe(404);
  expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
});

it.each(['127.0.0.1', ...(nightly ? ['127.1'] : [])])(
  'metrics are for this machine alone, under its own names, however HOST is spelled: %s',
  async (spelling) => {
    const worker = await start({ ROLE: 'worker', HOST: spelling });
    const { port } = new URL(worker.metrics);
    const statusFor = async (host: string, path: string) =>
      await new Promise<number | undefined>((resolve, reject) => {
        const asked = get({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.once('error', reject);
      });
    for (const host of [`127.0.0.1:${port}`, 'localhost'])
      expect(await statusFor(host, '/metrics')).toBe(200);
    for (const host of [`rebound.example:${port}`, 'rebound.example'])
      expect(await statusFor(host, '/metrics')).toBe(403);
    // A proxy's health check may pass on any name.
    expect(await statusFor('rebound.example', '/healthz')).toBe(200);
    // Nor are those of Temporal's SDK at an address that can be guessed; they are in the page.
    expect((await scrapeAll(worker.metrics)).some(({ name }) => name.startsWith('temporal_'))).toBe(true);
    if (process.platform === 'linux') {
      const found = await Promise.all(
        (await listeningPorts(worker.pid))
          .filter((each) => String(each) !== port)
          .map((each) => fetch(`http://127.0.0.1:${each}/metrics`).catch(() => null)),
      );
      expect(found).toEqual([null]);
    }
    await worker.stop();
  },
);

it('two processes on a machine have their own metrics, which also show an outage of the database', async () => {
  // The usual port is used only if it is free.
  const [api, other] = [await start({ ROLE: 'api' }, {}), await start({ ROLE: 'api' }, {})];
  expect(api.metrics).not.toBe(other.metrics);
  await other.stop();
  await scrapeAll(api.metrics);
  await installation.database.cut();
  try {
    await until('the outage to be seen', async () => {
      const samples = await scrape(api.metrics);
      return (
        sampleOf(samples, 'waybill_database_up') === 0 &&
        sampleOf(samples, 'waybill_queue_oldest_seconds') === undefined
      );
    });
    expect((await fetch(`${api.metrics}/readyz`)).status).toBe(503);
    expect((await fetch(`${api.metrics}/healthz`)).status).toBe(200);
  } finally {
    await installation.database.restore();
  }
  await api.stop();
});
