/**
 * The lists of events and deliveries over many rows: rows of a month, every query that the API can send, and how each is
 * answered.
 * @module
 */
import type postgres from 'postgres';
import { createEshop } from '../src/db/eshops.ts';
import { selectCountOfEvents, selectDeliveriesOf, selectEvents } from '../src/db/event-log.ts';
import type { Part } from '../src/db/id-range.ts';
import type { Pool } from '../src/db/pool.ts';
import { selectAllDeliveries, selectCountOfAll } from '../src/db/webhooks/all-deliveries.ts';
import { createWebhook } from '../src/db/webhooks/webhooks.ts';
import { type DeliveryState, deliveryStates } from '../src/domain/delivery-state.ts';
import type { EventType } from '../src/domain/event-types.ts';
import { idAt } from '../src/domain/id-time.ts';

/** The months' length, in milliseconds. */
const MONTH_MS = 30 * 24 * 3_600_000;
const TYPES: readonly EventType[] = [
  'CREATE_ORDER',
  'UPDATE_ORDER_STATUS',
  'UPDATE_PRODUCT',
  'CREATE_RETURN',
];

/** Whose rows were made. */
export interface Seeded {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly entityId: string;
}

/**
 * Makes events of the last month, each with a delivery to one of eight webhooks, of which the last is inactive; one in a
 * hundred was delivered again.
 */
export async function seedLists(sql: Pool, events: number): Promise<Seeded> {
  const { eshopId } = await createEshop(sql, { name: 'Lists', email: 'lists@shop.example' });
  const webhooks: number[] = [];
  for (let index = 0; index < 2 * TYPES.length; index += 1) {
    const input = {
      url: 'https://shop.example/hook',
      webhookType: TYPES[index % TYPES.length] ?? 'CREATE_ORDER',
      method: 'POST',
      active: index < 2 * TYPES.length - 1,
      payloadVersion: 'v2',
      parameters: null,
      description: null,
    } as const;
    const webhook = await createWebhook(sql, eshopId, input, () => Buffer.from('sealed'), 1_000);
    if (webhook !== null) webhooks.push(webhook.id);
  }
  const begin = Date.now() - MONTH_MS;
  const slice = 100_000;
  for (let from = 0; from < events; from += slice) {
    const to = Math.min(events, from + slice);
    await sql`
      with made as materialized (
        select n, (lpad(to_hex(${begin}::bigint + n::bigint * ${MONTH_MS}::bigint / ${events}::bigint), 12, '0')
          || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid as id,
          to_timestamp((${begin}::bigint + n::bigint * ${MONTH_MS}::bigint / ${events}::bigint) / 1000.0) as at,
          1 + n % ${webhooks.length}::int as place, (n / 3)::text as entity_id
        from generate_series(${from}::int, ${to - 1}::int) n),
      typed as (select *, (${[...TYPES]}::text[])[1 + (place - 1) % ${TYPES.length}::int] as type from made),
      events as (
        insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
        select id, ${eshopId}, type, entity_id, '{}', at from typed),
      sent as (
        select *, (left(id::text, 26) || substr(md5('d' || n), 1, 10))::uuid as delivery_id from typed
        union all
        select *, (lpad(to_hex((extract(epoch from at) * 1000)::bigint + 3600000), 12, '0')
          || '7' || substr(md5('a' || n), 1, 3) || '8' || substr(md5('a' || n), 4, 15))::uuid from typed where n % 100 = 7),
      again as (
        insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
        select delivery_id, id, ${eshopId}, (${webhooks}::int[])[place], entity_id from sent
        where left(delivery_id::text, 26) <> left(id::text, 26))
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, created_at, dispatched_at)
      select delivery_id, id, ${eshopId}, (${webhooks}::int[])[place], type, entity_id,
        case n::bigint * 7919 % 500 when 1 then 'failed' when 2 then 'expired' when 3 then 'canceled'
          when 4 then 'retrying' when 5 then 'pending' else 'delivered' end, at, at
      from sent`;
  }
  await sql`vacuum analyze events`;
  await sql`vacuum analyze deliveries`;
  return { eshopId, webhookId: webhooks[0] ?? 0, entityId: String(Math.floor(events / 6)) };
}

