/** The activity that mails a deactivation: what it records, with a real mail server and a real database. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMailDeactivation } from '../../activities/mail-deactivation.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

const DELIVERY = '0197a0b4-0000-7000-8000-000000000001';

let database: TestDatabase;
let server: MailServer;
let webhookId: number;
let logged: Record<string, unknown>[];

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  server = await startMailServer();
  logged = [];
});
afterEach(() => server.close());
afterAll(() => database?.drop());

/** A webhook that was deactivated so many hours ago, by the database's clock. */
async function deactivated(hoursAgo: number): Promise<void> {
  const { sql } = database;
  const [eshop] = await sql<{ id: number }[]>`
    insert into eshops (name, email, api_key_hash)
    values ('Shop', 'orders@shop.example', ${Buffer.from(`key ${Math.random()}`)}) returning id`;
  const eshopId = eshop?.id ?? 0;
  const [webhook] = await sql<{ id: number }[]>`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
    values (${eshopId}, 'https://shop.example/hooks', 'CREATE_ORDER', 'POST', false, 'v2', ${Buffer.from('secret')})
    returning id`;
  webhookId = webhook?.id ?? 0;
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made)
    values (${DELIVERY}, ${DELIVERY}, ${eshopId}, ${webhookId}, 'CREATE_ORDER', '10001', 'failed', 21)
    on conflict (id) do update set webhook_id = excluded.webhook_id`;
  await sql`
    insert into deactivations (webhook_id, generation, reason, at, delivery_id)
    values (${webhookId}, 1, 'retriesExhausted', now() - ${hoursAgo} * interval '1 hour', ${DELIVERY})`;
}

/** One execution of the activity, as the worker runs it. */
async function mailIt(): Promise<void> {
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const mailer = createMailer({
    smtpUrl: server.url,
    from: 'waybill@warehouse.example',
    directory: '/nowhere',
  });
  const activity = createMailDeactivation({ sql: database.sql, mailer, log });
  await new MockActivityEnvironment().run(activity, { webhookId, generation: 1 });
}

async function recorded() {
  const [row] = await database.sql<
    { mailedAt: Date | null; mailFailedAt: Date | null; mailError: string | null }[]
  >`select mailed_at, mail_failed_at, mail_error from deactivations where webhook_id = ${webhookId}`;
  return row;
}

const nothing = { mailedAt: null, mailFailedAt: null, mailError: null };
const alarms = () => logged.filter(({ alarm }) => alarm !== undefined);

test('a mail taken is recorded, and not sent again when the activity is repeated', async () => {
  await deactivated(0);

  await mailIt();
  await mailIt();

  expect(server.mails).toHaveLength(1);
  expect(await recorded()).toMatchObject({ mailedAt: expect.any(Date), mailFailedAt: null });
});

test('refused for good for less than a day: tried again, however old the deactivation, in case the mail server is mended', async () => {
  await deactivated(72);
  server.behaviour.refuseRecipient = 550;

  await expect(mailIt()).rejects.toMatchObject({ responseCode: 550 });

  expect(await recorded()).toMatchObject({ mailedAt: null, mailFailedAt: null });
  expect(alarms()).toEqual([]);

  delete server.behaviour.refuseRecipient;
  await mailIt();
  expect(server.mails).toHaveLength(1);
  expect(await recorded()).toMatchObject({ mailedAt: expect.any(Date) });
});

test.each([
  [
    'the recipient',
    { refuseRecipient: 550 },
    'the mail server refused the recipient or the sender (EENVELOPE, 550)',
  ],
  ['the text', { refuseText: 554 }, 'the mail server refused the message (EMESSAGE, 554)'],
])('%s refused for good for a day: given up, recorded and an alarm', async (_what, behaviour, sentence) => {
  await deactivated(72);
  Object.assign(server.behaviour, behaviour);
  await expect(mailIt()).rejects.toThrow(sentence);
  await database.sql`update deactivations set mail_refused_at = mail_refused_at - interval '25 hours'`;

  await mailIt();

  expect(await recorded()).toEqual({ mailedAt: null, mailFailedAt: expect.any(Date), mailError: sentence });
  expect(alarms()).toEqual([
    expect.objectContaining({
      alarm: 'mailRefused',
      webhookId,
      deliveryId: DELIVERY,
      reason: sentence,
      level: 50,
    }),
  ]);
  expect(JSON.stringify(logged)).not.toContain('shop.example');
});

test('a server that asks for patience (greylisting) is tried for longer than a day, and takes it in the end', async () => {
  await deactivated(72);
  server.behaviour.refuseRecipient = 451;

  await expect(mailIt()).rejects.toMatchObject({ responseCode: 451 });
  expect(await recorded()).toEqual(nothing);

  delete server.behaviour.refuseRecipient;
  await mailIt();
  expect(server.mails).toHaveLength(1);
  expect(await recorded()).toMatchObject({ mailedAt: expect.any(Date), mailFailedAt: null });
});

test('a mail server that is away is tried for longer than a day', async () => {
  await deactivated(72);
  await server.close();

  await expect(mailIt()).rejects.toThrow('the mail server cannot be reached (ESOCKET)');
  expect(await recorded()).toEqual(nothing);
  server = await startMailServer();
});
