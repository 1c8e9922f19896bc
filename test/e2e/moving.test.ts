/**
 * The move of docs/handbook/moving.md with the real program: e-shops, users and webhooks of three other systems; and
 * an e-shop that is cut over and goes back, while another stays.
 */
import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type ApiClient, login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const receiver = await receiverOfFile();
const directory = await folderOfFile('waybill-move-');
const program = await programOfFile(installation.env);

const newKey = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Runs an import of these values, one per line; answers their results. */
async function imported(command: string, values: readonly unknown[], ...options: string[]) {
  const file = join(directory, command);
  await writeFile(file, values.map((value) => JSON.stringify(value)).join('\n'));
  const { printed } = await triedWaybill([command, file, '--json', ...options], installation.env);
  return printed.split('\n').map((line) => JSON.parse(line));
}

/** An e-shop known to the old system, with a user who signs in with the existing credentials. */
async function newShops(
  names: readonly string[],
): Promise<{ eshop: number; signIn: () => Promise<ApiClient> }[]> {
  const made = await imported(
    'import-eshops',
    names.map((name) => ({
      name,
      email: 'shop@example.com',
      apiKeyHash: createHash('sha256').update(`key of ${name}`).digest('hex'),
      users: [{ username: 'shop', role: 'shop' }],
    })),
  );
  return made.map(({ eshop, users }, index) => ({
    eshop,
    signIn: () =>
      login(program.url, {
        eshopId: eshop,
        apiKey: `key of ${names[index]}`,
        username: 'shop',
        password: users[0].password,
        warehouse: { username: '', password: '' },
      }),
  }));
}

const TYPES = {
  'order.created': 'CREATE_ORDER',
  'order.updated': 'UPDATE_ORDER',
  'order.status': 'UPDATE_ORDER_STATUS',
  'product.created': 'CREATE_PRODUCT',
  'product.updated': 'UPDATE_PRODUCT',
} as const;

test('exports of Svix, Convoy and Outpost become 40 webhooks of 20 e-shops', async () => {
  const customers = Array.from({ length: 20 }, (_, index) => `customer-${index}`);
  const shops = await newShops(customers);
  const map = join(directory, 'map.json');
  const eshops = Object.fromEntries(customers.map((name, index) => [name, shops[index]?.eshop]));
  await writeFile(map, JSON.stringify({ types: TYPES, eshops }));
  const names = Object.keys(TYPES);
  const at = (customer: string, place: string) => `${receiver.url}/${customer}/${place}`;
  const [svix, convoy, outpost] = [customers.slice(0, 7), customers.slice(7, 14), customers.slice(14)];
  const files = {
    // Two endpoints of five types each, and one type that is unknown here.
    svix: svix.map((customer) => ({
      data: ['a', 'b'].map((place) => ({
        id: `ep_${place}`,
        appId: customer,
        url: at(customer, place),
        description: '',
        filterTypes: place === 'a' ? [...names, 'invoice.paid'] : names,
        channels: place === 'a' ? ['tenant'] : null,
        throttleRate: null,
        disabled: false,
        version: 1,
        secret: { key: newKey() },
        headers: { headers: { 'X-Gateway': 'a' }, sensitive: place === 'b' ? ['X-Key'] : [] },
      })),
      iterator: null,
      done: true,
    })),
    // Ten subscriptions of one type each.
    convoy: convoy.map((customer) => ({
      status: true,
      message: 'Subscriptions fetched successfully',
      data: {
        content: Array.from({ length: 10 }, (_, index) => ({
          uid: `sub_${index}`,
          filter_config: { event_types: [names[index % 5]], filter: index === 0 ? { a: 1 } : {} },
          endpoint_metadata: {
            uid: index < 5 ? 'ep_a' : 'ep_b',
            url: at(customer, index < 5 ? 'a' : 'b'),
            name: customer,
            owner_id: customer,
            status: 'active',
            rate_limit: index === 1 ? 100 : 0,
            secrets: [{ uid: 's', value: `${customer} 8IX9njirDG6uOGtc` }],
          },
        })),
      },
    })),
    // Two destinations of all types, and one that is not a webhook.
    outpost: outpost.map((customer) => [
      ...['a', 'b'].map((place) => ({
        id: `des_${place}`,
        tenant_id: customer,
        type: 'webhook',
        topics: '*',
        disabled_at: null,
        config: { url: at(customer, place) },
        credentials: { secret: newKey() },
      })),
      {
        id: 'des_q',
        tenant_id: customer,
        type: 'aws_sqs',
        topics: '*',
        disabled_at: null,
        config: { queue_url: 'https://sqs.example' },
      },
    ]),
  };
  const counted = async () => {
    const counts = { created: 0, skipped: 0, refused: 0, unmapped: 0 };
    for (const [system, values] of Object.entries(files)) {
      const results = await imported('import-webhooks', values, '--from', system, '--map', map);
      for (const { outcome } of results as { outcome: keyof typeof counts }[]) counts[outcome] += 1;
    }
    return counts;
  };
  expect(await counted()).toEqual({ created: 40, skipped: 0, refused: 6, unmapped: 7 * 3 + 7 * 2 });
  expect(await counted()).toMatchObject({ created: 0, skipped: 40 });

  for (const customer of [0, 7, 14]) {
    const shop = await shops[customer]?.signIn();
    await shop?.request('POST', '/products', { sku: `TEA-${customer}`, name: 'Tea' });
    for (const place of ['a', 'b'])
      await receiver.waitFor(({ path }) => path === `/customer-${customer}/${place}`);
  }
});

