/** Examinations of each webhook's receiver (docs/interface.md, W17): one at a time, a limited number per hour. */
import { EXAMINATIONS_PER_HOUR } from '../../domain/examination.ts';
import { conflict, tooManyRequests } from '../../domain/problem.ts';
import type { Sql } from '../connection/pool.ts';
import { seconds } from '../predicates.ts';

/** How long an examination counts as under way after its process died, in seconds. */
const LEASE_S = 130;
/** How far ahead a stored time counts: a statement that waited for the row had read the clock before. */
const AHEAD_S = 60;

/**
 * @returns until when it counts as under way: this identifies it for {@link endExamination}
 * @throws Problem 409 while another is under way, 429 after too many within an hour
 */
export async function beginExamination(sql: Sql, webhookId: number): Promise<Date> {
  const clock = sql`(select date_trunc('milliseconds', clock_timestamp()) as now) clock`;
  const recent = sql`array(
    select t from unnest(e.times) t
    where t > clock.now - interval '1 hour' and t <= clock.now + ${seconds(sql, AHEAD_S)} order by t)`;
  const busy = sql`coalesce(
    e.busy_until > clock.now and e.busy_until <= clock.now + ${seconds(sql, LEASE_S + AHEAD_S)}, false)`;
  await sql`insert into examinations (webhook_id) values (${webhookId}) on conflict do nothing`;
  const [begun] = await sql<{ until: Date }[]>`
    update examinations e
    set times = ${recent} || clock.now, busy_until = clock.now + ${seconds(sql, LEASE_S)}
    from ${clock}
    where e.webhook_id = ${webhookId} and not ${busy} and cardinality(${recent}) < ${EXAMINATIONS_PER_HOUR}
    returning e.busy_until as until`;
  if (begun !== undefined) return begun.until;
  const [row] = await sql<{ busy: boolean; waitMs: number }[]>`
    select ${busy} as busy,
           coalesce(extract(epoch from (${recent})[1] + interval '1 hour' - clock.now), 0)::float8 * 1000 as wait_ms
    from examinations e, ${clock} where e.webhook_id = ${webhookId}`;
  if (row === undefined || row.busy)
    throw conflict(`Webhook ${webhookId} is being examined. Wait for the result.`);
  const message = `Webhook ${webhookId} was examined ${EXAMINATIONS_PER_HOUR} times within the last hour. Try again later.`;
  throw tooManyRequests(message, row.waitMs);
}

/** @param until as returned when it began: after that time another may have begun */
export async function endExamination(sql: Sql, webhookId: number, until: Date): Promise<void> {
  await sql`
    update examinations set busy_until = null
    where webhook_id = ${webhookId} and busy_until = ${until}::timestamptz`;
}
