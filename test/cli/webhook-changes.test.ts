/** The commands that change, test and examine a webhook, on a real database, worker and receiver. */
import { beforeEach, describe, expect, it } from 'vitest';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { runWaybill, triedWaybill } from '../support/programs/waybill-command.ts';

const stack = await stackOfFile('webhook-changes');
const receiver = await receiverOfFile();
const env: Record<string, string> = {
  DATABASE_URL: stack.database.url,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
};
beforeEach(async () => {
  await stack.retireWebhooks();
  receiver.clear();
  receiver.respond({});
});

const waybill = (...args: string[]) => runWaybill(['webhooks', ...args], env);

describe('webhooks activate and deactivate', () => {
  const named = (id: number) => `Webhook ${id} of e-shop ${stack.eshopId} (Shop), ${receiver.url}/hook,`;

  it('hold and resume open deliveries, and name the webhook and its e-shop', async () => {
    const { id } = await stack.createWebhook(`${receiver.url}/hook?token=hidden`);
    expect(await waybill('deactivate', String(id))).toBe(
      `${named(id)} is inactive. Its open deliveries are held: 0.`,
    );
    expect((await stack.webhook(id)).active).toBe(false);
    expect(await waybill('deactivate', String(id))).toBe(
      `${named(id)} is already inactive. Nothing was changed.`,
    );
    expect(await waybill('activate', String(id))).toBe(
      `${named(id)} is active. Its open deliveries resume: 0.`,
    );

    receiver.respond({ status: 503, headers: { 'retry-after': '30' } });
    const delivery = await stack.fireOne('is held');
    await receiver.waitFor(1);
    await stack.untilState(delivery, 'retrying');
    expect(await waybill('deactivate', String(id))).toBe(
      `${named(id)} is inactive. Its open deliveries are held: 1.`,
    );
    await stack.untilHeld(delivery);
    await stack.until('the line of the log', async () =>
      stack.logged.some(
        ({ msg, webhookId, active }) =>
          msg === 'passing a change to a webhook on to its open deliveries' &&
          webhookId === id &&
          active === false,
      ),
    );
    receiver.respond({});
    const changed = await waybill('activate', String(id), '--json');
    expect(JSON.parse(changed)).toEqual({
      webhookId: id,
      eshopId: stack.eshopId,
      url: `${receiver.url}/hook`,
      openDeliveries: 1,
      active: true,
      changed: true,
    });
    await stack.untilState(delivery, 'delivered');
  });

  it('activate takes several ids, and continues after an unknown one', async () => {
    const hooks = [
      await stack.createWebhook(`${receiver.url}/hook`),
      await stack.createWebhook(`${receiver.url}/hook`),
    ];
    const ids = hooks.map(({ id }) => String(id));
    for (const id of ids) await waybill('deactivate', id);
    expect(await waybill('activate', ...ids)).toMatch(/ is active\..*\n.* is active\./);
    for (const { id } of hooks) expect((await stack.webhook(id)).active).toBe(true);
    for (const id of ids) await waybill('deactivate', id);
    expect(await triedWaybill(['webhooks', 'activate', '999999', ...ids, '999998'], env)).toEqual({
      printed: expect.stringMatching(/^Webhook .* is active\..*\nWebhook .* is active\..*$/),
      error: 'There is no webhook 999999.\nThere is no webhook 999998.',
      code: 2,
    });
    for (const { id } of hooks) expect((await stack.webhook(id)).active).toBe(true);
  });

  it('deactivate has a dry run, and asks for confirmation beyond a thousand open deliveries', async () => {
    const { id } = await stack.createWebhook(`${receiver.url}/hook?token=hidden`);
    receiver.respond({ status: 503, headers: { 'retry-after': '30' } });
    const delivery = await stack.fireOne('stays');
    await stack.untilState(delivery, 'retrying');
    expect(await waybill('deactivate', String(id), '--dry-run')).toBe(
      `${named(id)} would be deactivated. Its open deliveries would be held: 1. Nothing was changed (dry run).`,
    );
    const answer = JSON.parse(await waybill('deactivate', String(id), '--dry-run', '--json'));
    expect(answer).toMatchObject({ webhookId: id, openDeliveries: 1, active: true, changed: false });
    await stack.sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, due_at)
      select overlay(d.id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, d.event_id, d.eshop_id, d.webhook_id, d.event_type, n::text,
        now() + interval '1 hour'
      from deliveries d, generate_series(1, 1000) n where d.id = ${delivery}`;
    await expect(waybill('deactivate', String(id))).rejects.toThrow(
      `${named(id)} has 1001 open deliveries, whose time limit goes on while it is inactive. Use --yes to deactivate it.`,
    );
    expect((await stack.webhook(id)).active).toBe(true);
    await stack.sql`delete from deliveries where webhook_id = ${id} and id <> ${delivery}`;
    expect(await waybill('deactivate', String(id), '--yes')).toMatch(/ is inactive\./);
  });

  it('pause holds until a time, resume ends it, and lists show it', async () => {
    const { id } = await stack.createWebhook(receiver.url);
    const until = new Date(Date.now() + 3_600_000);
    const minute = until.toISOString().slice(0, 16).replace('T', ' ');
    expect(await waybill('pause', String(id), '--until', until.toISOString())).toBe(
      `Webhook ${id} of e-shop ${stack.eshopId} (Shop), ${receiver.url}/, is paused until ${minute}Z. Its open deliveries are held, and continue automatically then: 0.`,
    );
    const pausedUntil = async () => JSON.parse(await waybill('show', String(id), '--json')).pausedUntil;
    expect(await pausedUntil()).toBe(until.toISOString());
    expect(await waybill('list')).toContain(`paused until ${minute}`);
    const paused = async () =>
      JSON.parse(await waybill('list', '--paused', '--json')).map(
        ({ webhookId }: { webhookId: number }) => webhookId,
      );
    expect(await paused()).toEqual([id]);
    expect(await waybill('show', String(id))).toContain(`paused until ${minute}`);
    expect(await waybill('resume', String(id))).toBe(
      `Webhook ${id} of e-shop ${stack.eshopId} (Shop), ${receiver.url}/, is no longer paused. Its open deliveries continue: 0.`,
    );
    expect(await paused()).toEqual([]);
    expect(await waybill('resume', String(id))).toBe(
      `Webhook ${id} of e-shop ${stack.eshopId} (Shop), ${receiver.url}/, is not paused. Nothing was changed.`,
    );
    const longest: unknown = JSON.parse(await waybill('pause', String(id), '--json'));
    expect(longest).toEqual({
      webhookId: id,
      eshopId: stack.eshopId,
      url: `${receiver.url}/`,
      openDeliveries: 0,
      pausedUntil: await pausedUntil(),
    });
    await expect(waybill('pause', String(id), '--until', '2020-01-01')).rejects.toThrow(
      /^--until must be in the future, and at most 7 days ahead\.$/,
    );
    await waybill('deactivate', String(id));
    await expect(waybill('pause', String(id))).rejects.toThrow(`Webhook ${id} is inactive`);
    expect(JSON.parse(await waybill('resume', String(id), '--json'))).toEqual({
      webhookId: id,
      eshopId: stack.eshopId,
      url: `${receiver.url}/`,
      openDeliveries: 0,
      changed: false,
    });
    await expect(waybill('pause', '999999')).rejects.toThrow('There is no webhook 999999.');
    await expect(waybill('resume', '999999')).rejects.toThrow('There is no webhook 999999.');
  });

  it('an unknown webhook is reported', async () => {
    await expect(waybill('activate', '999999')).rejects.toThrow('There is no webhook 999999.');
    await expect(waybill('deactivate', 'x')).rejects.toThrow('<id> must be the number of a webhook.');
  });
});

describe('examine', () => {
  it('prints a table, and its exit code says whether a check failed', async () => {
    const { id } = await stack.createWebhook(receiver.url);
    const bad = await triedWaybill(['examine', String(id)], env);
    expect(bad.code).toBe(2);
    expect(bad.error).toBe(`The receiver of webhook ${id} has 4 faults.`);
    expect(bad.printed).toMatch(/^FAIL {5}no signature +200$/m);
    expect(bad.printed).toMatch(/\n4 failed, 1 with a warning, 9 ok\.$/);
    receiver.respond({ status: 503 });
    const { printed } = await triedWaybill(['examine', String(id), '--json'], env);
    expect(JSON.parse(printed)).toMatchObject({ rows: expect.any(Array), answerMs: expect.any(Number) });
    await stack.database.sql`
      update examinations set busy_until = now() + interval '1 minute' where webhook_id = ${id}`;
    const busy = await triedWaybill(['examine', String(id)], env);
    expect([busy.code, busy.error]).toEqual([1, `Webhook ${id} is being examined. Wait for the result.`]);
  });
});

it('an interrupted examination releases its webhook', async () => {
  const { id } = await stack.createWebhook(receiver.url);
  receiver.respond({ hang: 'headers' });
  const running = triedWaybill(['examine', String(id)], env);
  await receiver.waitFor(1);
  process.emit('SIGINT');
  expect(await running).toEqual({
    code: 130,
    printed: '',
    error: `Stopped. Webhook ${id} can be examined again.`,
  });
  const [row] = await stack.database.sql`select busy_until from examinations where webhook_id = ${id}`;
  expect(row).toEqual({ busyUntil: null });
});

describe('webhooks test', () => {
  it('prints request and response, also for an inactive webhook', async () => {
    const { id } = await stack.createWebhook(`${receiver.url}/hook`, { active: false });
    receiver.respond({ status: 202, body: 'thank you', headers: { 'content-type': 'text/plain' } });
    const text = await waybill('test', String(id));
    const [request] = receiver.requests;
    expect(request?.headers['x-service-test']).toBe('true');
    const lines = text.split('\n');
    expect(lines[0]).toBe(`POST ${receiver.url}/hook`);
    expect(lines).toContain(`x-service-signature: ${request?.headers['x-service-signature']}`);
    expect(lines).toContain(request?.text);
    expect(text).toMatch(/\n\nHTTP 202 after \d+ ms\n(.+\n)*content-type: text\/plain\n(.+\n)*\nthank you$/);
    expect((await stack.webhook(id)).active).toBe(false);
  });

  it.each([
    ['success', 200, 0],
    ['failure', 503, 2],
    ['gone', 410, 2],
  ] as const)('%s sets the exit code', async (outcome, status, exitCode) => {
    const { id } = await stack.createWebhook(receiver.url);
    receiver.respond({ status });
    const { printed, error, code } = await triedWaybill(['webhooks', 'test', String(id), '--json'], env);
    expect(JSON.parse(printed)).toMatchObject({ outcome, response: { status } });
    expect(code).toBe(exitCode);
    if (exitCode > 0) expect(error).toMatch(new RegExp(`^HTTP ${status}.* from 127`));
    expect(await stack.webhook(id)).toMatchObject({ active: true });
  });

  it('refuses addresses that deliveries refuse', async () => {
    const { id } = await stack.createWebhook(receiver.url);
    const nothingExempt = { ...env, DELIVERY_ALLOW_CIDRS: '' };
    const { error, code } = await triedWaybill(['webhooks', 'test', String(id)], nothingExempt);
    expect(error).toMatch(/127\.0\.0\.1.*loopback/);
    expect(code).toBe(2);
    expect(receiver.requests).toEqual([]);
  });

  it('says that the key is missing or wrong', async () => {
    const { id } = await stack.createWebhook(receiver.url);
    const { error, code } = await triedWaybill(['webhooks', 'test', String(id)], {
      DATABASE_URL: stack.database.url,
    });
    expect(error).toMatch(/^SECRET_KEY must be set if DATABASE_URL is set/);
    expect(code).toBe(1);
    const wrong = { ...env, SECRET_KEY: Buffer.alloc(32, 8).toString('base64') };
    expect((await triedWaybill(['webhooks', 'test', String(id)], wrong)).error).toMatch(
      /^The secret of webhook \d+ cannot be opened: /,
    );
  });
});

describe('webhooks create', () => {
  const create = (...args: string[]) =>
    waybill('create', '--eshop', String(stack.eshopId), '--url', `${receiver.url}/made`, ...args);

  it('creates one webhook for all order events, once, whose types can all be tested', async () => {
    const {
      webhookId: id,
      outcome,
      secret,
    } = JSON.parse(await create('--types', 'orders,CREATE_RETURN', '--json'));
    expect({ outcome, secret }).toEqual({ outcome: 'created', secret: expect.stringMatching(/^whsec_/) });
    const shown = await waybill('show', String(id));
    expect(shown).toMatch(/^Types +CREATE_ORDER, UPDATE_ORDER, UPDATE_ORDER_STATUS, CREATE_RETURN$/m);
    expect(await waybill('list')).toContain('CREATE_ORDER and 3 more');
    expect(JSON.parse(await waybill('list', '--type', 'CREATE_RETURN', '--json'))).toMatchObject([
      { webhookId: id, additionalTypes: ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS', 'CREATE_RETURN'] },
    ]);
    expect(await create('--types', 'UPDATE_ORDER')).toBe(`Not created: webhook ${id} exists already.`);

    await waybill('test', String(id), '--type', 'CREATE_RETURN');
    expect(receiver.requests.at(-1)?.headers['x-service-event']).toBe('CREATE_RETURN');
    await expect(waybill('test', String(id), '--type', 'CREATE_PRODUCT')).rejects.toThrow(
      `type: must be one of the types of webhook ${id}: CREATE_ORDER, UPDATE_ORDER, UPDATE_ORDER_STATUS, CREATE_RETURN`,
    );
  });

  it('takes every field that an import takes', async () => {
    const made = await create(
      ...['--types', 'UPDATE_PRODUCT', '--parameters', 'onStockChange', '--skip-own', '--asymmetric'],
      ...['--headers', '{"X-Gateway-Key":"a key"}', '--secret', 'a secret that our receiver knows'],
      ...['--payload-version', 'v21', '--ordering', 'latest', '--description', 'ERP', '--inactive'],
    );
    expect(made).toMatch(/^Secret +your own$/m);
    expect(made).not.toContain('our receiver');
    const [, id = ''] = /^Webhook +(\d+)$/m.exec(made) ?? [];
    const shown = await waybill('show', id);
    for (const fact of [
      /^Payload +v21$/m,
      /^Ordering +latest$/m,
      /^Changes to stock +yes$/m,
      /^Own changes +left out$/m,
      /^Signatures +also with the key of the e-shop/m,
      /^Static headers +X-Gateway-Key$/m,
      /^Description +ERP$/m,
      /^State +inactive: never activated$/m,
    ])
      expect(shown).toMatch(fact);
    await waybill('test', id);
    expect(receiver.requests.at(-1)?.headers).toMatchObject({
      'x-gateway-key': 'a key',
      'webhook-signature': expect.stringContaining(' v1a,'),
    });
    await expect(create('--types', 'CREATE_RETURN', '--headers', '{')).rejects.toThrow(
      '--headers must be JSON',
    );
    await expect(create('--types', 'CREATE_RETURN', '--parameters', 'all')).rejects.toThrow(
      'parameters.all: unknown field',
    );
  });

  it('mistakes are reported in one sentence', async () => {
    await expect(create('--types', 'order')).rejects.toThrow(
      '--types must be event types such as CREATE_ORDER',
    );
    await expect(create('--types', 'stock-movements', '--ordering', 'latest')).rejects.toThrow(
      'ordering: latest',
    );
  });
});
