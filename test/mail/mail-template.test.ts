/** The content of mails, as text and as HTML, and the targets of their links. */
import { expect, test } from 'vitest';
import type { Deactivation } from '../../src/domain/mailed.ts';
import { deactivationMail } from '../../src/mail/deactivation-mail.ts';
import { mailOf } from '../../src/mail/mail-template.ts';
import { type Warning, warningMail } from '../../src/mail/warning-mail.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const PLANTED = 'https://shop.example/?a="><img/src=x/onerror=alert(1)>&b=\'';
const ERROR = 'HTTP 503 from <script>alert(1)</script> after 2 ms\r\nX-Planted: line';
const NAME = '<b>Shop</b> & "Sons"';

const deactivation: Deactivation = {
  webhookId: 7,
  webhookType: 'CREATE_ORDER',
  url: PLANTED,
  description: NAME,
  generation: 3,
  activeAgain: false,
  lostSince: new Date('2026-11-18T19:33:00.000Z'),
  reason: 'retriesExhausted',
  at: new Date('2026-11-20T19:33:00.000Z'),
  deliveryId: '0197a0b4-0000-7000-8000-000000000001',
  attemptsMade: 21,
  lastError: ERROR,
  eshopName: NAME,
  email: 'orders@shop.example',
};
const warning: Warning = {
  id: '0197a0b4-0000-4000-8000-000000000002',
  webhookId: 7,
  webhookType: 'CREATE_ORDER',
  url: PLANTED,
  description: NAME,
  deliveryId: null,
  since: new Date('2026-11-20T19:33:10.000Z'),
  failures: 412,
  lastError: ERROR,
  open: 1,
  deactivationAt: new Date('2026-11-22T17:43:00.000Z'),
  eshopName: NAME,
  email: 'orders@shop.example',
};
const mails = (publicUrl: string | null) => [
  mailOf(deactivationMail(deactivation), publicUrl),
  mailOf(warningMail(warning), publicUrl),
  mailOf(warningMail({ ...warning, deliveryId: deactivation.deliveryId, deactivationAt: null }), publicUrl),
];
const links = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href ?? '');

const api = await apiOfFile();

test('a warning says since when, how often and why, what is open, what follows and what to do', () => {
  const { text, subject, messageId, to } = mailOf(warningMail(warning), null);
  expect({ subject, messageId, to }).toEqual({
    subject: 'Webhook 7 (CREATE_ORDER) is failing',
    messageId: '<warning-0197a0b4-0000-4000-8000-000000000002@waybill.local>',
    to: 'orders@shop.example',
  });
  for (const expected of [
    'webhook 7 has been failing since 2026-11-20 19:33 UTC. No delivery has been accepted',
    'On 2026-11-22 17:43 UTC at the earliest',
    '412 attempts',
    'HTTP 503 from',
    '1 delivery not accepted yet',
    'POST /v21/webhooks/7/test',
    'GET /v21/webhooks/7/deliveries?state=retrying',
    'PUT /v21/webhooks/7/deactivate',
    'PATCH /v21/eshop {"notifications": {"warning": false}}',
  ]) {
    expect(text).toContain(expected);
  }
});

test('a warning about one delivery names it', () => {
  const { text } = mailOf(warningMail({ ...warning, deliveryId: deactivation.deliveryId }), null);
  expect(text).toContain('a delivery to webhook 7 has been failing since 2026-11-20 19:33 UTC');
  expect(text).toContain(`GET /v21/deliveries/${deactivation.deliveryId}`);
});

test('a deactivation mail says when and why, and what to do', () => {
  const { text, subject, messageId, to } = mailOf(deactivationMail(deactivation), null);
  expect({ subject, messageId, to }).toEqual({
    subject: 'Webhook 7 (CREATE_ORDER) was deactivated',
    messageId: '<webhook-7-3-0197a0b4-0000-7000-8000-000000000001@waybill.local>',
    to: 'orders@shop.example',
  });
  for (const expected of [
    'webhook 7 was deactivated at 2026-11-20T19:33:00.000Z',
    PLANTED,
    'failed permanently after 21 attempts',
    'HTTP 503 from',
    'PUT /v21/webhooks/7/activate',
    'GET /v21/deliveries/0197a0b4-0000-7000-8000-000000000001',
  ]) {
    expect(text).toContain(expected);
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

test.each([
  [
    'inactive',
    false,
    'it is inactive create no deliveries',
    'Once it is active again, to have them delivered',
  ],
  ['active again', true, 'it was inactive create no deliveries', 'To have them delivered'],
])(
  'a deactivation mail about a webhook that is %s says how to recover missed events',
  (_, activeAgain, missed, recovered) => {
    const { text } = mailOf(deactivationMail({ ...deactivation, activeAgain }), null);
    expect(text).toContain(missed);
    expect(text).toContain(
      'POST /v21/webhooks/7/recover {"since": "2026-11-18T19:33:00.000Z", "dryRun": true}',
    );
    expect(text).toContain(recovered);
    expect(text).toContain('POST /v21/webhooks/7/recover {"since": "2026-11-18T19:33:00.000Z"}');
  },
);

test('HTML in a URL, an error or a name is escaped', () => {
  for (const { html } of mails('https://waybill.example')) {
    expect(html).not.toMatch(/<(img|script|b)[\s>/]/i);
    expect(html).toContain('&lt;img/src=x/onerror=alert(1)&gt;');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('&lt;b&gt;Shop&lt;/b&gt; &amp; &quot;Sons&quot;');
  }
});

test('an error of several lines cannot add lines to the text', () => {
  for (const { text } of mails(null)) expect(text).not.toMatch(/^X-Planted/m);
});

test('with PUBLIC_URL, requests are whole addresses and link to their documentation', async () => {
  for (const { text, html } of mails('https://waybill.example/base')) {
    expect(text).toMatch(/https:\/\/waybill\.example\/base\/v21\/(webhooks|deliveries)\//);
    expect(text).toContain('https://waybill.example/base/docs');
    expect(links(html).length).toBeGreaterThan(1);
    for (const link of links(html)) {
      expect(link).toMatch(/^https:\/\/waybill\.example\/base\/docs\/reference\//);
      // Each page is a folder: its address is completed.
      const path = link.replace('https://waybill.example/base', '');
      expect((await api.app.request(path)).status, link).toBe(308);
      expect((await api.app.request(`${path}/`)).status, link).toBe(200);
    }
  }
});

test('without PUBLIC_URL, requests are paths, and nothing is linked', () => {
  for (const { text, html } of mails(null)) {
    expect(links(html)).toEqual([]);
    expect(text).toMatch(/^ {2}(PUT|GET|POST) \/v21\//m);
  }
});

test('a webhook with several types is named by the first, and all of them are listed', () => {
  const several = { additionalTypes: ['UPDATE_ORDER', 'CREATE_RETURN'] } as const;
  const sent = [
    mailOf(deactivationMail({ ...deactivation, ...several }), null),
    mailOf(warningMail({ ...warning, ...several }), null),
  ];
  for (const { subject, text } of sent) {
    expect(subject).toContain('Webhook 7 (CREATE_ORDER and 2 more) ');
    expect(text).toMatch(/^ {2}Types: +CREATE_ORDER, UPDATE_ORDER, CREATE_RETURN$/m);
  }
});
