/**
 * The cost of a claim among five million deliveries of five weeks, in five partitions: fills an empty, migrated database and shows the
 * plan of a claim.
 *
 *     DATABASE_URL=postgres://… node --import tsx bench/claims.ts [stored deliveries] [waiting deliveries]
 *
 * The user must be a superuser: the plan comes from auto_explain.
 */
import postgres from 'postgres';
import { createLimits } from '../src/concurrency/limits.ts';
import { schedulerDefaults } from '../src/concurrency/settings.ts';
import { claimDeliveries } from '../src/db/outbox/claim.ts';
import { CLASS } from '../src/db/outbox/outbox.ts';
import { listPartitions, partitionedTables } from '../src/db/retention/partitions.ts';
import { idAt } from '../src/domain/id-time.ts';
import { WEEK_MS, weekOf } from '../src/domain/weeks.ts';
import { makeAhead } from '../src/retention/retain.ts';

const ESHOPS = 200;
const WEBHOOKS_OF_EACH = 5;
const WEEKS = 5;
/** Rows per statement. */
const CHUNK = 250_000;

const [stored = 5_000_000, waiting = 100_000] = process.argv.slice(2).map(Number);
const plans: string[] = [];
const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 1,
  transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
  onnotice: ({ message }) => void plans.push(message ?? ''),
});

/** The partitions as they are after some weeks. */
async function makeWeeks(): Promise<void> {
  const ago = (weeks: number) => new Date(Date.now() - weeks * WEEK_MS);
  for (const { table, week } of await listPartitions(sql)) {
    if (/\d/.test(week)) await sql`drop table ${sql(`${table}_${week}`)}`;
  }
  for (const table of partitionedTables) {
    await sql.unsafe(`
      alter table ${table} detach partition ${table}_first;
      alter table ${table} attach partition ${table}_first for values from (minvalue) to ('${idAt(weekOf(ago(WEEKS)))}')`);
  }
  for (let weeks = WEEKS; weeks >= 0; weeks -= 1) await makeAhead(sql, { now: ago(weeks) });
}

async function fill(): Promise<void> {
  await makeWeeks();
  await sql`
    insert into eshops (name, email, api_key_hash)
    select 'shop ' || n, 'shop@example.test', decode(md5(n::text), 'hex') from generate_series(1, ${ESHOPS}::int) n`;
  await sql`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
    select e.id, 'https://shop' || e.id || '.example/hook', 'CREATE_ORDER', 'POST', true, 'v2', ''
    from eshops e, generate_series(1, ${WEBHOOKS_OF_EACH}::int) order by e.id`;
  for (let from = 0; from < stored + waiting; from += CHUNK) {
    // Most waiting deliveries are of one webhook, as after an import; the rest are spread over a hundred.
    await sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made, created_at,
        dispatched_at, window_started_at, last_attempt_at, finished_at)
      select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid, md5(n::text)::uuid, w.eshop_id, w.id, 'CREATE_ORDER', n::text,
        case when old then 'delivered' else 'pending' end, case when old then 1 else 0 end, t,
        case when old then t end, case when old then t end, case when old then t end, case when old then t end
      from generate_series(${from}::int, ${Math.min(from + CHUNK, stored + waiting) - 1}::int) n
      cross join lateral (select n < ${stored}::int as old, now() - make_interval(weeks => ${WEEKS}) * ((${stored + waiting}::int - n)::float8 / ${stored + waiting}::int) as t) x
      join webhooks w on w.id = (select min(id) from webhooks) +
        case when n >= ${stored}::int and n % 10 > 0 then 0 else n % ${ESHOPS * WEBHOOKS_OF_EACH}::int end`;
  }
  await sql`vacuum analyze deliveries`;
  await sql`vacuum analyze webhooks`;
}

const [counted] = await sql<{ count: number }[]>`select count(*)::int as count from deliveries`;
if (counted?.count === 0) await fill();

const limits = { class: CLASS.fresh, limit: 100, quotas: createLimits(schedulerDefaults).quotas(1) };
const times: number[] = [];
for (let round = 0; round < 20; round += 1) {
  const before = performance.now();
  await claimDeliveries(sql, limits);
  times.push(performance.now() - before);
}
times.sort((a, b) => a - b);
console.log(
  `${stored} stored, ${waiting} waiting at ${ESHOPS * WEBHOOKS_OF_EACH} webhooks: claims of 100, 20 times`,
);
console.log(`median ${times[10]?.toFixed(1)} ms, slowest ${times[19]?.toFixed(1)} ms`);
await sql`load 'auto_explain'`;
await sql.unsafe(`
  set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on;
  set auto_explain.log_timing = off; set client_min_messages = log`);
plans.length = 0;
await claimDeliveries(sql, limits);
console.log(plans.join('\n'));
await sql.end();
