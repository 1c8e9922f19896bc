/** The folder where mails are written without a mail server. */
import type { Sql } from './pool.ts';
import { readSetting, writeSetting } from './settings.ts';

/** The setting that workers write when they start. */
const MAIL_FOLDER = 'mailFolder';

/** @param folder null: mails go to a mail server, or it is a trial, where files are no reason for an alarm */
export async function noteMailFolder(sql: Sql, folder: string | null): Promise<void> {
  await writeSetting(sql, MAIL_FOLDER, folder ?? '');
}

/** The folder noted by the worker that started last; null if mails go to a mail server, and in a trial. */
export async function mailFolder(sql: Sql): Promise<string | null> {
  return (await readSetting(sql, MAIL_FOLDER)) || null;
}
