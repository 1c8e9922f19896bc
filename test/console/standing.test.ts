/** Where a delivery stands: its page and the lists say why it waits, is held or expired. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { recordOperatorAction } from '../../src/db/deliveries/operator-actions.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { seedConsole } from '../support/api/console-data.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { sql } = api;
const { retrying, failing } = await seedConsole(api);
const site = consoleOf(api.deps);
const visitor = async (role: 'warehouse' | 'shop') => {
  const mine = visitorOf(site);
  await signIn(mine.ask, await newPerson(sql, api.eshop.eshopId, role));
  return mine;
};
const warehouse = await visitor('warehouse');
const shop = await visitor('shop');

const anna = (action: ActionName) =>
  recordOperatorAction(
    sql,
    retrying,
    { id: randomUUID(), action, by: 'anna', reason: action === 'hold' ? 'stock-taking' : '' },
    api.deps.policy,
  );

/** As seeded: three attempts made, the next one planned, its webhook active. */
beforeEach(async () => {
  await sql`update webhooks set active = true, pauses = '{}' where id = ${failing}`;
  await sql`delete from deactivations where webhook_id = ${failing}`;
  await sql`
    update deliveries set state = 'retrying', attempts_made = 3, finished_at = null, operator_stop = null, canceled_by = null,
      operator_actions = null, class = ${CLASS.fresh}, recovery_id = null, next_attempt_at = now() + interval '1 hour', window_lost = false
    where id = ${retrying}`;
});

test('a failing webhook that is paused is shown as paused', async () => {
  const badge = async () =>
    /class="state \w+">\w+/.exec((await shop.ask(`/console/webhooks/${failing}`)).text)?.[0];
  expect(await badge()).toBe('class="state bad">failing');
  await api.shop('PUT', `/v21/webhooks/${failing}/pause`);
  expect(await badge()).toBe('class="state calm">paused');
});

test.each<[string, () => Promise<unknown>, string]>([
  [
    'a failure of Waybill',
    () => sql`update deliveries set window_lost = true where id = ${retrying}`,
    ' during a failure of Waybill itself.',
  ],
  ['an operator’s hold', () => anna('hold'), ' while it was held by anna: stock-taking'],
  [
    'a hold that was too long',
    () => anna('hold').then(() => anna('resume')),
    ': an operator had held it too long for its retries.',
  ],
  [
    'its webhook, which had failed',
    () => sql`
      insert into deactivations (webhook_id, generation, reason, at, delivery_id)
      values (${failing}, 1, 'retriesExhausted', now(), ${retrying})`,
    ' while its webhook was inactive, deactivated because all retries of a delivery failed.',
  ],
  ['its webhook', async () => {}, ' while its webhook was inactive.'],
])('an expired delivery names its cause: %s', async (_, arrange, why) => {
  await arrange();
  await sql`update deliveries set state = 'expired', finished_at = now() where id = ${retrying}`;
  const { text } = await warehouse.ask(`/console/deliveries/${retrying}`);
  expect(text).toContain(`Its window of 48 h ended${why}`);
});

test.each([
  ['operator', 'by an operator of the warehouse'],
  ['user', 'by a user of the e-shop'],
  ['deletion', 'because its webhook was deleted'],
])('a delivery canceled by the %s says so, whatever was requested before', async (by, how) => {
  await anna('giveUp');
  await sql`
    update deliveries set state = 'canceled', finished_at = now(), canceled_by = ${by} where id = ${retrying}`;
  const { text } = await warehouse.ask(`/console/deliveries/${retrying}`);
  expect(text).toContain(`Canceled ${how}.`);
});

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const pending = (change: Readonly<Record<string, unknown>>) => sql`
  update deliveries set ${sql({ state: 'pending', attemptsMade: 0, dispatchedAt: null, ...change })}
  where id = ${retrying}`;

test.each<[string, () => Promise<unknown>, string, string]>([
  ['an operator', () => anna('hold'), ' held by anna ', 'Held by anna: stock-taking'],
  [
    'its webhook, which is inactive',
    () => sql`update webhooks set active = false where id = ${failing}`,
    ' webhook inactive ',
    'Held: its webhook is inactive.',
  ],
  [
    'its webhook, which is paused',
    () => api.shop('PUT', `/v21/webhooks/${failing}/pause`),
    ' webhook paused until ',
    'Held: its webhook is paused until ',
  ],
  [
    'an older event',
    () => pending({ class: CLASS.blocked }),
    ' waits for an older event ',
    'Waits for an older event of its record.',
  ],
  [
    'a limit',
    () => sql`delete from attempts where delivery_id = ${retrying}`.then(() => pending({})),
    ' waits for other requests ',
    'Waits for other requests: the limit on concurrent requests is reached, of its receiver, of the e-shop, or of all receivers that hang.',
  ],
  [
    'its recovery',
    async () => {
      const recoveryId = randomUUID();
      await sql`
        insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, state, by)
        values (${recoveryId}, ${api.eshop.eshopId}, ${failing}, now(), now(), '{failed}', 1, 'paused', 'user')`;
      await pending({ recoveryId, class: CLASS.recovered });
    },
    ' its recovery is paused ',
    'Waits for its recovery , which is paused.',
  ],
])('a delivery that waits for %s says so, and briefly in lists', async (_, arrange, few, sentence) => {
  await arrange();
  const lists = ['/console/deliveries?state=', `/console/webhooks/${failing}`];
  for (const path of lists) expect(textOf((await warehouse.ask(path)).text)).toContain(few);
  expect(textOf((await warehouse.ask(`/console/deliveries/${retrying}`)).text)).toContain(sentence);
  const { text } = await shop.ask('/console/deliveries');
  expect(textOf(text)).toContain(few.replace('anna', 'the warehouse'));
});
