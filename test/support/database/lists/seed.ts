/**
 * A month of events and deliveries, as in a real warehouse: forty e-shops, one with a third of everything; three
 * hundred webhooks of all kinds, some inactive, some deleted, some that once had another type.
 */
import type { Pool } from '../../../../src/db/connection/pool.ts';
import { makeWeek } from '../../../../src/db/retention/partitions.ts';
import { eventTypeNames } from '../../../../src/domain/event-types.ts';
import type { OperatorAction } from '../../../../src/domain/operator-action.ts';
import { WEEK_MS, weekOf, weeksBetween } from '../../../../src/domain/weeks.ts';

const ESHOPS = 40;
const WEBHOOKS = 300;
/** Webhooks of the largest e-shop; the others share the rest. */
const WEBHOOKS_OF_LARGEST = 100;
/** Its share of all deliveries. */
const SHARE_OF_LARGEST = 1 / 3;
const MONTH_MS = 30 * 24 * 3_600_000;
/** Events per statement. */
const CHUNK = 100_000;

/** The records that tests ask for. */
export interface Seeded {
  /** The largest e-shop. */
  readonly eshopId: number;
  /** One of its webhooks, and one that had another type in the first half of the month. */
  readonly webhookId: number;
  readonly changedWebhookId: number;
  /** The type that this webhook had. */
  readonly earlierType: (typeof eventTypeNames)[number];
  /** An ordinary record, and one with a twentieth of all events. */
  readonly entityId: string;
  readonly busyEntityId: string;
  /** The beginning of the month. */
  readonly begin: Date;
  readonly deliveries: number;
}

/** The webhook that loses the events of one day, and gets them again later. */
const LOSES = 3;
/** The webhook whose type changes. */
const CHANGES = 7;

/** @param deliveries how many there will be, roughly */
export async function seedLists(sql: Pool, deliveries: number): Promise<Seeded> {
  const begin = new Date(Date.now() - MONTH_MS);
  await makePartitions(sql, begin);
  await seedWebhooks(sql, begin);
  // An event of the largest e-shop has several deliveries; an event of any other has one.
  const ofLargest = (deliveries * SHARE_OF_LARGEST) / (WEBHOOKS_OF_LARGEST / eventTypeNames.length);
  const events = Math.ceil(ofLargest + deliveries * (1 - SHARE_OF_LARGEST));
  const share = ofLargest / events;
  for (let from = 0; from < events; from += CHUNK)
    await seedEvents(sql, { from, to: Math.min(events, from + CHUNK), events, begin, share });
  await sql`update webhooks set deleted_at = now() where id in (select id from seeded_webhooks where place % 100 = 50)`;
  for (const table of [
    'events',
    'deliveries',
    'redeliveries',
    'webhooks',
    'webhook_versions',
    'webhook_types',
  ])
    await sql`vacuum analyze ${sql(table)}`;
  return await seededOf(sql, begin);
}

