/** The time limits of a conversation with a mail server, and what its end means for the mail. */
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type Mail, MailError } from '../../src/mail/mail.ts';
import { type ConversationLimits, conversationLimits, createSmtpMailer } from '../../src/mail/smtp-mailer.ts';
import { mailOptions } from '../../workflows/delivery-options.ts';
import { later } from '../support/later.ts';
import { mailServerOfTest } from '../support/lifetimes.ts';
import { linkTo } from '../support/servers/mail-server.ts';

const mail: Mail = {
  to: 'orders@shop.example',
  subject: 'Webhook 7 (CREATE_ORDER) was deactivated',
  text: 'It will receive nothing until it is activated again.\n',
  html: '<p>It will receive nothing until it is activated again.</p>',
  messageId: '<webhook-7-3@waybill.local>',
};
const TIMED_OUT = 'the mail server did not answer in time (EABORT)';

async function startLink(...[server, answer]: Parameters<typeof linkTo>): Promise<string> {
  const link = await linkTo(server, answer);
  onTestFinished(() => link.close());
  return link.url;
}

function mailerTo(url: string, limits: ConversationLimits) {
  return createSmtpMailer('Waybill <waybill@warehouse.example>', url, limits);
}

test('a conversation ends before its activity would be repeated', () => {
  const { startToCloseTimeout } = mailOptions;

  // Time to read the deactivation before it, and to record the mail after it.
  expect(conversationLimits.wholeMs + 20_000).toBeLessThanOrEqual(Number(startToCloseTimeout));
  // A server may take a minute before it accepts a text.
  expect(conversationLimits.wholeMs - conversationLimits.beforeTextMs).toBeGreaterThanOrEqual(60_000);
});

test('a server that responds in drips is given up before the text, and gets no mail', async () => {
  const server = await mailServerOfTest();
  const url = await startLink(server, async (bytes, client) => {
    for (const byte of bytes) {
      await sleep(50);
      client.write(Buffer.of(byte));
    }
  });

  await expect(mailerTo(url, { beforeTextMs: 700, wholeMs: 60_000 }).send(mail)).rejects.toThrow(TIMED_OUT);
  await server.left();

  expect(server.mails).toHaveLength(0);
});

test('a server that falls silent before the text is given up, and gets no mail', async () => {
  const [released, release] = later();
  const server = await mailServerOfTest({ beforeRecipient: () => released });

  const error = await mailerTo(server.url, { beforeTextMs: 700, wholeMs: 60_000 })
    .send(mail)
    .catch((reason: unknown) => reason);
  release();
  await server.left();

  expect(error).toBeInstanceOf(MailError);
  expect(error).toMatchObject({ message: TIMED_OUT, refused: false });
  expect(server.mails).toHaveLength(0);
});

test('a server that accepts the text late is waited for, and gets one mail', async () => {
  const beforeTextMs = 3_000;
  // Once the text is sent, only the limit of the whole conversation counts.
  const server = await mailServerOfTest({ beforeTaking: () => sleep(beforeTextMs + 200) });

  await mailerTo(server.url, { beforeTextMs, wholeMs: 60_000 }).send(mail);

  expect(server.mails).toHaveLength(1);
  expect(server.conversations()).toBe(1);
});

test('a server that never acknowledges the text is given up after a while', async () => {
  const [released, release] = later();
  const server = await mailServerOfTest({ beforeTaking: () => released });

  await expect(mailerTo(server.url, { beforeTextMs: 700, wholeMs: 1_500 }).send(mail)).rejects.toThrow(
    TIMED_OUT,
  );
  release();
  await server.left();
});

test('a mail counts as sent if the connection dies right after the 250', async () => {
  const server = await mailServerOfTest();
  const url = await startLink(server, (bytes, client, said) => {
    const taken = said.endsWith('\r\n.\r\n') && bytes.toString().startsWith('250');
    client.write(bytes, () => taken && client.destroy());
  });

  await mailerTo(url, conversationLimits).send(mail);

  expect(server.mails).toHaveLength(1);
});

