/** Which traces are recorded, and the effects of a collector on the traced process. */
import pino from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../src/config/config.ts';
import { startTraces } from '../../src/traces/start-traces.ts';
import { currentTrace, recordedBy, traced, untraced } from '../../src/traces/traces.ts';
import { type Collector, createCollector } from '../support/servers/collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const parent = (flags: string) => `00-${TRACE}-${PARENT}-${flags}`;

let collector: Collector | undefined;
afterEach(async () => {
  await collector?.close();
  collector = undefined;
  vi.unstubAllEnvs();
});

/** Traces that a collector here receives. The exporter reads the standard's variables itself. */
async function start(env: Record<string, string> = {}, hangs = false) {
  collector = await createCollector({ hangs });
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const traces = await startTraces(readSettings(all), pino({ level: 'silent' }));
  if (traces === undefined) throw new Error('off');
  return { traces, collector };
}

describe('a client’s header', () => {
  it.each([
    ['recorded', parent('01'), parent('01')],
    [
      'recorded, by a later version of the standard',
      `01${parent('03').slice(2)}`,
      `01${parent('03').slice(2)}`,
    ],
    ['not recorded', parent('00'), null],
    ['too short', parent('01').slice(1), null],
    ['anything else', 'planted', null],
    ['absent', undefined, null],
  ])('%s', (_name, header, taken) => {
    expect(recordedBy(header)).toBe(taken);
  });
});

describe('a sampler', () => {
  it.each([
    ['parentbased_always_on', null, true],
    ['parentbased_always_on', parent('01'), true],
    ['parentbased_always_on', parent('00'), false],
    ['parentbased_always_off', null, false],
    ['parentbased_always_off', parent('01'), true],
    ['always_off', parent('01'), false],
    ['always_on', parent('00'), true],
    ['parentbased_traceidratio', null, false],
    ['traceidratio', parent('01'), false],
  ])('%s, within %s: %s', async (OTEL_TRACES_SAMPLER, within, recorded) => {
    const { traces, collector } = await start({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: '0' });
    const span = traces.begin({ name: 'sampled', kind: 'INTERNAL', parent: within });
    span.end();
    await traces.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(recorded ? ['sampled'] : []);
    // Processes that continue the trace decide alike.
    expect(span.context?.traceparent.slice(-2)).toBe(recorded ? '01' : '00');
    if (within !== null) expect(span.context?.traceId).toBe(TRACE);
  });
});

it('a span has those begun within it as its parts, and a failure has its type', async () => {
  const { traces, collector } = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
  const failing = traced(traces, { name: 'outer', kind: 'INTERNAL' }, async () => {
    await Promise.resolve();
    const inner = traces.begin({ name: 'inner', kind: 'CLIENT' });
    inner.end();
    inner.end({ type: 'late' });
    throw new TypeError('planted');
  });
  await expect(failing).rejects.toThrow('planted');
  expect(currentTrace()).toBeUndefined();
  await traces.stop();
  const [inner, outer] = collector.spans;
  expect(inner).toMatchObject({ name: 'inner', parentSpanId: outer?.spanId, status: { code: 0 } });
  expect(outer).toMatchObject({
    name: 'outer',
    status: { code: 2 },
    attributes: { 'error.type': 'TypeError' },
  });
  expect(JSON.stringify(collector.requests)).not.toContain('planted');
});

it('a collector that hangs delays the end only briefly', async () => {
  const { traces } = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '600000' }, true);
  for (let spans = 0; spans < 10_000; spans += 1) traces.begin({ name: 'lost', kind: 'INTERNAL' }).end();
  await traces.stop();
});

it('disabled traces do nothing', async () => {
  for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' }]) {
    expect(await startTraces(readSettings(env), pino({ level: 'silent' }))).toBeUndefined();
  }
  const span = untraced.begin({ name: 'off', kind: 'INTERNAL' });
  expect([span.context, span.within(currentTrace)]).toEqual([undefined, undefined]);
});
