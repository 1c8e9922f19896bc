/** A warehouse user sees the e-shops that an operator granted, each by itself and all together, and no other. */
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, test } from 'vitest';
import { readIncidents } from '../../src/db/overview.ts';
import { createUiLinks } from '../../src/temporal/ui-links.ts';
import type { TestEshop } from '../support/api/api.ts';
import { consoleOf, newPerson, type Person, signIn } from '../support/api/console.ts';
import { minimalOrder } from '../support/api/orders.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { runWaybill, triedWaybill } from '../support/programs/waybill-command.ts';

const UI = 'http://temporal.example:8233';
/** A webhook and a delivery of each e-shop. */
const webhooks = new Map<number, number>();
const deliveries = new Map<number, string>();
const requested: string[] = [];

const of = <T>(found: ReadonlyMap<number, T>, { eshopId }: { eshopId: number }): T => {
  const it = found.get(eshopId);
  if (it === undefined) throw new Error(`E-shop ${eshopId} has none.`);
  return it;
};
const waybill = (...args: string[]) => runWaybill(args, { DATABASE_URL: api.database.url });
const seen = (...args: string[]) =>
  waybill('user', 'eshops', '--eshop', String(worker.eshopId), '--username', worker.username, ...args);

const api = await apiOfFile();
const { sql } = api;
const second: TestEshop = await api.newEshop();
const stranger: TestEshop = await api.newEshop();
for (const { eshopId, shop } of [api.eshop, second, stranger]) {
  await shop.request('POST', '/v21/products', { sku: 'TEA', name: 'Tea' });
  const url = `https://shop-${eshopId}.example/hooks`;
  const webhook = { url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  webhooks.set(eshopId, (await shop.request('POST', '/v21/webhooks', webhook)).data.id);
  await shop.request('POST', '/v21/orders', minimalOrder(`SO-${eshopId}`));
  const [row] = await sql<{ id: string }[]>`select id from deliveries where eshop_id = ${eshopId}`;
  deliveries.set(eshopId, row?.id ?? '');
}
const newSite = () =>
  consoleOf(api.deps, {
    temporal: createUiLinks(UI, 'default', sql),
    requestAction: async (action, id, { by, reason }) => {
      requested.push(`${action} ${id} ${by} ${reason}`);
      if (reason === 'no worker')
        return { accepted: false, message: 'No worker answered.', unanswered: true };
      return { accepted: true, message: 'It is held.' };
    },
  });
const site = newSite();
const worker = await newPerson(sql, api.eshop.eshopId, 'warehouse');
const developer = await newPerson(sql, api.eshop.eshopId, 'shop');
beforeEach(async () => {
  await seen('--add', String(second.eshopId));
  requested.length = 0;
});

async function signedIn(as: Person = worker, at = site) {
  const mine = visitorOf(at);
  const answer = await signIn(mine.ask, as);
  expect(answer.status).toBe(303);
  return mine;
}

/** The overview of all e-shops, without what another view has just read. */
const overview = async () => await (await signedIn(worker, newSite())).ask('/console/all');

describe('switching e-shops', () => {
  test('an e-shop is selected by its number, and stays selected', async () => {
    const mine = await signedIn();
    expect((await mine.ask('/console/orders')).text).toContain(`SO-${api.eshop.eshopId}`);
    expect((await mine.ask(`/console/orders?eshop=${second.eshopId}`)).text).toContain(
      `SO-${second.eshopId}`,
    );
    const again = await mine.ask('/console/orders');
    expect(again.text).toContain(`SO-${second.eshopId}`);
    expect(again.text).not.toContain(`SO-${api.eshop.eshopId}`);
  });

  test('a webhook, a delivery or an event selects its e-shop', async () => {
    const mine = await signedIn();
    const [event] = await api.sql<{ id: string }[]>`select id from events where eshop_id = ${second.eshopId}`;
    for (const path of [
      `/console/webhooks/${of(webhooks, second)}`,
      `/console/deliveries/${of(deliveries, second)}`,
      `/console/events/${event?.id}`,
    ]) {
      await mine.ask(`/console?eshop=${api.eshop.eshopId}`);
      expect((await mine.ask(path)).status).toBe(200);
    }
  });

  test('a live page keeps showing its own e-shop', async () => {
    const mine = await signedIn();
    await mine.ask(`/console?eshop=${second.eshopId}`);
    const live = { 'hx-request': 'true', 'x-waybill-eshop': String(api.eshop.eshopId) };
    const answer = await mine.ask('/console/webhooks', undefined, live);
    expect(answer.text).toContain(`shop-${api.eshop.eshopId}.example`);
    expect(answer.set).toEqual([]);
  });

  test('a live page never switches to another e-shop when its own is taken away', async () => {
    const mine = await signedIn();
    const live = { 'hx-request': 'true', 'x-waybill-eshop': String(second.eshopId) };
    expect((await mine.ask('/console/webhooks', undefined, live)).text).toContain(
      `shop-${second.eshopId}.example`,
    );
    await seen('--remove', String(second.eshopId));
    const answer = await mine.ask('/console/webhooks', undefined, live);
    expect([answer.status, answer.text.includes(`shop-${api.eshop.eshopId}.example`)]).toEqual([404, false]);
  });

  test('a form changes nothing if another e-shop has been selected since', async () => {
    const mine = await signedIn();
    const form = await mine.ask(`/console/webhooks/new?eshop=${api.eshop.eshopId}`);
    await mine.ask(`/console?eshop=${second.eshopId}`);
    const webhook = { url: 'https://x.example/', webhookType: 'CREATE_ORDER', method: 'POST' };
    const answer = await mine.ask('/console/webhooks', { csrf: form.csrf, ...webhook });
    expect(answer.status).toBe(409);
    expect((await second.shop.request('GET', '/v21/webhooks')).data).toHaveLength(1);
  });
});

describe('e-shops of others', () => {
  const paths = () => [
    `/console?eshop=${stranger.eshopId}`,
    `/console/webhooks/${of(webhooks, stranger)}`,
    `/console/deliveries/${of(deliveries, stranger)}`,
    '/console/orders?eshop=999999',
  ];

  test('other e-shops get the same 404 as unknown ones', async () => {
    const mine = await signedIn();
    for (const path of paths()) expect([path, (await mine.ask(path)).status]).toEqual([path, 404]);
  });

  test('other e-shops cannot be reached by a header or a cookie', async () => {
    const mine = await signedIn();
    mine.cookies.set('waybill_eshop', String(stranger.eshopId));
    const header = { 'hx-request': 'true', 'x-waybill-eshop': String(stranger.eshopId) };
    for (const headers of [{}, header]) {
      const { text } = await mine.ask('/console/webhooks', undefined, headers);
      expect(text).not.toContain(`shop-${stranger.eshopId}.example`);
    }
  });

  test('other e-shops are in no list, and no action reaches their deliveries', async () => {
    const mine = await signedIn();
    for (const path of ['/console/all', '/console/all/deliveries', '/console/all/webhooks']) {
      const { status, text } = await mine.ask(`${path}?among=${stranger.eshopId}`);
      expect(status).toBe(200);
      expect(text).not.toContain(`shop-${stranger.eshopId}.example`);
      expect(text).not.toContain(`SO-${stranger.eshopId}`);
    }
    const { csrf } = await mine.ask('/console/all/deliveries');
    const chosen = {
      [`chosen-${of(deliveries, stranger)}`]: 'true',
      [`chosen-${of(deliveries, second)}`]: 'true',
    };
    const answer = await mine.ask('/console/all/deliveries/act', {
      csrf,
      action: 'hold',
      reason: 'stock-taking',
      ...chosen,
    });
    expect(answer.text).toContain('Done: 1 of 2 deliveries.');
    const again = await mine.ask('/console/all/deliveries');
    const none = await mine.ask('/console/all/deliveries/act', {
      csrf: again.csrf,
      action: 'hold',
      reason: '',
    });
    expect([none.status, none.text]).toEqual([400, expect.stringContaining('Select at least one delivery.')]);
    expect(requested).toEqual([`hold ${of(deliveries, second)} ${worker.username} stock-taking`]);
  });

  test('a user of an e-shop sees that one alone, and no link to Temporal', async () => {
    const mine = await signedIn(developer);
    await api.sql`
      insert into user_eshops (user_id, eshop_id)
      select id, ${second.eshopId} from users where eshop_id = ${developer.eshopId} and username = ${developer.username}`;
    const missing = [
      '/console/all',
      '/console/all/deliveries',
      '/console/all/webhooks',
      `/console?eshop=${second.eshopId}`,
    ];
    for (const path of missing) expect([path, (await mine.ask(path)).status]).toEqual([path, 404]);
    for (const path of [
      '/console',
      `/console/webhooks/${of(webhooks, api.eshop)}`,
      `/console/deliveries/${of(deliveries, api.eshop)}`,
    ]) {
      const { status, text } = await mine.ask(path);
      expect(status).toBe(200);
      expect(text).not.toContain(UI);
      expect(text).not.toContain('Current e-shop');
    }
  });
});

describe('all e-shops together', () => {
  test('lists name the e-shop of each row, and are filtered by e-shop, webhook, identifier and receiver', async () => {
    const mine = await signedIn();
    const found = async (query: string) => {
      const { text } = await mine.ask(`/console/all/deliveries?${query}`);
      return [api.eshop, second].map(({ eshopId }) => text.includes(`SO-${eshopId}`));
    };
    const { text } = await mine.ask('/console/all/deliveries');
    expect(text).toContain(`<span class="eshop">${second.eshopId} · Test shop</span>`);
    expect(await found('')).toEqual([true, true]);
    // None has been attempted and none is held: trying now is needless, resuming would be refused.
    expect([...text.matchAll(/name="action" value="(\w+)"/g)].map(([, action]) => action)).toEqual([
      'hold',
      'giveUp',
    ]);
    expect(await found(`among=${second.eshopId}`)).toEqual([false, true]);
    expect(await found(`webhookId=${of(webhooks, api.eshop)}`)).toEqual([true, false]);
    expect(await found(`receiver=shop-${second.eshopId}.example`)).toEqual([false, true]);
    expect(await found(`entityId=SO-${api.eshop.eshopId}&state=pending`)).toEqual([true, false]);
    expect(await found('state=failed')).toEqual([false, false]);
    expect(await found('lastStatus=&attempts=any')).toEqual([true, true]);
    expect(await found('lastStatus=4xx&attempts=any')).toEqual([false, false]);
    expect((await mine.ask('/console/all/deliveries?lastStatus=40')).status).toBe(400);
    for (const [query, shown] of [
      ['lastStatus=&attempts=any', true],
      ['lastStatus=none&attempts=', false],
    ] as const) {
      const { text } = await mine.ask(`/console/deliveries?eshop=${second.eshopId}&${query}`);
      expect(text.includes(`SO-${second.eshopId}`), query).toBe(shown);
    }
  });

  test('lists are filtered by time and type, and each page leads to older deliveries', async () => {
    const mine = await signedIn();
    const webhook = of(webhooks, second);
    const begin = Math.floor(Date.now() / 60_000 - 60) * 60_000;
    const many = Array.from({ length: 150 }, (_, n) => uuidv7({ msecs: begin + n * 1_000 }));
    await sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, finished_at)
      select id, id, ${second.eshopId}, ${webhook}, 'CREATE_ORDER', 'old-' || n, 'failed', now()
      from unnest(${many}::uuid[]) with ordinality x (id, n)`;
    const found = async (query: string) => {
      const { text } = await mine.ask(`/console/all/deliveries?state=failed&${query}`);
      const [, older = ''] = /[?&;]before=([\w-]+)" rel="next"/.exec(text) ?? [];
      const numbers = [...text.matchAll(/<span class="quiet">old-(\d+)</g)].map(([, n]) => Number(n));
      return { numbers, older, newest: text.includes('>Newest<') };
    };
    const upTo = (last: number, first: number) =>
      Array.from({ length: last - first + 1 }, (_, n) => last - n);
    const newest = await found('');
    expect(newest).toEqual({ numbers: upTo(150, 51), older: many[50], newest: false });
    expect(await found(`before=${newest.older}`)).toEqual({ numbers: upTo(50, 1), older: '', newest: true });
    const minute = (n: number) => new Date(begin + n * 60_000).toISOString().slice(0, 16);
    expect((await found(`since=${minute(1)}&until=${minute(2)}`)).numbers).toEqual(upTo(120, 61));
    expect((await found(`until=${minute(1)}&webhookType=CREATE_ORDER`)).numbers).toEqual(upTo(60, 1));
    expect((await found('webhookType=CREATE_PRODUCT')).numbers).toEqual([]);
    for (const wrong of [
      'since=yesterday',
      'until=2026-11-20',
      'webhookType=ORDER',
      'among=x',
      'lastStatus=4',
    ]) {
      const { status, text } = await mine.ask(`/console/all/deliveries?${wrong}`);
      expect(status, wrong).toBe(400);
      expect(text).toContain(`id="${wrong.split('=')[0]}-problem">Must be `);
    }
    expect((await mine.ask('/console/all/deliveries?before=x')).text).toContain('before: must be a UUID');
    await sql`delete from deliveries where id = any(${many}::uuid[])`;
  });

  test('open deliveries are counted by the states of the lists, even for a paused webhook', async () => {
    const mine = await signedIn();
    const webhook = of(webhooks, second);
    const counts = async () => {
      const [all, list] = [await overview(), await mine.ask('/console/all/webhooks')];
      const rows = all.text.split('<tr>');
      const row = rows.find((each) => each.includes(`/console?eshop=${second.eshopId}"`)) ?? '';
      const found = [...row.matchAll(/\/all\/deliveries\?among=\d+&amp;state=(\w+)">(\d+)</g)];
      const texts = found.map(([, state, count]) => `${count} ${state}`);
      for (const text of texts) expect(list.text).toContain(`<span>${text}</span>`);
      return texts;
    };
    const is = (state: string, stop: string | null) => sql`
      update deliveries set state = ${state}, operator_stop = ${stop} where webhook_id = ${webhook}`;
    expect(await counts()).toEqual(['1 pending']);
    await is('pending', 'hold');
    expect(await counts()).toEqual(['1 held']);
    await is('retrying', null);
    expect(await counts()).toEqual(['1 retrying']);
    await is('retrying', 'hold');
    expect(await counts()).toEqual(['1 held']);
    await second.shop.request('PUT', `/v21/webhooks/${webhook}/pause`);
    expect(await counts()).toEqual(['1 held']);
    await is('pending', null);
    expect(await counts()).toEqual(['1 held']);
    await second.shop.request('PUT', `/v21/webhooks/${webhook}/resume`);
    expect(await counts()).toEqual(['1 pending']);
  });

  test('a failing webhook of any e-shop is shown at once', async () => {
    const mine = await signedIn();
    const webhook = of(webhooks, second);
    await api.sql`
      insert into failures (webhook_id, generation, failures, since, until, last_error)
      values (${webhook}, 1, 3, now() - interval '2 minutes', now(), 'HTTP 503 from the receiver')`;
    const { text } = await overview();
    expect(text).toContain(`shop-${second.eshopId}.example`);
    expect(text).toContain(` of e-shop ${second.eshopId} · `);
    expect(text).toContain('HTTP 503 from the receiver');
    expect((await mine.ask('/console/all/webhooks?trouble=true')).text).toContain(`#${webhook}`);
    expect((await mine.ask('/console/all/webhooks?trouble=true')).text).not.toContain(
      `#${of(webhooks, api.eshop)}<`,
    );
    // Nobody has to act while it is paused.
    await second.shop.request('PUT', `/v21/webhooks/${webhook}/pause`);
    expect((await overview()).text).toContain('None: no active webhook is failing.');
    expect((await mine.ask('/console/all/webhooks?trouble=true')).text).not.toContain(`#${webhook}`);
    expect((await readIncidents(api.sql)).webhooks).toBe(0);
    await second.shop.request('PUT', `/v21/webhooks/${webhook}/resume`);
  });

  test('an invalid filter is refused instead of matching nothing', async () => {
    const mine = await signedIn();
    const { status, text } = await mine.ask('/console/all/webhooks?among=abc');
    expect(status).toBe(400);
    expect(text).toContain('id="among-problem">Must be a number.');
  });

  test('links lead to a workflow in Temporal, and to lists of these e-shops only', async () => {
    const mine = await signedIn();
    const linksIn = (text: string) =>
      [...text.matchAll(/href="(http:\/\/temporal\.example[^"]+)"/g)].map(([, url = '']) =>
        decodeURIComponent(url.replaceAll('&amp;', '&')),
      );
    const ids = `EshopId IN (${api.eshop.eshopId}, ${second.eshopId})`;
    expect(linksIn((await mine.ask('/console/all')).text)).toEqual([
      `${UI}/namespaces/default/workflows?query=(ExecutionStatus = "Running" AND DeliveryState = "retrying") AND ${ids}`,
      `${UI}/namespaces/default/workflows?query=(ExecutionStatus = "Running" AND DeliveryState = "held") AND ${ids}`,
    ]);
    const [workflow, ...lists] = linksIn(
      (await mine.ask(`/console/deliveries/${of(deliveries, second)}`)).text,
    );
    expect(workflow).toContain(of(deliveries, second));
    expect(lists).toHaveLength(2);
    for (const list of lists) expect(list).toContain(`EshopId IN (${second.eshopId})`);
    const [webhook = ''] = linksIn((await mine.ask(`/console/webhooks/${of(webhooks, second)}`)).text);
    expect(webhook).toContain(`WebhookId = ${of(webhooks, second)}`);
  });

  test('a bulk action runs a few at a time, and stops once one gets no response', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `SO-many-${n}`);
    for (const name of names) await second.shop.request('POST', '/v21/orders', minimalOrder(name));
    const rows = await sql<{ id: string }[]>`select id from deliveries where entity_id = any(${names})`;
    const mine = await signedIn();
    const { csrf } = await mine.ask('/console/all/deliveries');
    const chosen = Object.fromEntries(rows.map(({ id }) => [`chosen-${id}`, 'true']));
    const act = { csrf, action: 'hold', reason: 'no worker', ...chosen };
    const { text } = await mine.ask('/console/all/deliveries/act', act);
    expect(text).toContain('Done: 0 of 8 deliveries.');
    expect(text.match(/Not asked: an earlier request got no answer\./g)).toHaveLength(3);
    expect(requested).toHaveLength(5);
  });
});

