/** Settings of the database as a whole. */
import type { Sql } from './pool.ts';

/** Writes a value unless there is one. @returns whether the stored value is this one */
export async function checkSetting(sql: Sql, name: string, value: string): Promise<boolean> {
  await sql`insert into settings (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
  return (await readSetting(sql, name)) === value;
}

export async function readSetting(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ value: string }[]>`select value from settings where name = ${name}`;
  return row?.value ?? null;
}

export async function writeSetting(sql: Sql, name: string, value: string): Promise<void> {
  await sql`
    insert into settings (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`;
}
