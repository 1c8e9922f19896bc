/** A page offers exactly the actions on a delivery that would be accepted: in each situation, button by button. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordOperatorAction } from '../../src/db/deliveries/operator-actions.ts';
import { type ActionInput, type ActionName, actionNames } from '../../src/domain/operator-action.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { seedConsole } from '../support/api/console-data.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';

/** Decides as the API does. */
const ask = (action: ActionName, id: string, order: ActionInput) =>
  recordOperatorAction(api.sql, id, { id: randomUUID(), action, ...order }, api.deps.policy);

const api = await apiOfFile();
const seeded = await seedConsole(api);
const site = consoleOf(api.deps, {
  requestAction: async (...asked) =>
    (await ask(...asked)) ?? { accepted: false, message: 'There is no such delivery.' },
});
const visitor = async (role: 'warehouse' | 'shop') => {
  const mine = visitorOf(site);
  await signIn(mine.ask, await newPerson(api.sql, api.eshop.eshopId, role));
  return mine;
};
const warehouse = await visitor('warehouse');
const shop = await visitor('shop');

/** Resets it as seeded: three attempts made, the next one planned, its webhook active. */
async function reset() {
  const { sql } = api;
  await sql`update webhooks set active = true where id = ${seeded.failing}`;
  await sql`delete from attempts where delivery_id = ${seeded.retrying} and number = 4`;
  await sql`
    update deliveries set state = 'retrying', finished_at = null, operator_stop = null, operator_actions = null,
      next_attempt_at = now() + interval '1 hour' where id = ${seeded.retrying}`;
}
const holdIt = () => ask('hold', seeded.retrying, { by: 'anna', reason: 'stock-taking' });
const end = (state: string) =>
  api.sql`update deliveries set state = ${state}, finished_at = now() where id = ${seeded.retrying}`;
const deactivated = () =>
  api.sql`
    insert into deactivations (webhook_id, generation, reason, at, delivery_id)
    values (${seeded.failing}, 1, 'retriesExhausted', now(), ${seeded.retrying})`;
const switchOff = () => api.sql`update webhooks set active = false where id = ${seeded.failing}`;

const NAMES: ReadonlyMap<string, ActionName> = new Map([
  ['Try now', 'tryNow'],
  ['Hold', 'hold'],
  ['Resume', 'resume'],
  ['Give up', 'giveUp'],
]);
/** The buttons of a page that act on an open delivery. */
const offeredOn = (text: string) =>
  [...text.matchAll(/>\s*(Try now|Hold|Resume|Give up)\s*</g)].map(([, name = '']) => NAMES.get(name));
/** The most useful next step, as the page shows it. */
const mainOf = (text: string) => /class="(?:button )?main"[^>]*>\s*([\w ]+?)\s*</.exec(text)?.[1];

test.each<[string, () => Promise<unknown>, readonly ActionName[]]>([
  ['waiting for its next attempt', async () => {}, ['tryNow', 'hold', 'giveUp']],
  ['held by an operator', holdIt, ['resume', 'giveUp']],
  ['held by its inactive webhook', switchOff, ['hold', 'giveUp']],
  ['held by an operator and by its inactive webhook', () => holdIt().then(switchOff), ['resume', 'giveUp']],
  [
    'being attempted',
    () => api.sql`
      insert into attempts (delivery_id, number, generation, started_at, owned_until)
      values (${seeded.retrying}, 4, 1, now(), now() + interval '1 min')`,
    ['hold', 'giveUp'],
  ],
  [
    'given up, but not ended yet',
    () => ask('giveUp', seeded.retrying, { by: 'anna', reason: 'too late' }),
    [],
  ],
  [
    'ended',
    () =>
      api.sql`update deliveries set state = 'canceled', finished_at = now() where id = ${seeded.retrying}`,
    [],
  ],
])('a delivery that is %s offers exactly the actions that would be accepted', async (_, arrange, offered) => {
  const path = `/console/deliveries/${seeded.retrying}`;
  await reset();
  await arrange();
  expect(offeredOn((await warehouse.ask(path)).text)).toEqual(offered);
  expect(offeredOn((await shop.ask(path)).text)).toEqual(
    offered.filter((action) => action === 'tryNow' || action === 'giveUp'),
  );
  const accepted: ActionName[] = [];
  for (const action of actionNames) {
    await reset();
    await arrange();
    const { csrf } = await warehouse.ask(path);
    const { status } = await warehouse.ask(`${path}/act`, { csrf, action, reason: '' });
    if (status === 200) accepted.push(action);
  }
  expect(accepted).toEqual(offered);
});

test.each<[string, () => Promise<unknown>, string | undefined]>([
  ['being retried', async () => {}, 'Try now'],
  ['held by its inactive webhook', switchOff, 'Activate webhook'],
  ['delivered', () => end('delivered'), undefined],
  ['given up', () => end('canceled'), 'Redeliver'],
  ['failed, with its webhook inactive', () => end('failed').then(switchOff), 'Activate webhook'],
  [
    'failed, with its webhook deactivated then and active again',
    () => end('failed').then(deactivated),
    'Recover',
  ],
])('a delivery that is %s shows its most useful step first', async (_, arrange, step) => {
  await reset();
  await arrange();
  expect(mainOf((await shop.ask(`/console/deliveries/${seeded.retrying}`)).text)).toBe(step);
});

test('an e-shop sees which of its users acted, but no account of the warehouse', async () => {
  await reset();
  await holdIt();
  await ask('resume', seeded.retrying, { by: 'anna', reason: '' });
  await ask('tryNow', seeded.retrying, { by: 'shop-user (e-shop)', reason: '', user: true });
  await holdIt();
  const path = `/console/deliveries/${seeded.retrying}`;
  const read = await shop.ask(path);
  expect(read.text).not.toContain('anna');
  for (const words of [
    'Held by the warehouse: stock-taking',
    'The warehouse resumed it',
    'shop-user (e-shop) asked for an attempt',
  ])
    expect(read.text).toContain(words);
  expect((await warehouse.ask(path)).text).toContain('Held by anna: stock-taking');
});
