/** Where mails go that nobody gets. */
import type { Sql } from './pool.ts';
import { readSetting, writeSetting } from './settings.ts';

/** The setting that workers write when they start. */
const MAIL_FOLDER = 'mailFolder';

/** @param folder null: a mail server has them */
export async function noteMailFolder(sql: Sql, folder: string | null): Promise<void> {
  await writeSetting(sql, MAIL_FOLDER, folder ?? '');
}

/** What the last worker that was started noted; null where a mail server has the mails. */
export async function mailFolder(sql: Sql): Promise<string | null> {
  return (await readSetting(sql, MAIL_FOLDER)) || null;
}