/** A query by its name. */
export interface NamedQuery {
  readonly name: string;
  /** What Postgres tells of how it answers it. */
  explained(): Promise<readonly PlanRow[]>;
}

function named(sql: Pool, name: string, query: postgres.Fragment): NamedQuery {
  return { name, explained: async () => await sql<PlanRow[]>`explain (analyze, format json) ${query}` };
}

/** Every query with each filter alone, some together, as a page, a deep page, a count, and from a cursor on. */
export function listQueries(sql: Pool, { eshopId, webhookId, entityId }: Seeded): NamedQuery[] {
  const [since, until] = [new Date(Date.now() - MONTH_MS / 2), new Date(Date.now() - MONTH_MS / 3)];
  const shared = [
    {},
    { webhookType: 'CREATE_RETURN' as const },
    { entityId },
    { since },
    { until },
    { since, until, webhookType: 'UPDATE_PRODUCT' as const },
  ];
  const deliveries = [
    ...shared,
    { webhookId },
    { webhookId, entityId },
    ...deliveryStates.map((state: DeliveryState) => ({ state })),
    { webhookId, state: 'failed' as const, until },
  ];
  const parts: [string, Part][] = [
    ['page', { limit: 30, offset: 0 }],
    ['deep page', { limit: 100, offset: 9_900 }],
    ['cursor', { limit: 101, after: idAt(since), before: idAt(new Date()) }],
  ];
  return [
    ...deliveries.flatMap((filter) => [
      ...parts.map(([name, part]) =>
        named(sql, `deliveries ${said(filter)}: ${name}`, selectAllDeliveries(sql, eshopId, filter, part)),
      ),
      named(sql, `deliveries ${said(filter)}: count`, selectCountOfAll(sql, eshopId, filter)),
    ]),
    ...shared.flatMap((filter) => [
      ...parts.map(([name, part]) =>
        named(sql, `events ${said(filter)}: ${name}`, selectEvents(sql, eshopId, filter, part)),
      ),
      named(sql, `events ${said(filter)}: count`, selectCountOfEvents(sql, eshopId, filter)),
    ]),
  ];
}

/** The query for the deliveries of a page of events. */
export async function deliveriesQuery(sql: Pool, { eshopId }: Seeded): Promise<NamedQuery> {
  const events = await selectEvents(sql, eshopId, {}, { limit: 100, offset: 0 });
  const ids = events.map(({ id }) => id);
  return named(sql, 'deliveries of 100 events', selectDeliveriesOf(sql, ids));
}

function said(filter: object): string {
  return Object.keys(filter).length === 0
    ? 'without a filter'
    : Object.entries(filter).map(entryText).join(' ');
}

const entryText = ([name, value]: [string, unknown]) => (name === 'state' ? `state=${value}` : name);

/** A plan as `explain (analyze, format json)` tells it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

type PlanRow = Readonly<Record<string, readonly [{ Plan: PlanNode; 'Execution Time': number }]>>;

/** How a query was answered. */
export interface Answered {
  readonly name: string;
  readonly ms: number;
  /** Tables that were read from their beginning to their end. */
  readonly scanned: readonly string[];
  readonly indexes: readonly string[];
}

/** Runs a query and tells how it was answered. */
export async function answered({ name, explained }: NamedQuery): Promise<Answered> {
  const [row] = await explained();
  const [plan] = Object.values(row ?? {})[0] ?? [];
  if (plan === undefined) throw new Error('There is no plan.');
  const nodes = nodesOf(plan.Plan);
  const found = (type: RegExp, key: 'Relation Name' | 'Index Name') =>
    [
      ...new Set(nodes.filter((node) => type.test(node['Node Type'])).flatMap((node) => node[key] ?? [])),
    ].sort();
  return {
    name,
    ms: plan['Execution Time'],
    scanned: found(/^Seq Scan$/, 'Relation Name'),
    indexes: found(/Index/, 'Index Name'),
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
