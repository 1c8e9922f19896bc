import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { type Mail, MailError } from '../../src/mail/mail.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { folderOfTest } from '../support/ends.ts';
import { mailServerOfTest } from '../support/lifetimes.ts';
import { mailerTo } from '../support/servers/mail-server.ts';

const FROM = 'Waybill <waybill@warehouse.example>';

const mail: Mail = {
  to: 'orders@shop.example',
  subject: 'Webhook 7 (CREATE_ORDER) was deactivated',
  text: 'Lost: https://shop.example/hooks/orders?key=áé',
  html: '<p>Lost: https://shop.example/hooks/orders?key=áé</p>',
  messageId: '<webhook-7-3@waybill.local>',
};

test('a mail reaches the e-shop through the mail server', async () => {
  const server = await mailServerOfTest();
  const mailer = mailerTo(server, FROM);

  await mailer.send(mail);

  const [received] = server.mails;
  expect(server.mails).toHaveLength(1);
  expect(received).toMatchObject({ from: 'waybill@warehouse.example', to: ['orders@shop.example'] });
  const parsed = await PostalMime.parse(received?.content ?? '');
  expect(parsed.from).toEqual({ name: 'Waybill', address: 'waybill@warehouse.example' });
  expect(parsed).toMatchObject({ subject: mail.subject, messageId: mail.messageId });
  expect(parsed.headers).toContainEqual(
    expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
  );
  expect(parsed.text?.trim()).toBe(mail.text);
  expect(parsed.html?.trim()).toBe(mail.html);
});

test('a comma in an address does not add a recipient', async () => {
  const server = await mailServerOfTest();
  const mailer = mailerTo(server, FROM);

  await mailer.send({ ...mail, to: 'a@shop.example,b@shop.example' }).catch(() => {});

  expect(server.mails.flatMap(({ to }) => to).filter((to) => to === 'b@shop.example')).toEqual([]);
});

test('the error of an unavailable mail server hides its URL', async () => {
  const mailer = createMailer({
    smtpUrl: 'smtp://user:geheim@127.0.0.1:1',
    from: FROM,
    directory: '/nowhere',
  });

  const error = await mailer.send(mail).catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(MailError);
  expect(String(error)).toBe(
    'MailError: the mail server cannot be reached, or has a TLS certificate that is not accepted (ESOCKET)',
  );
});

test('without a mail server, mails become files that sort by time and can be opened', async () => {
  const directory = join(await folderOfTest('waybill-mail-'), 'mail');
  const mailer = createMailer({ from: FROM, directory });
  const second: Mail = { ...mail, subject: 'Another', messageId: '<webhook-8-3@waybill.local>' };

  await mailer.send(mail);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await mailer.send(second);

  const names = (await readdir(directory)).sort();
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).toMatch(/^\d{8}T\d{9}Z-[0-9a-f]{16}\.eml$/);
  const mails = await Promise.all(
    names.map(async (name) => PostalMime.parse(await readFile(join(directory, name)))),
  );
  expect(mails.map(({ subject }) => subject)).toEqual([mail.subject, second.subject]);
  expect(mails[0]).toMatchObject({
    to: [{ name: '', address: 'orders@shop.example' }],
    messageId: mail.messageId,
  });
  expect(mails[0]?.text?.trim()).toBe(mail.text);
});

test('a mail sent again after a crash is still one file', async () => {
  const directory = await folderOfTest('waybill-mail-');

  for (let repetition = 0; repetition < 3; repetition += 1) {
    await createMailer({ from: FROM, directory }).send(mail);
  }

  expect(await readdir(directory)).toHaveLength(1);
});

test('an unwritable folder for mails is an error', async () => {
  const file = join(await folderOfTest('waybill-mail-'), 'a-file');
  await writeFile(file, '');
  const mailer = createMailer({ from: FROM, directory: join(file, 'mail') });

  await expect(mailer.send(mail)).rejects.toBeInstanceOf(MailError);
});