test('a mail is sent again under its Message-ID if the connection dies before the 250', async () => {
  const server = await mailServerOfTest();
  let dying = true;
  const url = await startLink(server, (bytes, client, said) => {
    if (dying && said.endsWith('\r\n.\r\n')) client.destroy();
    else client.write(bytes);
  });
  const mailer = mailerTo(url, conversationLimits);

  await expect(mailer.send(mail)).rejects.toMatchObject({ refused: false });
  dying = false;
  await mailer.send(mail);

  const ids = server.mails.map(({ content }) => /^message-id: (.*)$/im.exec(content.toString())?.[1]?.trim());
  expect(ids).toEqual([mail.messageId, mail.messageId]);
});

test.each([
  ['the recipient with 550', { refuseRecipient: 550 }, true],
  ['the recipient with 450 (greylisting)', { refuseRecipient: 450 }, false],
  ['the recipient with 503, which is about the conversation', { refuseRecipient: 503 }, false],
  ['the text with 554', { refuseText: 554 }, true],
  ['the text with 451', { refuseText: 451 }, false],
  ['our sender with 550', { refuseSender: 550 }, false],
] as const)('a refusal of %s is permanent: %s', async (_what, behavior, refused) => {
  const server = await mailServerOfTest({ ...behavior });

  const error = await mailerTo(server.url, conversationLimits)
    .send(mail)
    .catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(MailError);
  expect(error).toMatchObject({ refused });
  expect(error).not.toHaveProperty('cause');
  expect(server.mails).toHaveLength(0);
});

test('a refused password is no refusal of the mail', async () => {
  const server = await mailServerOfTest();
  const url = server.url.replace('smtp://', 'smtp://waybill:wrong@');

  const error = await mailerTo(url, conversationLimits)
    .send(mail)
    .catch((reason: unknown) => reason);

  expect(error).toMatchObject({ message: expect.stringContaining('535'), refused: false });
});

test('an interruption before the text sends nothing; after it, the response is awaited', async () => {
  const [isBefore, before] = later();
  const [released, release] = later();
  const server = await mailServerOfTest({
    beforeRecipient: async () => {
      before();
      await released;
    },
  });
  const stop = new AbortController();
  const given = mailerTo(server.url, conversationLimits).send(mail, stop.signal);
  await isBefore;
  stop.abort();
  await expect(given).rejects.toThrow('the mail was interrupted');
  release();
  await server.left();
  expect(server.mails).toHaveLength(0);

  const late = new AbortController();
  delete server.behavior.beforeRecipient;
  server.behavior.beforeTaking = async () => late.abort();
  await mailerTo(server.url, conversationLimits).send(mail, late.signal);
  expect(server.mails).toHaveLength(1);
});

test('a mail that is interrupted before it begins is not sent', async () => {
  const server = await mailServerOfTest();

  await expect(mailerTo(server.url, conversationLimits).send(mail, AbortSignal.abort())).rejects.toThrow(
    'the mail was interrupted',
  );

  expect(server.conversations()).toBe(0);
});

test.each(['expired.pem', 'self-signed.pem', 'valid.pem'])(
  'an unacceptable certificate of the mail server is named as a possible cause: %s',
  async (name) => {
    const file = (of: string) => readFile(new URL(`../support/servers/tls/${of}`, import.meta.url));
    const server = createServer({ key: await file('server.key'), cert: await file(name) });
    server.on('tlsClientError', () => {});
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => new Promise((closed) => server.close(() => closed())));
    const { port } = server.address() as AddressInfo;
    const mailer = mailerTo(`smtps://localhost:${port}`, conversationLimits);
    await expect(mailer.send(mail)).rejects.toThrow(
      'the mail server cannot be reached, or has a TLS certificate that is not accepted (ESOCKET)',
    );
  },
);
