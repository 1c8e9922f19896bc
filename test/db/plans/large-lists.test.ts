/**
 * The index that each list or count is read by, as Postgres plans it among ten million deliveries: none reads a whole
 * table. The statements of attempts: claims-without-statistics.test.ts and partition-lookups.test.ts.
 */
import type postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { selectChangeLoop } from '../../../src/db/console/change-loop.ts';
import { INDEX_ORDER, selectSpeed, selectSteps } from '../../../src/db/console/delivery-counts.ts';
import { selectLastAccepted } from '../../../src/db/console/health.ts';
import { newestRecords } from '../../../src/db/console/records.ts';
import {
  countAllDeliveries,
  listAllDeliveries,
  selectEndOfList,
} from '../../../src/db/deliveries/all-deliveries.ts';
import type { AllDeliveriesFilter } from '../../../src/db/deliveries/delivery-filter.ts';
import { countEvents, deliveriesOf, type EventFilter, listEvents } from '../../../src/db/event-log.ts';
import type { Slice } from '../../../src/db/id-range.ts';
import { selectOpenDeliveries } from '../../../src/db/maintenance/erasure.ts';
import { firedEvents, firedRows, insertDeliveries } from '../../../src/db/outbox/events.ts';
import { selectCountOfLost } from '../../../src/db/recoveries/lost-events.ts';
import { createWebhook } from '../../../src/db/webhooks/create.ts';
import { eventTypeNames } from '../../../src/domain/event-types.ts';
import { idAt } from '../../../src/domain/id-time.ts';
import { seedLists, seedRecords } from '../../support/database/lists/seed.ts';
import { exaggerate, ROWS, unhurried } from '../../support/database/plans.ts';
import { testWebhook, unreadable } from '../../support/test-webhook.ts';

const { sql, planner: plannerOf, drop } = await unhurried();
afterAll(drop);
const { eshopId, webhookId, changedWebhookId, earlierType, entityId, busyEntityId, begin } = await seedLists(
  sql,
  ROWS,
);
await seedRecords(sql, eshopId);
await exaggerate(sql);
const planner = await plannerOf();
const inOrder = await plannerOf(INDEX_ORDER);

const webhooks = (
  await sql<{ id: number }[]>`select id from webhooks where eshop_id = ${eshopId} and deleted_at is null`
).map(({ id }) => id);
const day = (number: number) => new Date(begin.getTime() + number * 24 * 3_600_000);

type Statement = readonly [name: string, index: string, query: postgres.Fragment];

/** The API's first page, the last one that it has of a long list, what follows a cursor; a page of the console. */
const slices: Readonly<Record<string, Slice>> = {
  newest: { limit: 30, offset: 0 },
  deepest: { limit: 100, offset: 9_900 },
  older: { limit: 100, offset: 0, beforeId: idAt(day(20)) },
  cursor: { limit: 31, after: '00000000-0000-0000-0000-000000000000', before: idAt(new Date()) },
};

