/** The page of a deactivated webhook tells the state of the e-mail about it. */
import { expect, test } from 'vitest';
import { noteMailFolder } from '../../src/db/mail-folder.ts';
import { consoleOf, newPerson, signIn } from '../support/console.ts';
import { seedConsole } from '../support/console-data.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { visitorOf } from '../support/visitor.ts';

const api = await apiOfFile();
const seeded = await seedConsole(api);
const { ask } = visitorOf(consoleOf(api.deps));
await signIn(ask, await newPerson(api.sql, api.eshop.eshopId, 'shop'));

/** The text of the page, without tags. */
async function textOf(webhook: number) {
  const { text } = await ask(`/console/webhooks/${webhook}`);
  return text
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\d+ s ago/g, 'just now');
}
const unsent = {
  reason: 'gone',
  mailedAt: null as Date | null,
  deferred: false,
  mailRefusedAt: null as Date | null,
  mailFailedAt: null as Date | null,
};
const TO = 'The e-mail about it to shop@example.test';

test.each<[string, Partial<typeof unsent>, string]>([
  ['sent', { mailedAt: new Date() }, 'An e-mail about it was sent to shop@example.test just now .'],
  [
    'sent after the retries',
    { mailedAt: new Date(), reason: 'retriesExhausted' },
    'An e-mail about it was sent to shop@example.test just now .',
  ],
  ['pending', {}, `${TO} has not been sent yet.`],
  [
    'deferred',
    { deferred: true },
    `${TO} is deferred: too many were sent in a short time. The next one will include it.`,
  ],
  ['refused', { mailRefusedAt: new Date() }, `${TO} has not been sent yet: the mail server refuses it.`],
  [
    'given up',
    { mailRefusedAt: new Date(), mailFailedAt: new Date() },
    `${TO} was given up just now : the mail server had refused it for a day.`,
  ],
])('%s', async (_, change, message) => {
  await api.sql`
    update deactivations set ${api.sql({ ...unsent, ...change })} where webhook_id = ${seeded.inactive}`;
  expect(await textOf(seeded.inactive)).toContain(message);
});

test.each([true, false])('written to a file, as in a trial: %s', async (trial) => {
  await api.sql`update deactivations set mailed_at = now() where webhook_id = ${seeded.inactive}`;
  await noteMailFolder(api.sql, '/data/mail', trial);
  expect(await textOf(seeded.inactive)).toContain(
    `${TO} was written to a file just now : this instance has no mail server.`,
  );
  await noteMailFolder(api.sql, null, trial);
  expect(await textOf(seeded.inactive)).toContain('was sent to shop@example.test');
});

test('none was sent about what a user has switched off, or what is active', async () => {
  await api.sql`
    insert into deactivations (webhook_id, generation, reason, at) values (${seeded.inactive}, 2, 'user', now())`;
  for (const webhook of [seeded.inactive, seeded.failing])
    expect(await textOf(webhook)).not.toMatch(/e-mail about it/);
});
