/** The pages of events and deliveries say who made the change, and what it changed. */
import { expect, test } from 'vitest';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { ask } = visitorOf(consoleOf(api.deps));
await signIn(ask, await newPerson(api.sql, api.eshop.eshopId, 'shop'));

test('pages name who made a change and its fields; a creation has none', async () => {
  await stockedProducts(api.eshop);
  await createWebhook(api.shop, { additionalTypes: ['UPDATE_ORDER_STATUS'], skipOwn: false });
  await api.shop('POST', '/v21/orders', minimalOrder('1'));
  await api.warehouse('PUT', '/v21/warehouse/orders/1/status', { status: 'suspended' });
  const [moved, created] = (await api.shop('GET', '/v21/deliveries?entityId=1')).data;
  const text = async (path: string) => (await ask(`/console${path}`)).text.replaceAll(/<[^>]*>|\s+/g, ' ');
  for (const path of [`/deliveries/${moved.id}`, `/events/${moved.eventId}`])
    expect(await text(path)).toMatch(/Changed by +warehouse +Changed fields +status, statusHistory/);
  for (const path of [`/deliveries/${created.id}`, `/events/${created.eventId}`]) {
    const page = await text(path);
    expect(page).toMatch(/Changed by +shop/);
    expect(page).not.toContain('Changed fields');
  }
});
