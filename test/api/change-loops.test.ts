/** A record that is changed in a loop: reported to the client that changes it, counted, logged and shown. */
import pino from 'pino';
import { expect, it } from 'vitest';
import { createChangeLoops } from '../../src/api/records/change-loops.ts';
import { askDatabase } from '../../src/cli/status.ts';
import { databaseRows } from '../../src/cli/status-command.ts';
import { readChangeLoop } from '../../src/db/console/change-loop.ts';
import type { ChangeLoop } from '../../src/domain/change-loop.ts';
import type { TestEshop } from '../support/api/api.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const loops: ChangeLoop[] = [];
let lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

const api = await apiOfFile({ log, onChangeLoop: (loop) => void loops.push(loop) });

async function withOrder(eshop: TestEshop): Promise<TestEshop['shop']['request']> {
  await stockedProducts(eshop);
  expect((await eshop.shop.request('POST', '/v21/orders', minimalOrder('10001'))).status).toBe(200);
  return eshop.shop.request;
}

async function messages(request: TestEshop['shop']['request'], notes: readonly string[]): Promise<string[]> {
  const heard: string[] = [];
  for (const note of notes) {
    const { status, body } = await request('PATCH', '/v21/orders/10001', { note });
    expect(status).toBe(200);
    heard.push(body.message);
  }
  return heard;
}

const notes = (count: number) => Array.from({ length: count }, (_, index) => `note ${index}`);
/** The overview of an e-shop's console. */
async function overviewOf(eshopId: number): Promise<() => Promise<string>> {
  const { ask } = visitorOf(consoleOf(api.deps));
  await signIn(ask, await newPerson(api.sql, eshopId, 'shop'));
  return async () => (await ask('/console')).text;
}
const row = async () => databaseRows(await askDatabase(api.sql)).find(([name]) => name === 'Loop');

it('the hundredth change to a record within a minute warns its e-shop, and no other', async () => {
  const request = await withOrder(api.eshop);
  const neighbor = await api.newEshop();
  const other = await withOrder(neighbor);
  // Without a webhook, an overview shows the first steps alone.
  for (const each of [request, other]) await createWebhook(each);
  const overview = await overviewOf(api.eshop.eshopId);
  const foreign = await overviewOf(neighbor.eshopId);
  const warned =
    'Order updated. It was changed 100 times within a minute: a receiver that answers its own changes must compare before it writes; a webhook with skipOwn does not get them.';

  expect(new Set(await messages(request, notes(99)))).toEqual(new Set(['Order updated.']));
  // A write that changes nothing is part of no loop.
  expect(await messages(request, ['note 98'])).toEqual(['Order unchanged.']);
  expect(await messages(other, notes(3))).toEqual(Array(3).fill('Order updated.'));
  expect([loops, lines, await row()]).toEqual([[], [], undefined]);
  expect(await overview()).not.toContain('within the last minute');

  expect(await messages(request, ['once more'])).toEqual([warned]);
  expect(await messages(request, ['and once more'])).toEqual([warned.replace('100', '101')]);

  const loop = { eshopId: api.eshop.eshopId, kind: 'order', changes: 100 };
  expect(loops).toEqual([loop]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...loop, msg: 'one order changed 100 times in a minute by the API' },
  ]);
  expect(lines.join()).not.toContain('10001');
  expect(await row()).toEqual([
    'Loop',
    `order 10001 of e-shop ${loop.eshopId}, changed 101 times within a minute`,
  ]);
  expect(await readChangeLoop(api.sql, neighbor.eshopId)).toBeNull();
  expect(await readChangeLoop(api.sql, loop.eshopId)).toMatchObject({ entityId: '10001', changes: 101 });
  expect(await overview()).toMatch(
    /Order <a href="\/console\/orders\/10001">10001<\/a> was changed 101 times within the\s+last minute/,
  );
  // No other e-shop sees it, and changes to stock alone, as by many sales, are none.
  expect(await foreign()).not.toContain('within the last minute');
  await api.sql`update events set changed = 'stock' where changed is not null`;
  expect(await readChangeLoop(api.sql)).toBeNull();
});

it('every loop is counted, but only one a minute is logged; idle records are forgotten', () => {
  let at = 0;
  lines = [];
  const reported: ChangeLoop[] = [];
  const watch = createChangeLoops({ log, onChangeLoop: (loop) => void reported.push(loop), now: () => at });
  const change = (eshopId: number, id: string, times: number) =>
    Array.from({ length: times }, () => watch.changed(eshopId, 'order', id)).at(-1);

  expect([change(1, 'A', 150), change(2, 'B', 100)]).toEqual([150, 100]);
  expect([reported.length, lines.length]).toEqual([2, 1]);

  at = 60_000;
  expect([change(1, 'A', 1), change(2, 'rests', 99)]).toEqual([null, null]);
  for (let each = 0; each < 9_999; each += 1) {
    change(3, `each ${each}`, 1);
    if (each % 100 === 0) change(1, 'A', 1);
  }
  expect(change(2, 'rests', 1)).toBe(null);
  expect(reported.slice(2)).toEqual([{ eshopId: 1, kind: 'order', changes: 100 }]);
  expect(lines.map((line) => JSON.parse(line).others)).toEqual([undefined, 1]);
});
