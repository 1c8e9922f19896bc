/** The folder where mails are written without a mail server. */
import type { Sql } from './pool.ts';
import { readSetting, writeSetting } from './settings.ts';

/**
 * The settings that workers write when they start. A trial has its own, since its folder is no reason for an alarm.
 */
const MAIL_FOLDER = 'mailFolder';
const TRIAL_MAIL_FOLDER = 'trialMailFolder';

/** @param folder null: mails go to a mail server */
export async function noteMailFolder(sql: Sql, folder: string | null, trial: boolean): Promise<void> {
  await writeSetting(sql, MAIL_FOLDER, trial ? '' : (folder ?? ''));
  await writeSetting(sql, TRIAL_MAIL_FOLDER, trial ? (folder ?? '') : '');
}

/** Whether mails are written to files, in a trial too, as SQL. */
export const mailsAreFiles = (sql: Sql) => sql`
  exists (select from settings where name in (${MAIL_FOLDER}, ${TRIAL_MAIL_FOLDER}) and value <> '')`;

/** The folder noted by the worker that started last; null if mails go to a mail server, and in a trial. */
export async function mailFolder(sql: Sql): Promise<string | null> {
  return (await readSetting(sql, MAIL_FOLDER)) || null;
}