test('an e-shop is cut over and goes back, without a lost or repeated event', async () => {
  receiver.clear();
  const [moving, staying] = await newShops(['moving', 'staying']);
  if (moving === undefined || staying === undefined) throw new Error('There are no e-shops.');
  const secrets = new Map([
    ['moving', newKey()],
    ['staying', newKey()],
  ]);
  const clients = new Map([
    ['moving', await moving.signIn()],
    ['staying', await staying.signIn()],
  ]);
  const made = await imported(
    'import-webhooks',
    [moving, staying].map(({ eshop }, index) => {
      const name = index === 0 ? 'moving' : 'staying';
      const url = `${receiver.url}/${name}`;
      return {
        eshop,
        url,
        webhookType: 'CREATE_PRODUCT',
        method: 'POST',
        active: false,
        secret: secrets.get(name),
      };
    }),
  );
  const id = String(made[0].id);
  const waybill = (...words: string[]) => triedWaybill(words, installation.env);

  /** The other sender: signs as Standard Webhooks do, keeps its events, and can send them again. */
  const old = { active: new Set(['moving', 'staying']), log: [] as { name: string; sku: string }[] };
  const sendOld = async ({ name, sku }: { name: string; sku: string }) => {
    const [messageId, at, text] = [`old_${sku}`, new Date(), JSON.stringify({ sku })];
    await fetch(`${receiver.url}/${name}`, {
      method: 'POST',
      body: text,
      headers: {
        'webhook-id': messageId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secrets.get(name) ?? '').sign(messageId, at, text),
      },
    });
  };
  const skus: string[] = [];
  /** Something happens in the warehouse, and both systems learn of it. */
  const happen = async (what: string) => {
    for (const [name, client] of clients) {
      const sku = `${name}-${what}`;
      skus.push(sku);
      old.log.push({ name, sku });
      expect(await client.request('POST', '/products', { sku, name: 'Tea' })).toMatchObject({
        statusCode: 200,
      });
      if (old.active.has(name)) await sendOld({ name, sku });
    }
  };

  await happen('before');
  const since = new Date();
  old.active.delete('moving');
  await happen('in the gap');
  await waybill('webhooks', 'activate', id);
  expect(await waybill('recover', id, '--since', since.toISOString(), '--include', 'missed')).toMatchObject({
    code: 0,
  });
  await happen('after');
  const arrived = (sku: string) => receiver.requests.filter(({ text }) => JSON.parse(text).sku === sku);
  await until('what Waybill sends', async () =>
    ['moving-in the gap', 'moving-after'].every((sku) => arrived(sku).length > 0) ? true : undefined,
  );

  await waybill('webhooks', 'deactivate', id);
  const mark = old.log.length;
  await happen('in the second gap');
  old.active.add('moving');
  for (const each of old.log.slice(mark).filter(({ name }) => name === 'moving')) await sendOld(each);
  await happen('back');

  expect(Object.fromEntries(skus.map((sku) => [sku, arrived(sku).length]))).toEqual(
    Object.fromEntries(skus.map((sku) => [sku, 1])),
  );
  // The receiver has one secret for each e-shop, and only the id tells it who sent a request.
  for (const { path, headers, text } of receiver.requests) {
    const said = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
    );
    expect(new Webhook(secrets.get(path.slice(1)) ?? '').verify(text, said)).toHaveProperty('sku');
  }
  const from = (sku: string) => String(arrived(sku)[0]?.headers['webhook-id']).startsWith('old_');
  expect(skus.filter((sku) => !from(sku))).toEqual(['moving-in the gap', 'moving-after']);
});