describe('waybill user eshops', () => {
  test('the command grants and revokes e-shops, at once even for a signed-in user', async () => {
    const mine = await signedIn();
    expect((await mine.ask('/console/all')).status).toBe(200);
    expect(JSON.parse(await seen('--remove', String(second.eshopId), '--json'))).toEqual({
      eshopId: worker.eshopId,
      username: worker.username,
      eshops: [worker.eshopId],
    });
    expect((await mine.ask('/console/all')).status).toBe(404);
    expect((await mine.ask(`/console/webhooks/${of(webhooks, second)}`)).status).toBe(404);
  });

  test('a disabled e-shop is not visible from another', async () => {
    const mine = await signedIn();
    await waybill('eshop', 'disable', '--eshop', String(second.eshopId));
    expect((await mine.ask(`/console?eshop=${second.eshopId}`)).status).toBe(404);
    await waybill('eshop', 'enable', '--eshop', String(second.eshopId));
    expect((await mine.ask(`/console?eshop=${second.eshopId}`)).status).toBe(200);
  });

  test.each([
    [() => ['--username', 'nobody'], 'has no user "nobody"'],
    [() => ['--username', developer.username, '--add', String(second.eshopId)], 'only warehouse users'],
    [() => ['--username', worker.username, '--add', '999999'], 'E-shop 999999 does not exist'],
    [() => ['--username', worker.username, '--add', 'a'], '--add must be the numbers of e-shops'],
  ])('the command refuses invalid arguments in a sentence (%#)', async (given, message) => {
    const args = ['user', 'eshops', '--eshop', String(worker.eshopId), ...given()];
    const { error, code } = await triedWaybill(args, { DATABASE_URL: api.database.url });
    expect([error?.includes(message), code]).toEqual([true, 1]);
  });
});
