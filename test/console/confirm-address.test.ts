/** A further address, from the request that names it to the button that confirms it. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import PostalMime from 'postal-mime';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createNoticeActivities } from '../../activities/deliver-notice.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import type { TestEshop } from '../support/api/api.ts';
import { consoleOf } from '../support/api/console.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { startMailServer } from '../support/servers/mail-server.ts';

const publicUrl = 'https://waybill.example/base';
let eshop: TestEshop;
const api = await apiOfFile({ publicUrl });
const server = await startMailServer();
afterAll(() => server.close());
beforeEach(async () => {
  eshop = await api.newEshop();
  await api.sql`delete from login_limits`;
});

const patch = async (emails: unknown) =>
  (await eshop.shop.request('PATCH', '/v21/eshop', { notifications: { emails } })).data.notifications.emails;
const confirmed = async () =>
  (await eshop.shop.request('GET', '/v21/eshop')).data.notifications.emails[0]?.confirmedAt;

/** Sends the pending notices; returns the link of the last mail, below the public URL. */
async function linkOf(): Promise<string> {
  const { deliverNotice } = createNoticeActivities({
    sql: api.sql,
    mailer: createMailer({ smtpUrl: server.url, from: 'waybill@warehouse.example', directory: '/nowhere' }),
    sendNotice: () => Promise.reject(new Error('none has a URL')),
    keys: { decryptSecret: () => '' },
    log: pino({ level: 'silent' }),
    mailsUnderWay: { count: 0 },
    publicUrl,
    policy: defaultRetryPolicy,
  });
  const pending = await api.sql<{ id: string }[]>`select id from notices where outcome is null`;
  for (const { id } of pending) await new MockActivityEnvironment().run(deliverNotice, id);
  const mail = await PostalMime.parse(server.mails.at(-1)?.content ?? '');
  const [url = ''] =
    /https:\/\/waybill\.example\/base\/console\/confirm-address\/[\w-]{43}/.exec(mail.text ?? '') ?? [];
  expect(mail.html).toContain(`href="${url}"`);
  return url.slice(publicUrl.length);
}

const visitor = () => visitorOf(consoleOf(api.deps, { publicUrl }));

test('opening the link confirms nothing; its button does, without signing in', async () => {
  await patch(['on-call@shop.example']);
  const path = await linkOf();
  expect(server.mails.at(-1)?.to).toEqual(['on-call@shop.example']);
  const { ask } = visitor();
  for (const method of ['GET', 'HEAD']) {
    const opened = await consoleOf(api.deps).fetch(new Request(`http://localhost${path}`, { method }));
    expect(opened.status).toBe(200);
    expect(await confirmed()).toBeNull();
  }
  const page = await ask(path);
  expect(page.text).toContain('Confirm this address');
  expect(page.text).toContain('<strong>Test shop</strong> would like <strong>on-call@shop.example</strong>');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.set).toEqual([]);
  const pressed = await ask(path, {});
  expect(pressed.text).toContain('on-call@shop.example now gets notices about the webhooks of Test shop.');
  const at = await confirmed();
  expect(at).toMatch(/^\d{4}-/);
  for (const again of [await ask(path, {}), await ask(path)])
    expect(again.text).toContain('now gets notices');
  expect(await confirmed()).toBe(at);
});

test('expired, removed and invented links get the same page, and confirm nothing', async () => {
  await patch(['on-call@shop.example']);
  const path = await linkOf();
  const { ask } = visitor();
  await api.sql`update notice_tokens set expires_at = now() - interval '1 second'`;
  const expired = await ask(path, {});
  expect(await confirmed()).toBeNull();
  await patch([]);
  await patch(['on-call@shop.example']);
  const second = await linkOf();
  // The link of an address that was removed leads nowhere, even if it was named again.
  const removed = await ask(path, {});
  const madeUp = await ask(`${path.slice(0, -43)}${'A'.repeat(43)}`, {});
  const malformed = await ask(`${path.slice(0, -43)}x`);
  for (const refused of [expired, removed, madeUp, malformed]) {
    expect(refused.status).toBe(404);
    expect(refused.text).toBe(expired.text);
  }
  expect(await confirmed()).toBeNull();
  expect((await ask(second, {})).status).toBe(200);
});

test('the database contains only hashes of tokens', async () => {
  await patch(['on-call@shop.example']);
  const token = (await linkOf()).slice(-43);
  const rows = await api.sql<{ row: string }[]>`
    select t::text as row from notice_tokens t union all select n::text from notices n union all select a::text from notice_addresses a`;
  expect(rows.length).toBeGreaterThan(2);
  for (const { row } of rows) expect(row).not.toContain(token);
});

test('an address that was removed before its mail was sent gets no mail', async () => {
  await patch(['on-call@shop.example']);
  await patch([]);
  const before = server.mails.length;
  await linkOf();
  expect(server.mails).toHaveLength(before);
});