/** Each filter with its index; of the filters of a record, two that combine with another in their own ways. */
const deliveries: readonly (readonly [name: string, index: string, filter: AllDeliveriesFilter])[] = [
  ['of the e-shop', 'deliveries_by_webhook', {}],
  ['of a webhook', 'deliveries_by_webhook', { webhookId }],
  ['of a webhook whose types changed', 'deliveries_by_webhook', { webhookId: changedWebhookId }],
  ['of a type', 'webhook_types_pkey', { webhookType: earlierType }],
  ['pending', 'deliveries_open_by_webhook', { state: 'pending' }],
  ['retrying', 'deliveries_open_by_webhook', { state: 'retrying' }],
  ['held', 'deliveries_held_by_operators', { state: 'held' }],
  ['delivered', 'deliveries_by_webhook', { state: 'delivered' }],
  ['failed', 'deliveries_unsuccessful', { state: 'failed' }],
  ['expired', 'deliveries_unsuccessful', { state: 'expired' }],
  ['canceled', 'deliveries_unsuccessful', { state: 'canceled' }],
  ['superseded', 'deliveries_by_webhook', { state: 'superseded' }],
  [
    'last answered 403',
    'deliveries_with_failures',
    { status: { range: { from: 403, to: 403 }, attempts: 'last' } },
  ],
  ['ever unanswered', 'deliveries_with_failures', { status: { range: null, attempts: 'any' } }],
  ['since a day', 'deliveries_by_webhook', { since: day(15) }],
  ['until a day', 'redeliveries_by_webhook', { until: day(20) }],
  ['of a webhook in some days', 'redeliveries_by_webhook', { webhookId, since: day(15), until: day(20) }],
  ['of a record', 'events_by_entity', { entityId }],
  ['of a busy record', 'events_by_entity', { entityId: busyEntityId }],
  [
    'of a busy record in some days',
    'events_by_entity',
    { entityId: busyEntityId, since: day(15), until: day(20) },
  ],
  ['of a record and a webhook', 'redeliveries_by_entity', { entityId, webhookId }],
  ['of a busy record, failed', 'deliveries_unsuccessful', { entityId: busyEntityId, state: 'failed' }],
];
/** The index of a page, and of a count. */
const events: readonly (readonly [name: string, page: string, count: string, filter: EventFilter])[] = [
  ['of a type', 'events_by_type', 'events_by_type', { webhookType: earlierType }],
  ['of a record', 'events_by_entity', 'events_by_entity', { entityId }],
  [
    'of a busy record and a type',
    'events_by_entity',
    'events_by_entity',
    { entityId: busyEntityId, webhookType: earlierType },
  ],
  ['since a day', 'events_pkey', 'events_by_type', { since: day(15) }],
  ['until a day', 'events_pkey', 'events_by_type', { until: day(20) }],
  ['of the e-shop', 'events_pkey', 'events_by_type', {}],
];

const lists = Object.entries(slices).flatMap(([part, slice]): Statement[] => [
  ...deliveries.map(
    ([name, index, filter]): Statement => [
      `deliveries ${name}, ${part}`,
      index,
      listAllDeliveries(sql, eshopId, filter, slice),
    ],
  ),
  ...events.map(
    ([name, index, , filter]): Statement => [
      `events ${name}, ${part}`,
      index,
      listEvents(sql, eshopId, filter, slice),
    ],
  ),
]);
const counts = [
  ...deliveries.map(
    ([name, index, filter]): Statement => [
      `count of deliveries ${name}`,
      index,
      countAllDeliveries(sql, eshopId, filter),
    ],
  ),
  ...events.map(
    ([name, , index, filter]): Statement => [
      `count of events ${name}`,
      index,
      countEvents(sql, eshopId, filter),
    ],
  ),
];
/** Nothing but an index keeps what these look through from being the whole table. */
const ends = Object.entries(slices).flatMap(([part, slice]) =>
  deliveries.flatMap(([name, index, filter]): Statement[] => {
    const query = selectEndOfList(sql, eshopId, filter, slice, 50_000);
    return query === null ? [] : [[`end of deliveries ${name}, ${part}`, index, query]];
  }),
);
const page = await listEvents(sql, eshopId, {}, { limit: 100, offset: 0 });
const others: readonly Statement[] = [
  [
    'deliveries of a page of events',
    'deliveries_pkey',
    deliveriesOf(
      sql,
      page.map(({ id }) => id),
    ),
  ],
  ['change loops', 'events_by_type', selectChangeLoop(sql, new Date(Date.now() - 60_000), eshopId)],
  ['last accepted', 'deliveries_by_webhook', selectLastAccepted(sql, eshopId)],
];

async function wrongAmong(statements: readonly Statement[], by = planner): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, index, query] of statements) {
    const { scanned, indexes } = await by.planOf(query);
    const whole = scanned.filter((table) => !/^webhook/.test(table));
    if (whole.length > 0) wrong.push(`${name}: all of ${whole}`);
    if (!indexes.includes(index)) wrong.push(`${name}: not by ${index}, but by ${indexes}`);
  }
  return wrong;
}

test('every filter, page and cursor of the lists uses its index', async () => {
  expect(await wrongAmong([...lists, ...counts, ...ends, ...others])).toEqual([]);
});

test('the open deliveries of a customer are found by the events of their records alone', async () => {
  const ofCustomer = (ids: readonly string[]) => selectOpenDeliveries(sql, eshopId, { kind: 'order', ids });
  for (const index of ['events_by_entity', 'deliveries_pkey', 'redeliveries_of_event'])
    expect(await wrongAmong([['open deliveries', index, ofCustomer([entityId, '1'])]])).toEqual([]);
  expect((await planner.planOf(ofCustomer([entityId, '1']))).read).toBeLessThan(1_000);
});

