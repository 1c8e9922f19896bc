/** The trace that deliveries are written with: that of the request that creates them. */
import { expect, it } from 'vitest';
import { createReleaseActivities } from '../../activities/release-order.ts';
import type { NewSpan, Traces } from '../../src/traces/traces.ts';
import { type TraceContext, traceStorage } from '../../src/traces/traces.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { accepted, makeAttempt } from '../support/database/deliveries.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const begun: (NewSpan & { ended?: string; context: TraceContext })[] = [];
/** Counts spans instead of recording them. */
const traces: Traces = {
  begin(span) {
    const traceId = String(begun.length + 1).padStart(32, '0');
    const spanId = String(begun.length + 1).padStart(16, '0');
    const one = { ...span, context: { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` } };
    begun.push(one);
    return {
      context: one.context,
      set() {},
      rename(name) {
        Object.assign(one, { name });
      },
      within: (work) => traceStorage.run(one.context, work),
      end: (failure) => void Object.assign(one, { ended: failure?.type ?? 'well' }),
    };
  },
};

const api = await apiOfFile({ traces });

const spansOf = (name: string) =>
  begun.filter((span) => span.name === name).map(({ context }) => context.traceparent);
const written = async () =>
  (await api.sql<{ traceparent: string }[]>`select traceparent from deliveries order by id`).map(
    ({ traceparent }) => traceparent,
  );

it('concurrent creations, a change and a redelivery each store their own trace', async () => {
  const webhook = { url: 'https://shop.example/hook', active: true, method: 'POST' };
  for (const webhookType of ['CREATE_PRODUCT', 'UPDATE_PRODUCT'])
    await api.shop('POST', '/v21/webhooks', { ...webhook, webhookType });
  const skus = ['A', 'B', 'C', 'D'];
  // Requests that share a statement are written by the first of them.
  await Promise.all(skus.map((sku) => api.shop('POST', '/v21/products', { sku, name: sku })));
  expect((await written()).sort()).toEqual(spansOf('POST /v21/products').sort());
  expect(spansOf('POST /v21/products').length).toBe(4);

  await api.shop('PATCH', '/v21/products/A', { name: 'another' });
  expect((await written()).slice(4)).toEqual(spansOf('PATCH /v21/products/:id'));

  const [first] = await api.sql<{ id: string }[]>`select id from deliveries order by id limit 1`;
  await makeAttempt(api.sql, first?.id ?? '', 1, accepted);
  expect((await api.shop('POST', `/v21/deliveries/${first?.id}/redeliver`)).status).toBe(200);
  expect((await written()).slice(5)).toEqual(spansOf('POST /v21/deliveries/:id/redeliver'));
});

it('the release of a pre-order begins a trace', async () => {
  await stockedProducts(api.eshop);
  const webhook = { url: 'https://shop.example/hook', active: true, method: 'POST' };
  await api.shop('POST', '/v21/webhooks', { ...webhook, webhookType: 'UPDATE_ORDER_STATUS' });
  const order = minimalOrder('pre-1', { status: 'preOrder', releaseAt: '2099-01-01T00:00:00Z' });
  expect((await api.shop('POST', '/v21/orders', order)).status).toBe(200);
  await api.sql`update orders set release_at = now() - interval '1 minute'`;
  const { eshopId } = api.eshop;
  await createReleaseActivities({ sql: api.sql, traces }).releaseOrder({ eshopId, eshopOrderId: 'pre-1' });
  expect((await written()).at(-1)).toBe(spansOf('release pre-order').at(0));
});

it('a span continues the trace of a client that records, and contains no path', async () => {
  const recording = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await api.shop('GET', '/v21/products/planted', undefined, { traceparent: recording });
  await api.shop('GET', '/v21/products/planted', undefined, { traceparent: recording.replace(/01$/, '00') });
  await api.shop('GET', '/v21/planted');
  await api.shop('PLANTED', '/v21/products');
  expect(begun.slice(-4).map(({ name, kind, parent, ended }) => [name, kind, parent, ended])).toEqual([
    ['GET /v21/products/:id', 'SERVER', recording, 'well'],
    ['GET /v21/products/:id', 'SERVER', null, 'well'],
    ['GET', 'SERVER', null, 'well'],
    ['other /v21/products', 'SERVER', null, 'well'],
  ]);
});
