/** What Svix, Convoy and Outpost answer, with every field of their documents: what has no counterpart is named, and nothing else. */
import { expect, test } from 'vitest';
import { type ForeignSystem, foreignLines } from '../../src/cli/imports/foreign.ts';

const mapping = { types: { 'order.created': ['CREATE_ORDER' as const] }, eshops: {} };

async function read(system: ForeignSystem, record: object): Promise<unknown[]> {
  async function* lines() {
    yield { line: 1, value: { data: [record] } };
  }
  const found: unknown[] = [];
  for await (const each of foreignLines(system, lines(), mapping))
    found.push('problem' in each ? each.problem.replace('https://a.example: ', '') : each.value);
  return found;
}

const webhook = {
  url: 'https://a.example',
  webhookType: 'CREATE_ORDER',
  method: 'POST',
  active: true,
  secret: 'whsec_a',
};
const svix = {
  id: 'ep_1',
  url: 'https://a.example',
  uid: null,
  description: 'their shop',
  version: 1,
  disabled: false,
  filterTypes: ['order.created'],
  channels: [],
  metadata: {},
  createdAt: '2026-11-26T00:00:00Z',
  secret: { key: 'whsec_a' },
};
const endpoint = {
  uid: 'e',
  url: 'https://a.example',
  name: 'their shop',
  description: null,
  status: 'active',
  http_timeout: 10,
  rate_limit: 0,
  support_email: '',
  slack_webhook_url: '',
  content_type: 'application/json',
  secrets: [{ uid: 's', value: 'whsec_a', expires_at: null }],
};
const convoy = {
  uid: 'sub',
  type: 'api',
  function: '',
  delivery_mode: 'at_least_once',
  retry_config: { type: '', duration: 0, retry_count: 0 },
  alert_config: null,
  filter_config: {
    event_types: ['order.created'],
    filter: { headers: {}, body: {}, query: {}, path: {}, is_flattened: false },
  },
  endpoint_metadata: endpoint,
};
const outpost = {
  id: 'des',
  type: 'webhook',
  topics: ['order.created'],
  filter: null,
  disabled_at: null,
  delivery_metadata: null,
  metadata: {},
  config: { url: 'https://a.example' },
  credentials: { secret: 'whsec_a' },
};

test.each([
  ['svix', svix],
  ['convoy', convoy],
  ['outpost', outpost],
] as const)(
  '%s: one with nothing of its own becomes a webhook, and nothing is named',
  async (system, record) => {
    expect(await read(system, record)).toEqual([expect.objectContaining(webhook)]);
  },
);

test.each([
  [
    'svix',
    { ...svix, channels: ['a'], rateLimit: 5, metadata: { team: 'a' } },
    ['channels', 'rateLimit', 'metadata'],
  ],
  [
    'convoy',
    {
      ...convoy,
      function: 'f',
      delivery_mode: 'at_most_once',
      retry_config: { type: 'linear', duration: 1, retry_count: 2 },
      filter_config: { event_types: ['order.created'], filter: { body: { total: { $gt: 1 } } } },
      endpoint_metadata: { ...endpoint, rate_limit: 5, support_email: 'a@b.example' },
    },
    ['filter', 'function', 'retry_config', 'delivery_mode', 'rate_limit', 'support_email'],
  ],
  [
    'outpost',
    {
      ...outpost,
      filter: { data: { paid: true } },
      delivery_metadata: { app: 'a' },
      config: { url: 'https://a.example', custom_headers: 'none' },
      credentials: { secret: 'whsec_a', previous_secret: 'whsec_b' },
    },
    ['custom_headers', 'filter', 'delivery_metadata', 'previous_secret'],
  ],
] as const)('%s: what has no counterpart is named', async (system, record, names) => {
  expect(await read(system, record)).toEqual([
    ...names.map((name) => `${name} has no counterpart`),
    expect.objectContaining(webhook),
  ]);
});
