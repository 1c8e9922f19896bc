/** Settings of the database as a whole. */
import type { Sql } from './connection/pool.ts';

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

/** The folder where mails are written without a mail server: workers note it when they start. */
const MAIL_FOLDER = 'mailFolder';

/** @param folder null: mails go to a mail server, or it is a trial, where files are no reason for an alarm */
export async function saveMailFolder(sql: Sql, folder: string | null): Promise<void> {
  await writeSetting(sql, MAIL_FOLDER, folder ?? '');
}

/** The folder noted by the worker that started last; null if mails go to a mail server, and in a trial. */
export async function mailFolder(sql: Sql): Promise<string | null> {
  return (await readSetting(sql, MAIL_FOLDER)) || null;
}
