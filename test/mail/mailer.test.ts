import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import type { Deactivation } from '../../src/domain/mailed.ts';
import { deactivationMail } from '../../src/mail/deactivation-mail.ts';
import { MailError } from '../../src/mail/mail.ts';
import { mailOf } from '../../src/mail/mail-template.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { folderOfTest } from '../support/ends.ts';
import { mailServerOfTest } from '../support/lifetimes.ts';
import { mailerTo } from '../support/servers/mail-server.ts';

const FROM = 'Waybill <waybill@warehouse.example>';

const deactivation: Deactivation = {
  webhookId: 7,
  webhookType: 'CREATE_ORDER',
  url: 'https://shop.example/hooks/orders?key=áé',
  generation: 3,
  activeAgain: false,
  lostSince: new Date('2026-11-18T19:33:00.000Z'),
  description: 'ERP',
  reason: 'retriesExhausted',
  at: new Date('2026-11-20T19:33:00.000Z'),
  deliveryId: '0197a0b4-0000-7000-8000-000000000001',
  attemptsMade: 21,
  lastError: 'HTTP 503 from shop.example after 212 ms',
  eshopName: 'Obchod s knihami',
  email: 'orders@shop.example',
};

test('a deactivation mail reaches the e-shop through the mail server', async () => {
  const server = await mailServerOfTest();
  const mailer = mailerTo(server, FROM);

  await mailer.send(mailOf(deactivationMail(deactivation), null));

  const [received] = server.mails;
  expect(server.mails).toHaveLength(1);
  expect(received).toMatchObject({ from: 'waybill@warehouse.example', to: ['orders@shop.example'] });
  const mail = await PostalMime.parse(received?.content ?? '');
  expect(mail.from).toEqual({ name: 'Waybill', address: 'waybill@warehouse.example' });
  expect(mail.subject).toBe('Webhook 7 (CREATE_ORDER) was deactivated');
  expect(mail.messageId).toBe('<webhook-7-3-0197a0b4-0000-7000-8000-000000000001@waybill.local>');
  expect(mail.headers).toContainEqual(
    expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
  );
  for (const expected of [
    'webhook 7 was deactivated at 2026-11-20T19:33:00.000Z',
    'CREATE_ORDER',
    'https://shop.example/hooks/orders?key=áé',
    'failed permanently after 21 attempts',
    'HTTP 503 from shop.example after 212 ms',
    'PUT /v21/webhooks/7/activate',
    'GET /v21/deliveries/0197a0b4-0000-7000-8000-000000000001',
  ]) {
    expect(mail.text).toContain(expected);
  }
});

test('a mail after a 410 says that the receiver asked for it', () => {
  const { text } = mailOf(
    deactivationMail({ ...deactivation, reason: 'gone', attemptsMade: 1, lastError: null }),
    null,
  );

  expect(text).toContain('responded with HTTP 410 (Gone)');
  expect(text).toContain('(1 attempt)');
});

test('a comma in an address does not add a recipient', async () => {
  const server = await mailServerOfTest();
  const mailer = mailerTo(server, FROM);

  await mailer
    .send({ ...mailOf(deactivationMail(deactivation), null), to: 'a@shop.example,b@shop.example' })
    .catch(() => {});

  expect(server.mails.flatMap(({ to }) => to).filter((to) => to === 'b@shop.example')).toEqual([]);
});

test('the error of an unavailable mail server hides its URL', async () => {
  const mailer = createMailer({
    smtpUrl: 'smtp://user:geheim@127.0.0.1:1',
    from: FROM,
    directory: '/nowhere',
  });

  const error = await mailer
    .send(mailOf(deactivationMail(deactivation), null))
    .catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(MailError);
  expect(String(error)).toBe(
    'MailError: the mail server cannot be reached, or has a TLS certificate that is not accepted (ESOCKET)',
  );
});

test('without a mail server, mails become files that sort by time and can be opened', async () => {
  const directory = join(await folderOfTest('waybill-mail-'), 'mail');
  const mailer = createMailer({ from: FROM, directory });
  const first = mailOf(deactivationMail(deactivation), null);
  const second = mailOf(deactivationMail({ ...deactivation, webhookId: 8 }), null);

  await mailer.send(first);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await mailer.send(second);

  const names = (await readdir(directory)).sort();
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).toMatch(/^\d{8}T\d{9}Z-[0-9a-f]{16}\.eml$/);
  const mails = await Promise.all(
    names.map(async (name) => PostalMime.parse(await readFile(join(directory, name)))),
  );
  expect(mails.map(({ subject }) => subject)).toEqual([first.subject, second.subject]);
  expect(mails[0]).toMatchObject({
    to: [{ name: '', address: 'orders@shop.example' }],
    messageId: first.messageId,
  });
  expect(mails[0]?.text?.trim()).toBe(first.text.trim());
});

test('a mail sent again after a crash is still one file', async () => {
  const directory = await folderOfTest('waybill-mail-');

  for (let repetition = 0; repetition < 3; repetition += 1) {
    await createMailer({ from: FROM, directory }).send(mailOf(deactivationMail(deactivation), null));
  }

  expect(await readdir(directory)).toHaveLength(1);
});

test('an unwritable folder for mails is an error', async () => {
  const file = join(await folderOfTest('waybill-mail-'), 'a-file');
  await writeFile(file, '');
  const mailer = createMailer({ from: FROM, directory: join(file, 'mail') });

  await expect(mailer.send(mailOf(deactivationMail(deactivation), null))).rejects.toBeInstanceOf(MailError);
});