test('the counts of the console are read in index order, and only the newest deliveries are looked at', async () => {
  expect(webhooks.length).toBeGreaterThan(90);
  const speed = selectSpeed(sql, webhooks, begin);
  const steps = (since: Date, stepSeconds: number) => selectSteps(sql, webhooks, { since, stepSeconds });
  const statements: Statement[] = [
    ['bars of a month', 'deliveries_by_webhook', steps(begin, 10_800)],
    ['bars of an hour', 'deliveries_by_webhook', steps(new Date(Date.now() - 3_600_000), 60)],
    ['speed', 'deliveries_by_webhook', speed],
  ];
  expect(await wrongAmong(statements, inOrder)).toEqual([]);
  // Two thousand deliveries with one attempt each, and a row or two for each webhook in each of its weeks.
  expect((await inOrder.planOf(speed)).read).toBeLessThan(2_000 * 2 + webhooks.length * 20);
});

test.each([
  ['order', 'orders_by_age'],
  ['product', 'products_by_age'],
  ['receiving', 'receivings_by_age'],
  ['return', 'returns_by_age'],
  ['stockMovement', 'stock_movements_by_age'],
] as const)('a page of the record kind %s is read by %s, with only its own lines', async (kind, index) => {
  for (const before of [null, '10000']) {
    const query = newestRecords(sql, kind, eshopId, { before, most: 31 });
    expect(await wrongAmong([[kind, index, query]])).toEqual([]);
    expect((await planner.planOf(query)).read).toBeLessThan(200);
  }
});

test('a search for lost events reads only the types that the webhook has or had', async () => {
  const search = {
    eshopId,
    webhookId: changedWebhookId,
    since: begin,
    until: new Date(),
    include: ['failed', 'missed'],
  } as const;
  const [row] = await sql<{ all: number; suspects: number }[]>`
    select count(*)::int as all, (count(*) filter (where type = any(
      select type from webhook_types where webhook_id = ${changedWebhookId})))::int as suspects
    from events where eshop_id = ${eshopId}`;
  const { all = 0, suspects = 0 } = row ?? {};
  // For each event: itself, its entry in an index, the version then, and its deliveries to all webhooks of the type.
  const most = 5 * suspects;
  expect(most).toBeLessThan(all);
  const query = selectCountOfLost(sql, search, null, all);
  expect(await wrongAmong([['lost events', 'events_by_type', query]])).toEqual([]);
  expect((await planner.planOf(query)).read).toBeLessThan(most);
});

/** Webhooks of other e-shops and of other types: enough for the planner to mind reading them all. */
const OTHERS = 20_000;

// Last: it adds webhooks.
test('an event finds its webhooks in one index step, even one with all types', async () => {
  const [webhookType, ...additionalTypes] = eventTypeNames;
  const [row] = await sql<{ id: number }[]>`select max(id) as id from eshops`;
  const other = row?.id ?? 0;
  await createWebhook(sql, other, testWebhook({ webhookType, additionalTypes }), unreadable, 1_000);
  await sql`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
    select case when n % 200 = 0 then ${other}::int else ${eshopId}::int end, 'https://shop.example/', 'CREATE_RETURN', 'POST',
      true, 'v2', '' from generate_series(1, ${OTHERS}::int) n`;
  for (const table of ['webhooks', 'webhook_types']) await sql`vacuum analyze ${sql(table)}`;
  const event = {
    type: 'CREATE_ORDER',
    entityId: '1',
    sequence: 1,
    happenedAt: null,
    snapshot: '{}',
    origin: 'shop',
    changed: null,
  } as const;
  const { scanned, indexes, read } = await planner.planOf(sql`
    with fired as materialized (${firedRows(sql, firedEvents([event]))})
    ${insertDeliveries(sql, other)}`);
  expect(scanned).toEqual([]);
  expect(indexes).toContain('webhook_types_subscribed');
  // At most the e-shop's own, and not those of others.
  expect(read).toBeLessThan(OTHERS / 40);
});
