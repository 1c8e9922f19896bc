/** The page of an e-shop's notices, and what the webhook's page and the command line say of them. */
import { expect, test } from 'vitest';
import { consoleOf, newPerson, type Person, signIn } from '../support/api/console.ts';
import { addAddress } from '../support/api/notices.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';

const api = await apiOfFile();
const { eshopId } = api.eshop;
const person = await newPerson(api.sql, eshopId, 'shop');
const webhookId = await insertWebhook(api.sql, eshopId, 'CREATE_ORDER');
await addAddress(api.sql, eshopId, 'on-call@shop.example');
await api.sql`
  insert into notices (eshop_id, webhook_id, kind, generation, recipient, outcome, settled_at)
  values (${eshopId}, ${webhookId}, 'deactivated', 1, 'email', 'sent', now())`;
await api.sql`
  insert into notices (eshop_id, webhook_id, kind, generation, recipient, address_id, outcome, settled_at)
  select ${eshopId}, ${webhookId}, 'deactivated', 1, 'address', id, 'sent', now() from notice_addresses`;
await api.sql`
  insert into notices (eshop_id, webhook_id, kind, recipient, outcome, settled_at, error)
  values (${eshopId}, ${webhookId}, 'deactivated', 'url', 'givenUp', now(), 'HTTP 503 from chat.example after 9 ms')`;

async function signedIn(as: Person = person) {
  const { ask } = visitorOf(consoleOf(api.deps));
  expect((await signIn(ask, as)).status).toBe(303);
  return ask;
}

test('a user chooses notices and recipients; a new secret is shown once', async () => {
  const ask = await signedIn();
  const page = await ask('/console/notices');
  expect(page.text).toContain('on-call@shop.example');
  const saved = await ask('/console/notices', {
    csrf: page.csrf,
    recovered: 'true',
    emails: 'on-call@shop.example\r\n',
    url: 'https://chat.example/hooks/1',
    format: 'teams',
  });
  expect(saved.status).toBe(200);
  expect(saved.text).toMatch(/whsec_[\w+/]{43}=/);
  expect((await api.shop('GET', '/v21/eshop')).data.notifications).toMatchObject({
    warning: false,
    recovered: true,
    emails: [{ address: 'on-call@shop.example', confirmedAt: expect.any(String) }],
    url: 'https://chat.example/hooks/1',
    format: 'teams',
  });
  expect((await ask('/console/notices')).text).not.toContain('whsec_');
});

test('a refused form shows its problems, and keeps the input', async () => {
  const ask = await signedIn();
  const { csrf } = await ask('/console/notices');
  const refused = await ask('/console/notices', { csrf, emails: 'nobody', url: '', format: 'text' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('id="emails-problem">Line 1 must be an e-mail address');
  expect(refused.text).toContain('nobody</textarea>');
});

test('both pages list notices with recipients and outcomes, and none of another e-shop', async () => {
  const ask = await signedIn();
  for (const path of ['/console/notices', `/console/webhooks/${webhookId}`]) {
    const { text } = await ask(path);
    for (const expected of [
      'shop@example.test',
      'on-call@shop.example',
      'HTTP 503 from chat.example',
      'given up',
    ])
      expect(text).toContain(expected);
  }
  const other = await api.newEshop();
  const stranger = await newPerson(api.sql, other.eshopId, 'warehouse');
  const theirs = await (await signedIn(stranger))('/console/notices');
  expect(theirs.text).toContain('No notices yet');
  expect(theirs.text).not.toContain('on-call@shop.example');
});

test('`waybill eshop notices` lists the same for operators', async () => {
  const run = (...more: string[]) =>
    runWaybill(['eshop', 'notices', '--eshop', String(api.eshop.eshopId), ...more], {
      DATABASE_URL: api.database.url,
    });
  expect(await run()).toMatch(/deactivated\s+\d+\s+on-call@shop\.example\s+sent/);
  const rows: object[] = JSON.parse(await run('--json'));
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual(
    expect.objectContaining({ to: 'shop@example.test', kind: 'deactivated', state: 'sent' }),
  );
});