/** One per week, as the program creates them. */
async function makePartitions(sql: Pool, begin: Date): Promise<void> {
  for (const table of ['events', 'deliveries', 'attempts']) {
    const partitions = await sql<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass`;
    for (const { name } of partitions) await sql`drop table ${sql(name)}`;
    await sql`create table ${sql(`${table}_default`)} partition of ${sql(table)} default`;
  }
  const end = new Date(Date.now() + 2 * WEEK_MS);
  for (const week of weeksBetween(weekOf(begin), end)) await makeWeek(sql, week);
}

async function seedWebhooks(sql: Pool, begin: Date): Promise<void> {
  const types = sql`${[...eventTypeNames]}::text[]`;
  await sql`
    create table seeded_eshops as
    with made as (
      insert into eshops (name, email, api_key_hash)
      select 'seeded ' || n, 'lists@shop.example', decode(md5('seeded' || n), 'hex') from generate_series(1, ${ESHOPS}::int) n
      returning id)
    select row_number() over (order by id)::int as place, id from made`;
  await sql`
    create table seeded_webhooks as
    with planned as (
      select n as place, case when n <= ${WEBHOOKS_OF_LARGEST}::int then 1 else 2 + n % ${ESHOPS - 1}::int end as eshop,
        (${types})[1 + (n * 5) % ${eventTypeNames.length}::int] as type
      from generate_series(1, ${WEBHOOKS}::int) n),
    made as (
      insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret, registered_at)
      select e.id, 'https://shop.example/' || p.place, p.type, 'POST', p.place % 15 <> 0, 'v2', '', ${begin}
      from planned p join seeded_eshops e on e.place = p.eshop order by p.place
      returning id, eshop_id, url, webhook_type, active)
    select split_part(url, '/', 4)::int as place, id, eshop_id, webhook_type as type, ${begin}::timestamptz as begins,
      case when active then now() else ${begin}::timestamptz + interval '24 days' end as ends
    from made`;
  await sql`update webhook_versions set at = ${begin} where webhook_id in (select id from seeded_webhooks)`;
  await changeType(sql, begin);
  await sql`
    create table seeded_types as
    select eshop_id, type, row_number() over (partition by eshop_id order by type)::int - 1 as number,
      count(*) over (partition by eshop_id)::int as all_types
    from (select distinct eshop_id, type from seeded_webhooks) types`;
}

/** One webhook has had its present type only since the middle of the month. */
async function changeType(sql: Pool, begin: Date): Promise<void> {
  const middle = new Date(begin.getTime() + MONTH_MS / 2);
  const earlier = sql`(select type from seeded_webhooks where place = ${CHANGES + 1})`;
  await sql`
    insert into webhook_versions (webhook_id, eshop_id, at, webhook_type, url, active, deleted, generation)
    select v.webhook_id, v.eshop_id, ${begin}, ${earlier}, v.url, v.active, false, 1
    from webhook_versions v join seeded_webhooks s on s.id = v.webhook_id where s.place = ${CHANGES}`;
  await sql`
    update webhook_versions v set at = ${middle} from seeded_webhooks s
    where s.id = v.webhook_id and s.place = ${CHANGES} and s.type = v.webhook_type`;
  await sql`
    insert into seeded_webhooks
    select place, id, eshop_id, ${earlier}, begins, ${middle} from seeded_webhooks where place = ${CHANGES}`;
  await sql`update seeded_webhooks set begins = ${middle} where place = ${CHANGES} and ends > ${middle}`;
}

/** The operator's action on held deliveries. */
const HELD = {
  id: 'seeded',
  action: 'hold',
  by: 'anna',
  reason: 'stock-taking',
  at: '2026-11-20T19:33:00.000Z',
} as const satisfies OperatorAction;

interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly events: number;
  readonly begin: Date;
  /** The largest e-shop's share of events. */
  readonly share: number;
}

/** One delivery in a hundred has failed and was made again an hour later; only recent ones are open. */
async function seedEvents(sql: Pool, { from, to, events, begin, share }: Chunk): Promise<void> {
  const day = (number: number) => new Date(begin.getTime() + number * 24 * 3_600_000);
  const id = (time: ReturnType<Pool>, seed: ReturnType<Pool>) => sql`
    (lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '7' || substr(${seed}, 1, 3) || '8' || substr(${seed}, 4, 15))::uuid`;
  await sql`
    with numbered as materialized (
      select n, hashint4(n) & 1073741823 as dice, hashint4(n + 1000000007) & 1073741823 as more,
        ${begin}::timestamptz + make_interval(secs => ${MONTH_MS / 1_000}::float8 * n / ${events}::int) as at
      from generate_series(${from}::int, ${to - 1}::int) n),
    placed as (
      select *, case when dice % 10000 < ${Math.round(share * 10_000)}::int then 1 else 2 + more % ${ESHOPS - 1}::int end as eshop
      from numbered),
    made as materialized (
      select p.n, p.dice, p.at, e.id as eshop_id, t.type, ${id(sql`p.at`, sql`md5(p.n::text)`)} as id,
        case when p.eshop = 1 and p.dice % 20 = 0 then 'busy' else (p.n / 3)::text end as entity_id
      from placed p join seeded_eshops e on e.place = p.eshop
      join seeded_types t on t.eshop_id = e.id and t.number = p.more % t.all_types),
    events as (
      insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
      select id, eshop_id, type, entity_id, '{}', at from made order by id),
    judged as materialized (
      select m.*, w.id as webhook_id, w.ends, hashint4(m.n * 31 + w.place) & 1073741823 as luck, w.place,
        w.place = ${LOSES}::int and m.at >= ${day(12)} and m.at < ${day(13)} as lost
      from made m join seeded_webhooks w
        on w.eshop_id = m.eshop_id and w.type = m.type and m.at >= w.begins and m.at < w.ends),
    sent as (
      select *, at as made_at, (left(id::text, 26) || substr(md5(n || ' ' || place), 1, 10))::uuid as delivery_id, false as again
      from judged
      union all
      select *, ${id(sql`made_at`, sql`md5(n || ' again ' || place)`)}, true from (
        select *, case when lost then ${day(14)} else at + interval '1 hour' end as made_at from judged
        where (lost or luck % 100 = 7) and at < now() - interval '1 hour') later),
    again as (
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
      select delivery_id, id, eshop_id, webhook_id, entity_id from sent where again)
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, operator_stop, operator_actions, created_at, dispatched_at,
      attempts_made, window_started_at, last_status)
    select delivery_id, id, eshop_id, webhook_id, type, entity_id, state, stop, case when stop is not null then ${sql.json([HELD])} end,
      made_at, made_at, case state when 'delivered' then 1 when 'pending' then 0 when 'retrying' then 3 else 21 end, case when state <> 'pending' then made_at end,
      case state when 'delivered' then 200 when 'pending' then null else 403 end
    from (select *,
      case when again then 'delivered' when lost or luck % 100 = 7 then 'failed'
        when at > ends - interval '2 days' and luck % 20 = 3 then 'retrying'
        when at > ends - interval '2 days' and luck % 20 = 4 then 'pending'
        when luck % 500 = 11 then 'failed' when luck % 500 = 12 then 'expired' when luck % 500 = 13 then 'canceled'
        else 'delivered' end as state
    from (
      select *, case when not again and not lost and at > ends - interval '2 days' and luck % 100 = 3 then 'hold' end as stop
      from sent) stopped) stated
    order by delivery_id`;
}

async function seededOf(sql: Pool, begin: Date): Promise<Seeded> {
  const [row] = await sql<Omit<Seeded, 'begin' | 'busyEntityId'>[]>`
    select e.id as eshop_id, w.id as webhook_id, c.id as changed_webhook_id, c.type as earlier_type,
      (select entity_id from events where eshop_id = e.id and entity_id <> 'busy' order by id limit 1) as entity_id,
      (select count(*)::int from deliveries) as deliveries
    from seeded_eshops e
    join seeded_webhooks w on w.place = ${LOSES} join seeded_webhooks c on c.place = ${CHANGES} and c.begins = ${begin}
    where e.place = 1`;
  if (row === undefined) throw new Error('Nothing was seeded.');
  return { ...row, begin, busyEntityId: 'busy' };
}

/** One attempt for each delivery, and as many records of each kind. */
export async function seedRecords(sql: Pool, eshopId: number): Promise<void> {
  const rows = sql`generate_series(1, (select count(*)::int from deliveries)) n`;
  const times = sql`now() - interval '1 minute' * n, now() - interval '1 minute' * n`;
  await sql`
    insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
    select id, 1, 1, created_at, created_at, 'success', 100, 200 from deliveries`;
  await sql`
    insert into products (eshop_id, sku, name, product_type, scan_serial_number, track_lot, track_expiration, fragile, age_check,
      active, created_at, updated_at)
    select ${eshopId}, n::text, 'A thing', 'finalProduct', false, false, false, false, false, true, ${times} from ${rows}`;
  await sql`
    insert into orders (eshop_id, eshop_order_id, status, order_type, paid, invoice_print, pick_from_quality, tracking_numbers,
      sanction, priority, disable_shipping_reorder, order_files, created_at, updated_at, status_history)
    select ${eshopId}, n::text, 'received', 'b2c', true, false, false, '{}', false, 0, false, '[]', ${times}, '[]' from ${rows}`;
  await sql`
    insert into receivings (eshop_id, eshop_receiving_id, duty, handling_units, packagings, status, supplier, created_at, updated_at)
    select ${eshopId}, n::text, false, 'carton', '[]', 'awaiting', 'Somebody', ${times} from ${rows}`;
  await sql`
    insert into returns (eshop_id, eshop_return_id, status, created_at, updated_at)
    select ${eshopId}, n::text, 'awaiting', ${times} from ${rows}`;
  await sql`
    insert into stock_movements (eshop_id, type, sku, count, balance, created_at)
    select ${eshopId}, 'receiving', n::text, 1, 1, now() - interval '1 minute' * n from ${rows}`;
  for (const table of ['attempts', 'products', 'orders', 'receivings', 'returns', 'stock_movements'])
    await sql`vacuum analyze ${sql(table)}`;
}
