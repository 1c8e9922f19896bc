/**
 * When workers last asked the queue for deliveries of each class, for commands that cannot ask the workers. A claim
 * that finds nothing counts as well: while all receivers of a class hang, the workers still ask.
 */
import type { Sql } from '../connection/pool.ts';
import { asyncCommit, CLASS } from './outbox.ts';

/** The classes that loops claim. */
type ClaimedClass = Exclude<keyof typeof CLASS, 'blocked'>;

/**
 * How often a process notes the claims of a class, in milliseconds. Too low: writes that say nothing new. Too high: a
 * class that is claimed looks abandoned.
 */
const NOTED_EVERY_MS = 30_000;

const settingOf = (name: string) => `last claim: ${name}`;

/** @returns a function to call after each claim; it neither waits nor fails */
export function recordLastClaims(sql: Sql): (name: ClaimedClass) => void {
  const notedAt = new Map<ClaimedClass, number>();
  return (name) => {
    const now = performance.now();
    if (now - (notedAt.get(name) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY_MS) return;
    notedAt.set(name, now);
    // Without a database nothing is claimed, and the next note comes soon.
    void note(sql, name).catch(() => {});
  };
}

async function note(sql: Sql, name: ClaimedClass): Promise<void> {
  await sql`
    insert into settings (name, value)
    select ${settingOf(name)}, extract(epoch from now())::text where ${asyncCommit(sql)}
    on conflict (name) do update set value = excluded.value`;
}

/**
 * The classes that a worker has claimed within two notes of it, as SQL. Other settings are no numbers, and Postgres
 * may check conditions on `s` alone before it joins.
 */
export const claimedLately = (sql: Sql) => sql`
  array(
    select n.class
    from unnest(${Object.keys(CLASS).map(settingOf)}::text[], ${Object.values(CLASS)}::smallint[]) n (setting, class)
    join settings s on s.name = n.setting
    where case when s.name = n.setting
      then s.value::numeric > extract(epoch from now()) - ${(2 * NOTED_EVERY_MS) / 1_000}::int end)`;

/** How long ago each class was last claimed, in seconds (up to half a minute too high); absent if it never was. */
export async function readLastClaims(sql: Sql): Promise<Readonly<Partial<Record<ClaimedClass, number>>>> {
  const names = Object.keys(CLASS);
  const rows = await sql<{ name: string; seconds: number }[]>`
    select n.name, (extract(epoch from now()) - s.value::numeric)::float8 as seconds
    from unnest(${names}::text[], ${names.map(settingOf)}::text[]) n (name, setting) join settings s on s.name = n.setting`;
  return Object.fromEntries(rows.map(({ name, seconds }) => [name, seconds]));
}
