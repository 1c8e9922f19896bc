/** Where a delivery stands: its page and the lists say why it waits, is held or expired. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { recordOperatorAction } from '../../src/db/webhooks/operator-actions.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { consoleOf, newPerson, signIn } from '../support/console.ts';
import { seedConsole } from '../support/console-data.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { visitorOf } from '../support/visitor.ts';

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
    update deliveries set state = 'retrying', attempts_made = 3, finished_at = null, operator_stop = null,
      operator_actions = null, next_attempt_at = now() + interval '1 hour', window_lost = false
    where id = ${retrying}`;
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
])('one that expired says why: %s', async (_, arrange, why) => {
  await arrange();
  await sql`update deliveries set state = 'expired', finished_at = now() where id = ${retrying}`;
  const { text } = await warehouse.ask(`/console/deliveries/${retrying}`);
  expect(text).toContain(`Its window of 48 h ended${why}`);
});
