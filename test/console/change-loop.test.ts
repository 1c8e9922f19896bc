/** The overview names a record that a receiver may be changing without end (docs/guides/receiving.md). */
import { expect, test } from 'vitest';
import { LOOP_CHANGES_PER_MINUTE } from '../../src/domain/change-loop.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

test('the overview links to a record that changes in a loop, for its own e-shop alone', async () => {
  const { shop } = api.eshop;
  await stockedProducts(api.eshop);
  await shop.request('POST', '/v21/orders', minimalOrder('10001'));
  const visitor = async (eshopId: number) => {
    const { ask } = visitorOf(consoleOf(api.deps));
    await signIn(ask, await newPerson(api.sql, eshopId, 'shop'));
    return async () => (await ask('/console')).text;
  };
  await createWebhook(shop.request);
  const overview = await visitor(api.eshop.eshopId);
  const foreign = await visitor((await api.newEshop()).eshopId);
  expect(await overview()).not.toContain('within the last minute');
  for (let at = 0; at < LOOP_CHANGES_PER_MINUTE; at += 1)
    await shop.request('PATCH', '/v21/orders/10001', { note: `note ${at}` });
  expect(await overview()).toMatch(
    /Order <a href="\/console\/orders\/10001">10001<\/a> was changed 100 times within the\s+last minute/,
  );
  expect(await foreign()).not.toContain('within the last minute');
});
