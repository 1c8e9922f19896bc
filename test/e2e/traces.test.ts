/** Traces of real processes, received by OTLP: one from the request to the receiver, across both roles. */
import { expect, it, onTestFinished } from 'vitest';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfTest, receiverOfTest } from '../support/lifetimes.ts';
import type { Program } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import {
  type CollectedSpan,
  type Collector,
  createCollector,
  spanKind,
} from '../support/servers/collector.ts';
import { freePort } from '../support/servers/ports.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const start = (env: Record<string, string>) =>
  programOfTest({ METRICS_PORT: '0', ...installation.env, ...env });

/** Prints the loaded parts of OpenTelemetry when the process ends. */
const SAYS_WHAT_IS_LOADED = `--import=data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire('/');
  process.on('exit', () => {
    const names = Object.keys(cache).flatMap((path) => /@opentelemetry.([a-z-]+)/.exec(path)?.[1] ?? []);
    process.stderr.write('LOADED ' + JSON.stringify([...new Set(names)]) + '\\n');
  });`)}`;
const loadedBy = ({ output }: Program): string[] => JSON.parse(/^LOADED (.*)$/m.exec(output())?.[1] ?? '');

/** Settings to send spans at once to a collector at `endpoint`. */
const tracedBy = (endpoint: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  LOG_LEVEL: 'info',
});

const startBoth = (env: Record<string, string>) =>
  Promise.all([start({ ...env, ROLE: 'api' }), start({ ...env, ROLE: 'worker' })]);

/** `00-<trace>-<span>-01` */
function partsOf(traceparent: unknown) {
  const [, traceId, spanId, flags] = String(traceparent).split('-');
  return { traceId, spanId, flags };
}

const named = ({ spans }: Collector, name: string, traceId?: string) =>
  spans.filter((span) => span.name === name && (traceId === undefined || span.traceId === traceId));
const childrenOf = ({ spans }: Collector, parent: CollectedSpan) =>
  spans.filter(({ traceId, parentSpanId }) => traceId === parent.traceId && parentSpanId === parent.spanId);

it('a trace goes from the client through all parts and a retry to the receiver, with no secrets', async () => {
  const collector = await createCollector();
  const receiver = await createReceiver(({ count }) => ({
    status: count === 1 ? 503 : 204,
    body: 'planted-answer',
  }));
  const { credentials } = installation;
  const planted: string[] = [credentials.apiKey, credentials.password, credentials.username];
  try {
    const [api, worker] = await startBoth({
      ...tracedBy(collector.url),
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=planted-token',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      NODE_OPTIONS: SAYS_WHAT_IS_LOADED,
    });
    const client = await login(api.url, credentials);
    planted.push(client.headers.authorization ?? '');
    const url = `${receiver.url}/planted-path?planted-query=1`;
    const webhook = { url, webhookType: 'UPDATE_ORDER', active: true, method: 'POST' };
    planted.push((await client.request('POST', '/webhooks', webhook)).data.secret);
    await client.createOrder('planted-order');
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await fetch(`${api.url}/v21/orders/planted-order?planted=planted-query`, {
      method: 'PATCH',
      headers: {
        ...client.headers,
        'content-type': 'application/json',
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
        tracestate: 'planted=1',
      },
      body: JSON.stringify({ note: 'planted-note', recipientName: 'Planted Nováková' }),
    });
    const requests = await receiver.waitFor(2);
    await client.request('GET', '/orders/planted-missing');
    await client.request('POST', '/orders', { planted: 'planted-value' });
    await fetch(`${api.url}/planted-nowhere`);
    await fetch(`${api.url}/readyz`);
    expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
    for (const program of [api, worker]) expect(loadedBy(program)).toContain('sdk-trace');

    const [server, ...others] = named(collector, 'PATCH /v21/orders/:id', trace);
    expect(others).toEqual([]);
    expect(server).toMatchObject({
      service: 'waybill-api',
      kind: spanKind.server,
      parentSpanId: '00f067aa0ba902b7',
      attributes: {
        'http.request.method': 'PATCH',
        'http.route': '/v21/orders/:id',
        'http.response.status_code': 200,
      },
    });
    if (server === undefined) throw new Error('no span of the request');
    const children = childrenOf(collector, server).map(({ name, kind, service }) => [name, kind, service]);
    expect(children.sort()).toEqual([
      ['attempt UPDATE_ORDER', spanKind.consumer, 'waybill-worker'],
      ['attempt UPDATE_ORDER', spanKind.consumer, 'waybill-worker'],
      ['start deliverEvent', spanKind.producer, 'waybill-worker'],
    ]);
    const attempts = named(collector, 'attempt UPDATE_ORDER', trace);
    expect(attempts).toMatchObject([
      {
        attributes: {
          'waybill.attempt.number': 1,
          'waybill.attempt.outcome': 'failure',
          'waybill.first_byte.queue_ms': expect.any(Number),
          'waybill.first_byte.send_ms': expect.any(Number),
          'http.response.status_code': 503,
        },
        status: { code: 2 },
      },
      {
        attributes: {
          'waybill.attempt.number': 2,
          'waybill.attempt.outcome': 'success',
          'http.response.status_code': 204,
        },
        status: { code: 0 },
      },
    ]);
    const sent = attempts.map((attempt) => childrenOf(collector, attempt));
    expect(sent).toMatchObject([
      [{ name: 'POST', kind: spanKind.client, attributes: { 'http.response.status_code': 503 } }],
      [{ name: 'POST', kind: spanKind.client, attributes: { 'http.request.resend_count': 1 } }],
    ]);
    // The receiver is given the span of its own request.
    expect(requests.map(({ headers }) => partsOf(headers.traceparent))).toEqual(
      sent.map(([span]) => ({ traceId: trace, spanId: span?.spanId, flags: '01' })),
    );

    for (const [program, msg] of [
      [api, 'request'],
      [worker, 'attempt failed'],
    ] as const) {
      const lines = program.output().split('\n');
      const line = lines.find((each) => each.includes(`"msg":"${msg}"`) && each.includes(trace)) ?? '{}';
      expect(JSON.parse(line)).toMatchObject({
        trace_id: trace,
        span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
    }
  } finally {
    await receiver.close();
    await collector.close();
  }
  expect(named(collector, 'GET /v21/orders/:id')).toMatchObject([{ status: { code: 0 } }]);
  expect(named(collector, 'GET')).toMatchObject([{ attributes: { 'http.response.status_code': 404 } }]);
  expect(collector.spans.filter(({ name }) => name.includes('readyz'))).toEqual([]);
  expect(
    collector.requests.map(({ path, headers }) => [path, headers['content-type'], headers.authorization]),
  ).toEqual(collector.requests.map(() => ['/v1/traces', 'application/x-protobuf', 'planted-token']));
  for (const secret of [
    ...planted,
    'planted',
    'Planted',
    'Nov',
    'whsec_',
    'shop@example.test',
    'MUG-BLUE',
    'Bearer',
  ]) {
    expect(secret).not.toBe('');
    expect(collector.requests.filter(({ text }) => text.includes(secret))).toEqual([]);
  }
});

it('attempts and starts of simultaneous requests are in the trace of their own request', async () => {
  const collector = await createCollector();
  const receiver = await createReceiver(({ count }) => ({ status: count === 1 ? 503 : 204 }));
  onTestFinished(() => collector.close());
  onTestFinished(() => receiver.close());
  const program = await start({
    ...tracedBy(collector.url),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'parcels',
  });
  const client = await login(program.url, installation.credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  const names = ['order-1', 'order-2', 'order-3'];
  await Promise.all(names.map((name) => client.createOrder(name)));
  const requests = await receiver.waitFor(names.length + 1);
  await until('every workflow', async () => {
    const queued = await installation.sql`select from deliveries where dispatched_at is null limit 1`;
    return queued.length === 0;
  });
  expect(await program.stop()).toBe(0);

  const servers = named(collector, 'POST /v21/orders');
  expect(new Set(servers.map(({ traceId }) => traceId)).size).toBe(3);
  const attempts = named(collector, 'attempt CREATE_ORDER');
  expect(attempts.length).toBe(4);
  for (const attempt of attempts) {
    const server = servers.find(({ traceId }) => traceId === attempt.traceId);
    expect(attempt.parentSpanId).toBe(server?.spanId);
  }
  // The second attempt is in the same trace, whether the queue or a workflow made it.
  const [failed] = attempts.filter(({ status }) => status.code === 2);
  const [again] = attempts.filter(({ attributes }) => attributes['waybill.attempt.number'] === 2);
  expect(again).toMatchObject({ traceId: failed?.traceId, parentSpanId: failed?.parentSpanId, links: [] });
  const started = named(collector, 'start deliverEvent').map(({ parentSpanId }) => parentSpanId);
  expect(started.sort()).toEqual(servers.map(({ spanId }) => spanId).sort());
  expect(new Set(requests.map(({ headers }) => partsOf(headers.traceparent).traceId))).toEqual(
    new Set(servers.map(({ traceId }) => traceId)),
  );
  expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(['parcels']));
  expect(collector.requests.every(({ headers }) => headers['content-type'] === 'application/json')).toBe(
    true,
  );
});

it('without an endpoint, nothing is sent, written or loaded', async () => {
  const receiver = await receiverOfTest({ status: 204 });
  const program = await start({ NODE_OPTIONS: SAYS_WHAT_IS_LOADED, LOG_LEVEL: 'info' });
  const client = await login(program.url, installation.credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  const { data } = await client.request('POST', '/webhooks', webhook);
  await fetch(`${program.url}/v21/orders`, {
    headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  });
  await client.createOrder('untraced');
  const [request] = await receiver.waitFor(1);
  expect(request?.headers.traceparent).toBeUndefined();
  const rows = await installation.sql`select traceparent from deliveries where webhook_id = ${data.id}`;
  expect(rows).toEqual([{ traceparent: null }]);
  expect(await program.stop()).toBe(0);
  expect(loadedBy(program).filter((name) => name !== 'api')).toEqual([]);
  expect(program.output()).not.toContain('trace_id');
});

it.runIf(nightly).each(['hangs', 'is unavailable'])(
  'a collector that %s holds up neither deliveries nor the shutdown',
  async (how) => {
    const collector = how === 'hangs' ? await createCollector({ hangs: true }) : null;
    const receiver = await createReceiver({ status: 204 });
    try {
      const program = await start({
        ...tracedBy(collector?.url ?? `http://127.0.0.1:${await freePort()}`),
        OTEL_BSP_MAX_QUEUE_SIZE: '4',
        OTEL_EXPORTER_OTLP_TIMEOUT: '300',
      });
      const client = await login(program.url, installation.credentials);
      const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
      await client.request('POST', '/webhooks', webhook);
      for (let order = 1; order <= 20; order += 1) await client.createOrder(`lost ${how} ${order}`);
      await receiver.waitFor(20);
      await until('it to say so', async () => program.output().includes('spans are lost'));
      // The wait for the collector has its own limit; the shutdown's limit would give 1.
      expect(await program.stop()).toBe(0);
    } finally {
      await receiver.close();
      await collector?.close();
    }
  },
);
