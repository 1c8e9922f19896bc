/** `waybill webhooks` and `waybill deliveries`: the operator's lists across all e-shops. */
import { describe, expect, it, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { deleteWebhook, setActive } from '../../src/db/webhooks/change.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import type { WebhookInput } from '../../src/domain/webhook.ts';
import { fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';
import { testWebhook, unreadable } from '../support/test-webhook.ts';

/** One e-shop has the webhooks `first` and `inactive`, the other has `other` and a deleted one. */
const made = { eshop: 0, otherEshop: 0, first: 0, inactive: 0, other: 0, deleted: 0 };

async function addWebhook(eshopId: number, url: string, named: Partial<WebhookInput> = {}) {
  const webhook = testWebhook({ url, payloadVersion: 'v21', description: 'for orders', ...named });
  const row = await createWebhook(database.sql, eshopId, webhook, unreadable, 10);
  return row?.id ?? 0;
}

const database = await databaseOfFile();
const { sql } = database;
made.eshop = (await createEshop(sql, { name: 'Shop', email: 'shop@example.com' })).eshopId;
made.otherEshop = (await createEshop(sql, { name: 'Other', email: 'other@example.com' })).eshopId;
made.first = await addWebhook(made.eshop, 'https://shop.example/orders');
made.other = await addWebhook(made.otherEshop, 'https://other.example:8443/orders');
made.deleted = await addWebhook(made.otherEshop, 'https://other.example/deleted');
const { eshop, first } = made;
const delivered: string = await fireDelivery(sql, { eshopId: eshop, webhookId: first, entityId: '10001' });
await makeAttempt(sql, delivered, 1, {
  outcome: 'success',
  status: 200,
  error: null,
  responseExcerpt: 'Order\r\n10001 \u001b[31mtaken\n',
});
const retrying: string = await fireDelivery(sql, { eshopId: eshop, webhookId: first, entityId: '10002' });
await makeAttempt(sql, retrying, 1, {
  error: 'HTTP 503 from shop.example',
  nextAttemptAt: new Date(Date.now() + 60_000),
});
const ofOther: string = await fireDelivery(sql, {
  eshopId: made.otherEshop,
  webhookId: made.other,
  entityId: '10001',
});
await deleteWebhook(sql, made.otherEshop, made.deleted);
made.inactive = await addWebhook(eshop, 'https://shop.example:8443/more');
const held: string = await fireDelivery(sql, { eshopId: eshop, webhookId: made.inactive, entityId: '10003' });
await setActive(sql, eshop, made.inactive, false);

const waybill = (args: readonly string[], env: Record<string, string> = {}) =>
  runWaybill(args, { DATABASE_URL: database.url, ...env });
const listed = async (...args: string[]) => JSON.parse(await waybill([...args, '--json']));

describe('webhooks list', () => {
  const ids = async (...args: string[]) =>
    (await listed('webhooks', 'list', ...args)).map((webhook: { webhookId: number }) => webhook.webhookId);

  it('lists the webhooks of all e-shops, without deleted ones, with their open deliveries', async () => {
    const all = await listed('webhooks', 'list');
    expect(all).toMatchObject([
      { webhookId: made.other, eshopId: made.otherEshop, active: true, pending: 1, retrying: 0 },
      { webhookId: made.first, eshopId: made.eshop, active: true, pending: 1, retrying: 1 },
      {
        webhookId: made.inactive,
        eshopId: made.eshop,
        active: false,
        pending: 1,
        deactivationReason: 'user',
      },
    ]);
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  it('filters by e-shop, event type, receiver and activity', async () => {
    expect(await ids('--eshop', String(made.otherEshop))).toEqual([made.other]);
    expect(await ids('--type', 'CREATE_PRODUCT')).toEqual([]);
    expect(await ids('--type', 'CREATE_ORDER', '--limit', '1')).toEqual([made.other]);
    expect(await ids('--receiver', 'shop.example')).toEqual([made.first, made.inactive]);
    expect(await ids('--receiver', 'shop.example:8443')).toEqual([made.inactive]);
    expect(await ids('--active')).toEqual([made.other, made.first]);
    expect(await ids('--inactive')).toEqual([made.inactive]);
    expect(await ids('--failing')).toEqual([made.first]);
  });

  it('prints a table', async () => {
    const [titles, ...rows] = (await waybill(['webhooks', 'list', '--inactive'])).split('\n');
    expect(titles).toMatch(/^id +e-shop +name +state +pending +retrying +waits +type +url$/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatch(
      /inactive: 20\d\d-.* on request +1 +0 +CREATE_ORDER +https:\/\/shop\.example:8443\/more$/,
    );
    expect(await waybill(['webhooks', 'list', '--type', 'CREATE_PRODUCT'])).toBe('No webhooks match.');
  });

  it('--failing shows the last errors', async () => {
    const [titles, ...rows] = (await waybill(['webhooks', 'list', '--failing'])).split('\n');
    expect(titles).toMatch(/^id +e-shop +name +state +pending +retrying +receiver +last error$/);
    expect(rows).toEqual([
      expect.stringMatching(/ failing since 20\d\d-.* +1 +1 +shop\.example +503 from shop\.example$/),
    ]);
  });

  it('a full page of webhooks or deliveries says that there may be more', async () => {
    for (const list of ['webhooks', 'deliveries']) {
      expect((await waybill([list, 'list', '--limit', '2'])).split('\n').slice(3)).toEqual([
        'These are the first 2; there may be more: use --limit, or a filter.',
      ]);
      expect(await waybill([list, 'list', '--limit', '50'])).not.toContain('there may be more');
    }
  });
});

describe('webhooks show', () => {
  it('shows how a webhook is called, its state and its held deliveries', async () => {
    const text = await waybill(['webhooks', 'show', String(made.inactive)]);
    expect(text).toMatch(/^URL +POST https:\/\/shop\.example:8443\/more$/m);
    expect(text).toMatch(/^Payload +v21$/m);
    expect(text).not.toContain('Packing lists');
    expect(text).toMatch(/^State +inactive: .* on request$/m);
    expect(text).toMatch(/^Held +1 pending, 0 retrying$/m);
    expect(await listed('webhooks', 'show', String(made.first))).toMatchObject({ webhookId: made.first });
  });

  it('shows the payload: none, or the version, and packing lists', async () => {
    const id = await addWebhook(made.otherEshop, 'https://other.example/', {
      method: 'GET',
      webhookType: 'UPDATE_ORDER',
      parameters: { withPackingLists: true },
    });
    const text = await waybill(['webhooks', 'show', String(id)]);
    expect(text).toMatch(/^Payload +none: the identifier is in the URL$/m);
    expect(text).toMatch(/^Packing lists +yes$/m);
    await deleteWebhook(database.sql, made.otherEshop, id);
  });

  it('reports an unknown webhook', async () => {
    await expect(waybill(['webhooks', 'show', String(made.deleted)])).rejects.toThrow(
      `There is no webhook ${made.deleted}.`,
    );
    await expect(waybill(['webhooks', 'show', 'x'])).rejects.toThrow('must be the number of a webhook.');
  });
});

describe('deliveries list', () => {
  test('--window-lost lists the deliveries whose window Waybill itself used up, the latest first', async () => {
    const lost: string = await fireDelivery(sql, { eshopId: eshop, webhookId: first, entityId: '10009' });
    const others: string[] = [];
    for (const entityId of ['10008', '10007'])
      others.push(await fireDelivery(sql, { eshopId: eshop, webhookId: first, entityId }));
    await sql`
      update deliveries set state = 'expired', window_lost = id in (${lost}, ${others[0] ?? ''}), dispatched_at = now(),
        finished_at = now() - make_interval(hours => case when id = ${lost} then 2 else 1 end)
      where id in ${sql([lost, ...others])}`;
    try {
      const found = await listed('deliveries', 'list', '--window-lost', '--eshop', String(eshop));
      expect(found).toMatchObject([
        { deliveryId: others[0], eshopId: eshop, state: 'expired' },
        { deliveryId: lost, entityId: '10009' },
      ]);
      expect(await listed('deliveries', 'list', '--window-lost', '--eshop', String(made.otherEshop))).toEqual(
        [],
      );
    } finally {
      await sql`delete from deliveries where id in ${sql([lost, ...others])}`;
    }
  });

  const ids = async (...args: string[]) =>
    (await listed('deliveries', 'list', ...args)).map(
      (delivery: { deliveryId: string }) => delivery.deliveryId,
    );

  it('lists the deliveries of all e-shops, newest first', async () => {
    const all = await ids();
    expect(all).toEqual([...all].sort().reverse());
    expect(all).toEqual(expect.arrayContaining([held, ofOther, retrying, delivered]));
    expect(await ids('--limit', '2')).toEqual(all.slice(0, 2));
  });

  it('filters by every option', async () => {
    expect(await ids('--order', '10001')).toEqual([ofOther, delivered]);
    expect(await ids('--order', '10001', '--eshop', String(made.eshop))).toEqual([delivered]);
    expect(await ids('--webhook', String(made.inactive))).toEqual([held]);
    expect(await ids('--webhook', String(made.inactive), '--eshop', String(made.otherEshop))).toEqual([]);
    expect(await ids('--receiver', 'other.example')).toEqual([ofOther]);
    expect(await ids('--state', 'retrying')).toEqual([retrying]);
    expect(await ids('--state', 'held')).toEqual([held]);
    expect(await ids('--type', 'CREATE_PRODUCT')).toEqual([]);
    expect(await ids('--since', '2999-01-01')).toEqual([]);
    expect(await ids('--until', '2020-01-01T00:00:00Z')).toEqual([]);
    expect(await ids('--status', '2xx')).toEqual([delivered]);
    expect(await ids('--status', '5xx')).toEqual([retrying]);
    await sql`update deliveries set attempts_made = 2, last_status = null where id = ${retrying}`;
    expect(await ids('--status', 'none')).toEqual([retrying]);
    expect(await ids('--status', '5xx')).toEqual([]);
    expect(await ids('--status', '5xx', '--any-attempt')).toEqual([retrying]);
    await sql`update deliveries set attempts_made = 1, last_status = 503 where id = ${retrying}`;
  });

  it('prints a table', async () => {
    const [titles, row] = (await waybill(['deliveries', 'list', '--state', 'retrying'])).split('\n');
    expect(titles).toMatch(/^id +e-shop +webhook +created +type +record +state +next +last result$/);
    expect(row).toMatch(
      / 20\d\d-\d\d-\d\d \d\d:\d\dZ +CREATE_ORDER +10002 +retrying 1\/21 +(?:\d+ s|1 min|due) +503 from shop\.example$/,
    );
    expect(await waybill(['deliveries', 'list', '--state', 'delivered'])).toMatch(/ delivered +200$/);
    const ofOne = ['--eshop', String(made.eshop), '--webhook', String(made.first)];
    expect(await waybill(['deliveries', 'list', ...ofOne])).toMatch(/^id +created +type +record/);
    expect(await waybill(['deliveries', 'list', '--state', 'expired'])).toBe('No deliveries match.');
  });

  it('mistakes are reported in one sentence', async () => {
    const wrong = (...args: string[]) => expect(waybill(['deliveries', 'list', ...args])).rejects;
    await wrong('--state', 'lost').toThrow('--state must be one of pending, retrying, held');
    await wrong('--since', 'yesterday').toThrow('--since must be a time such as');
    await wrong('--limit', '0').toThrow('--limit must be an integer from 1 to 1000.');
    await wrong('--type', 'ORDER').toThrow('--type must be an event type');
    await wrong('--status', '40').toThrow('--status must be a status of three digits');
    await wrong('--any-attempt').toThrow('--any-attempt needs --status.');
    await wrong('--window-lost', '--webhook', '7').toThrow('--window-lost combines with --eshop only.');
  });
});

describe('deliveries show', () => {
  it('shows the state of a delivery, its attempts and its workflow', async () => {
    const env = { TEMPORAL_UI_URL: 'http://127.0.0.1:8233' };
    const text = await waybill(['deliveries', 'show', retrying.toUpperCase()], env);
    expect(text).toMatch(/^Event +CREATE_ORDER 10002, /m);
    expect(text).toMatch(/^State +retrying$/m);
    expect(text).toContain(
      `http://127.0.0.1:8233/namespaces/default/workflows/delivery%2F1%2FCREATE_ORDER%2F10002%2F${retrying}`,
    );
    expect(text).toMatch(/^ +1 +20\d\d-.* +1 ms +HTTP 503 from shop\.example$/m);
    expect(text).not.toContain('Response');
    expect(await waybill(['deliveries', 'show', delivered])).toMatch(
      /\n\nResponse to attempt 1: Order 10001 \[31mtaken$/,
    );
    const read = JSON.parse(await waybill(['deliveries', 'show', delivered, '--json']));
    expect(read).toMatchObject({ deliveryId: delivered, eshopId: made.eshop, state: 'delivered', url: null });
    expect(read.attempts).toMatchObject([{ number: 1, outcome: 'success', status: 200 }]);
  });

  it('reports an unknown delivery', async () => {
    const none = '01a205b3-d000-7000-8000-000000000000';
    await expect(waybill(['deliveries', 'show', none])).rejects.toThrow(`There is no delivery ${none}`);
    await expect(waybill(['deliveries', 'show', '7'])).rejects.toThrow('must be the id of a delivery.');
  });
});

describe('a failing webhook', () => {
  it('is listed with its failing time, and shown with its last error and predicted deactivation', async () => {
    const active = (await listed('webhooks', 'list', '--active')).find(
      (webhook: { webhookId: number; incident: unknown }) => webhook.incident !== null,
    );
    expect(active.incident).toMatchObject({ failures: 1, lastError: 'HTTP 503 from shop.example' });
    expect(await waybill(['webhooks', 'list', '--active'])).toMatch(
      / failing since 20\d\d-\S+ \d\d:\d\dZ, 1 failure /m,
    );
    const text = await waybill(['webhooks', 'show', String(active.webhookId)]);
    expect(text).toMatch(/^State +failing since 20\d\d-\S+ \d\d:\d\dZ, 1 failure$/m);
    expect(text).toMatch(/^Last error +HTTP 503 from shop\.example$/m);
    expect(text).toMatch(/^Deactivation +20\d\d-\S+ \d\d:\d\dZ$/m);
  });
});

test('webhooks are listed by the wait of their oldest due delivery, the longest first', async () => {
  const waits = async () =>
    (await listed('webhooks', 'list')).map(
      ({
        webhookId,
        oldestWaitSeconds: seconds,
      }: {
        webhookId: number;
        oldestWaitSeconds: number | null;
      }) => [webhookId, seconds === null ? null : Math.floor(seconds / 60)],
    );
  const { other, inactive } = made;
  await sql`update deliveries set created_at = now() - interval '3 hours' where webhook_id = ${inactive}`;
  await sql`
    update deliveries set created_at = now() - interval '7 minutes' where webhook_id = ${other}`;
  await sql`update deliveries set created_at = now() - interval '9 minutes' where webhook_id = ${first}`;
  await sql`update deliveries set next_attempt_at = now() + interval '1 hour' where id = ${retrying}`;
  expect(await waits()).toEqual([
    [first, 9],
    [other, 7],
    [inactive, null],
  ]);
  expect(await waybill(['webhooks', 'list', '--active'])).toMatch(/ 1 +1 +9 min(?: \d+ s)? +CREATE_ORDER/);
  expect(await waybill(['webhooks', 'show', String(other)])).toMatch(/^Oldest waits +7 min(?: \d+ s)?$/m);

  // A retry waits from its time on, in the queue and in Temporal; one in the future does not wait.
  await sql`
    update deliveries set operator_stop = 'hold' where webhook_id = ${first} and state = 'pending'`;
  expect(await waits()).toEqual([
    [other, 7],
    [first, null],
    [inactive, null],
  ]);
  await sql`
    update deliveries set due_at = now() - interval '4 minutes', next_attempt_at = now() - interval '4 minutes', class = 1
    where id = ${retrying}`;
  expect(await waits()).toContainEqual([first, 4]);
  await sql`
    update deliveries
    set dispatched_at = now() - interval '1 hour', last_attempt_at = now() - interval '1 hour', next_attempt_at = now() - interval '5 minutes'
    where id = ${retrying}`;
  expect(await waits()).toContainEqual([first, 5]);
});
