/** Responses of Svix, Convoy and Outpost, with every documented field: only those without a counterpart are named. */
import { expect, test } from 'vitest';
import type { Mapping } from '../../src/cli/imports/foreign.ts';
import { foreignLines } from '../../src/cli/imports/foreign.ts';
import type { ForeignSystem } from '../../src/cli/imports/foreign-records.ts';
import type { ImportLine } from '../../src/cli/imports/import-lines.ts';

const mapping = { types: { 'order.created': ['CREATE_ORDER' as const] }, eshops: {} };

function linesOf(system: ForeignSystem, answers: readonly object[], map: Mapping): ImportLine[] {
  const lines = answers.map((value, index) => ({ line: index + 1, value }));
  return [...foreignLines(system, lines, map)];
}

function read(system: ForeignSystem, record: object): unknown[] {
  return linesOf(system, [{ data: [record] }], mapping).map((each) =>
    'problem' in each ? each.problem.replace('https://a.example: ', '') : each.value,
  );
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
  '%s: an endpoint without unknown settings becomes a webhook, without a problem',
  async (system, record) => {
    expect(read(system, record)).toEqual([expect.objectContaining(webhook)]);
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
      endpoint_metadata: { ...endpoint, http_timeout: 30, rate_limit: 5, support_email: 'a@b.example' },
    },
    ['filter', 'function', 'retry_config', 'delivery_mode', 'http_timeout', 'rate_limit', 'support_email'],
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
] as const)('%s: settings without a counterpart are reported', async (system, record, names) => {
  expect(read(system, record)).toEqual([
    ...names.map((name) => `${name} has no counterpart`),
    expect.objectContaining(webhook),
  ]);
});

test.each([
  ['svix', { ...svix, filterTypes: [] }, 'an endpoint without event types has no counterpart'],
  ['outpost', { ...outpost, topics: ['order.paid'] }, '"order.paid" has no counterpart in the map'],
] as const)('%s: an endpoint without any usable type is reported', async (system, record, problem) => {
  expect(read(system, record)).toEqual([problem]);
});

test('a type that the map leaves empty is reported', async () => {
  const record = { ...svix, url: 'https://user:pass@a.example' };
  expect(linesOf('svix', [record], { types: { 'order.created': [] }, eshops: {} })).toEqual([
    {
      line: 1,
      problem: 'https://•••@a.example: "order.created" has no counterpart in the map',
      outcome: 'unmapped',
    },
  ]);
});

test('a page that is not the last of its list is reported, unless the next one follows', async () => {
  const eshops = { a: 1, b: 2 };
  const page = (appId: string, done: boolean) => ({ data: [{ ...svix, appId }], iterator: 'ep_1', done });
  const cutOff = 'is not the last page of its list: append the next one';
  const problems = (system: ForeignSystem, pages: readonly object[]) =>
    linesOf(system, pages, { ...mapping, eshops })
      .filter((each) => 'problem' in each)
      .map(({ line, problem }) => [line, problem]);
  expect(problems('svix', [page('a', false), page('a', true), page('b', true)])).toEqual([]);
  expect(problems('svix', [page('a', false), page('b', true)])).toEqual([[1, cutOff]]);
  expect(problems('svix', [page('a', true), page('b', false)])).toEqual([[2, cutOff]]);
  const subscriptions = (more: boolean, earlier: boolean) => ({
    data: {
      content: [convoy],
      pagination: { has_next_page: more, has_prev_page: earlier, next_page_cursor: 'x' },
    },
  });
  expect(problems('convoy', [subscriptions(true, false), subscriptions(false, true)])).toEqual([]);
  expect(problems('convoy', [subscriptions(true, false)])).toEqual([[1, cutOff]]);
  const anotherProject = subscriptions(false, false);
  expect(problems('convoy', [subscriptions(true, false), anotherProject])).toEqual([[1, cutOff]]);
});

test('a refused record is reported with its URL, or its number on the page', async () => {
  const records = [
    { ...svix, appId: 'a' },
    { ...svix, url: 'https://b.example', appId: 'b' },
    { ...svix, url: 'https://user:pass@c.example', disabled: 'no', appId: 'a' },
    { ...svix, url: undefined, appId: 'a' },
  ];
  const lines = linesOf('svix', [{ data: records }], { ...mapping, eshops: { a: 1 } });
  expect(lines.map((each) => ('problem' in each ? each.problem : 'a webhook'))).toEqual([
    'a webhook',
    'https://b.example: "b" is not an e-shop in the map',
    'https://•••@c.example: disabled: Invalid type: Expected boolean',
    'ep_1: url: Invalid type: Expected string',
  ]);
});

test('an endpoint without its secret is reported, since its webhook gets a new one', async () => {
  expect(read('svix', { ...svix, secret: undefined })).toEqual([
    'comes without its secret: its webhook gets a new one',
    expect.objectContaining({ ...webhook, secret: null }),
  ]);
});

test('a header that Svix does not reveal is reported', async () => {
  const headers = { headers: {}, sensitive: ['X-Key'] };
  expect(read('svix', { ...svix, headers })[0]).toBe(
    'the value of X-Key, which Svix does not reveal, has no counterpart',
  );
});

test.each([
  ['svix', { ...svix, filterTypes: ['order.changed', 'order.created', 'order.created'] }],
  ['convoy', { ...convoy, filter_config: { event_types: ['order.changed', 'order.created'], filter: null } }],
  ['outpost', { ...outpost, topics: '*' }],
] as const)(
  '%s: an endpoint with several types becomes one webhook with all of them',
  async (system, record) => {
    const types = {
      'order.changed': ['UPDATE_ORDER_STATUS' as const, 'UPDATE_ORDER' as const],
      'order.created': ['CREATE_ORDER' as const],
    };
    expect(linesOf(system, [{ data: [record] }], { types, eshops: {} })).toMatchObject([
      {
        line: 1,
        value: {
          url: 'https://a.example',
          webhookType: 'CREATE_ORDER',
          additionalTypes: ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'],
        },
      },
    ]);
  },
);

test('several subscriptions of a Convoy endpoint become one webhook per customer', async () => {
  const types = {
    a: ['CREATE_ORDER' as const],
    b: ['CREATE_RETURN' as const],
    c: ['CREATE_RETURN' as const, 'UPDATE_RETURN' as const],
  };
  const subscription = (type: string, uid = 'e', owner = 'x') => ({
    ...convoy,
    filter_config: { event_types: [type] },
    endpoint_metadata: { ...endpoint, uid, owner_id: owner },
  });
  const list = [
    subscription('c'),
    subscription('a'),
    subscription('b'),
    subscription('a', 'other'),
    subscription('b', 'e', 'y'),
  ];
  const lines = linesOf('convoy', list, { types, eshops: { x: 1, y: 2 } });
  expect(lines).toMatchObject([
    {
      line: 1,
      value: { eshop: 1, webhookType: 'CREATE_ORDER', additionalTypes: ['CREATE_RETURN', 'UPDATE_RETURN'] },
    },
    { line: 4, value: { eshop: 1, webhookType: 'CREATE_ORDER', additionalTypes: [] } },
    { line: 5, value: { eshop: 2, webhookType: 'CREATE_RETURN', additionalTypes: [] } },
  ]);
});
