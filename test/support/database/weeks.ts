/**
 * Deliveries of any chosen week, in a database with only the partitions that its migrations made.
 */
import { randomBytes } from 'node:crypto';
import type { Pool, Sql } from '../../../src/db/connection/pool.ts';
import { listPartitions, partitionedTables } from '../../../src/db/retention/partitions.ts';
import { idAt } from '../../../src/domain/id-time.ts';
import { WEEK_MS, weekName } from '../../../src/domain/weeks.ts';

/** The ways in which deliveries of {@link insertDelivery} differ. */
export interface DeliveryAt {
  readonly eshopId: number;
  readonly webhookId: number;
  /** The time in its id, and in that of its event. */
  readonly at: Date;
  /** The time in its event's id, if the delivery was made later; default: it was made with its event. */
  readonly eventAt?: Date;
  readonly state?: 'pending' | 'retrying' | 'delivered' | 'failed';
  /** By the database's clock; default: the time in its id. */
  readonly writtenAt?: Date;
}

/** A unique id with this time. */
export function newIdAt(time: Date): string {
  const random = randomBytes(8).toString('hex');
  return `${idAt(time).slice(0, 13)}-7000-${random.slice(0, 4)}-${random.slice(4)}`;
}

/** Writes a delivery with one attempt and its event. */
export async function insertDelivery(
  sql: Sql,
  delivery: DeliveryAt,
): Promise<{ id: string; eventId: string }> {
  const { eshopId, webhookId, at, eventAt, state = 'delivered', writtenAt = at } = delivery;
  const eventId = newIdAt(eventAt ?? at);
  const id = eventAt === undefined ? eventId.slice(0, 26) + randomBytes(5).toString('hex') : newIdAt(at);
  const finishedAt = state === 'delivered' || state === 'failed' ? writtenAt : null;
  await sql`
    insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
    values (${eventId}, ${eshopId}, 'CREATE_ORDER', '1', '{}', ${writtenAt})`;
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made, created_at,
      dispatched_at, window_started_at, last_attempt_at, finished_at)
    values (${id}, ${eventId}, ${eshopId}, ${webhookId}, 'CREATE_ORDER', '1', ${state}, 1, ${writtenAt}, ${writtenAt},
      ${writtenAt}, ${writtenAt}, ${finishedAt})`;
  if (eventAt !== undefined) {
    await sql`
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
      values (${id}, ${eventId}, ${eshopId}, ${webhookId}, '1')`;
  }
  await sql`
    insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome)
    values (${id}, 1, 1, ${writtenAt}, ${writtenAt}, ${state === 'delivered' ? 'success' : 'failure'})`;
  return { id, eventId };
}

/** The first day of the weeks that have partitions; the first partition lies before it. */
export async function firstWeek(sql: Pool): Promise<Date> {
  const [first] = await listPartitions(sql);
  if (first?.until == null) throw new Error('there is no first partition');
  return first.until;
}

/** This many weeks later. */
export const weeksAfter = (time: Date, weeks: number) => new Date(time.getTime() + weeks * WEEK_MS);

/** Makes the partitions of the migrations again, unless they are there alone. @param monday where the first ends */
export async function remakeWeeks(sql: Pool, monday: Date): Promise<void> {
  const partitions = await listPartitions(sql);
  if (partitions[0]?.week === 'first' && partitions.length === 3 * partitionedTables.length) return;
  const [end, next] = [idAt(monday), idAt(weeksAfter(monday, 1))];
  await sql.unsafe(
    [
      ...partitions.map(({ table, week }) => `drop table ${table}_${week}`),
      ...partitionedTables.flatMap((table) => [
        `create table ${table}_first partition of ${table} for values from (minvalue) to ('${end}')`,
        `create table ${table}_${weekName(monday)} partition of ${table} for values from ('${end}') to ('${next}')`,
        `create table ${table}_default partition of ${table} default`,
      ]),
    ].join(';'),
  );
}
