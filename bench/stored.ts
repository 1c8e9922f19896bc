/** Finished deliveries of the last four weeks, as stored: to measure among many of them. */
import type { Pool } from '../src/db/pool.ts';
import { benchRecord } from './backlog.ts';

const ESHOPS = 200;
const WEBHOOKS_OF_EACH = 5;
/** Rows per statement. */
const CHUNK = 250_000;
const DAYS = 28;

/** Fills a database. */
export interface Filling {
  /** Adds delivered deliveries, with their events and attempts, until this filling has that many. */
  fillUp(deliveries: number): Promise<void>;
}

/** Creates the e-shops and webhooks of the deliveries. */
export async function createFilling(sql: Pool, say: (text: string) => void): Promise<Filling> {
  const eshops = await sql<{ id: number }[]>`
    insert into eshops (name, email, api_key_hash)
    select 'stored ' || n, 'shop@example.test', decode(md5('stored' || n), 'hex') from generate_series(1, ${ESHOPS}::int) n
    returning id`;
  const webhooks = await sql<{ id: number; eshopId: number }[]>`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
    select e.id, 'https://shop' || e.id || '.example/hook', 'CREATE_ORDER', 'POST', true, 'v2', ''
    from unnest(${eshops.map(({ id }) => id)}::int[]) e (id), generate_series(1, ${WEBHOOKS_OF_EACH}::int)
    returning id, eshop_id`;
  const snapshot = JSON.stringify(benchRecord('stored'));
  let stored = 0;

  /** Ids are UUIDv7 with the time of the event; the delivery's follows that of its event. */
  async function add(from: number, to: number, all: number): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`
        create temporary table chunk on commit drop as
        select n, w.id as webhook_id, w.eshop_id, t,
          (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '7000' || lpad(to_hex(n::bigint * 2), 16, '8000000000000000'))::uuid as event_id,
          (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '7000' || lpad(to_hex(n::bigint * 2 + 1), 16, '8000000000000000'))::uuid as id
        from generate_series(${from}::int, ${to - 1}::int) n
        cross join lateral (
          select now() - make_interval(days => ${DAYS}) * (1 - n::float8 / ${all}::int) - interval '10 minutes' as t) time
        join unnest(${webhooks.map(({ id }) => id)}::int[], ${webhooks.map(({ eshopId }) => eshopId)}::int[])
          with ordinality w (id, eshop_id, place) on w.place = 1 + n % ${webhooks.length}::int`;
      await tx`
        insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
        select event_id, eshop_id, 'CREATE_ORDER', n::text, ${snapshot}, t from chunk order by n`;
      await tx`
        insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made, created_at,
          dispatched_at, window_started_at, last_attempt_at, last_status, finished_at)
        select id, event_id, eshop_id, webhook_id, 'CREATE_ORDER', n::text, 'delivered', 1, t, t, t, t, 200, t
        from chunk order by n`;
      await tx`
        insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
        select id, 1, 1, t, t, 'success', 12, 200 from chunk order by n`;
    });
  }

  return {
    async fillUp(deliveries) {
      for (; stored < deliveries; stored = Math.min(deliveries, stored + CHUNK)) {
        say(`storing ${deliveries} deliveries: ${stored} so far …`);
        await add(stored, Math.min(deliveries, stored + CHUNK), deliveries);
      }
      await sql`vacuum analyze`;
      await sql`checkpoint`;
    },
  };
}
