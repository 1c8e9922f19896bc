/** A record's history is one list in order, with what waits for what; the overview shows how much waits. */
import { expect, test } from 'vitest';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { keepOrdering } from '../../src/db/outbox/keep-ordering.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { minimalOrder } from '../support/api/orders.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { ask } = visitorOf(consoleOf(api.deps));
await signIn(ask, await newPerson(api.sql, api.eshop.eshopId, 'shop'));

/** The text of a page. */
async function textAt(path: string): Promise<string> {
  const { text } = await ask(path);
  return text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('the events of a record are listed in order, each with what it waits for', async () => {
  const { sql, shop } = api;
  for (const webhookType of ['CREATE_ORDER', 'UPDATE_ORDER']) {
    const webhook = { url: 'https://shop.example/hook', webhookType, method: 'POST', active: true };
    expect(await shop('POST', '/v21/webhooks', { ...webhook, ordering: 'record' })).toMatchObject({
      status: 200,
    });
  }
  await shop('POST', '/v21/products', { sku: 'TEA', name: 'Tea' });
  expect(await shop('POST', '/v21/orders', minimalOrder('10001'))).toMatchObject({ status: 200 });
  expect(await textAt('/console')).not.toContain('wait for an older one');
  await shop('PATCH', '/v21/orders/10001', { note: 'changed' });
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
  const ready = await keepOrdering(sql, deliveries);
  expect(ready).toHaveLength(1);
  await sql`
    update deliveries set state = 'retrying', attempts_made = 1, window_started_at = now(), dispatched_at = now(), last_error = 'HTTP 503', next_attempt_at = now() + interval '125 minutes'
    where id = ${ready[0]?.id ?? null}`;
  const page = await textAt('/console/orders/10001');
  expect(page).toMatch(
    /History 1 CREATE_ORDER .* shop\.example\/hook #\d+ retrying HTTP 503 2 UPDATE_ORDER .* shop\.example\/hook #\d+ pending waits for 1 , next attempt in 2 h All events/,
  );
  const blamed = async () =>
    (await textAt('/console')).includes('One record has deliveries that wait for an older one');
  expect(await blamed()).toBe(true);
  // Then the older one is not what it waits for.
  const [waiting] = await sql<{ id: number }[]>`select id from webhooks where webhook_type = 'UPDATE_ORDER'`;
  await shop('PUT', `/v21/webhooks/${waiting?.id}/pause`);
  expect(await blamed()).toBe(false);
  await shop('PUT', `/v21/webhooks/${waiting?.id}/deactivate`);
  expect(await blamed()).toBe(false);
  await shop('PUT', `/v21/webhooks/${waiting?.id}/activate`);
  expect(await blamed()).toBe(true);
});

test('the history of an order is complete although a product with the same identifier has newer events', async () => {
  const { shop } = api;
  expect(await shop('POST', '/v21/orders', minimalOrder('10002'))).toMatchObject({ status: 200 });
  await shop('POST', '/v21/products', { sku: '10002', name: 'Tea' });
  for (let change = 1; change <= 20; change += 1)
    await shop('PATCH', '/v21/products/10002', { name: `Tea ${change}` });
  const page = await textAt('/console/orders/10002');
  expect(page).toContain('History 1 CREATE_ORDER');
  expect(page).not.toContain('PRODUCT');
});
