/** Where mails go that nobody gets. */
import type { Sql } from './pool.ts';
import { readSetting, writeSetting } from './settings.ts';

/** The settings that workers write when they start. Of a trial, which alarms nobody, the folder is noted by itself. */
const MAIL_FOLDER = 'mailFolder';
const TRIAL_MAIL_FOLDER = 'trialMailFolder';

/** @param folder null: a mail server has them */
export async function noteMailFolder(sql: Sql, folder: string | null, trial: boolean): Promise<void> {
  await writeSetting(sql, MAIL_FOLDER, trial ? '' : (folder ?? ''));
  await writeSetting(sql, TRIAL_MAIL_FOLDER, trial ? (folder ?? '') : '');
}

/** Whether mails are written to files, also in a trial, as SQL. */
export const mailsAreFiles = (sql: Sql) => sql`
  exists (select from settings where name in (${MAIL_FOLDER}, ${TRIAL_MAIL_FOLDER}) and value <> '')`;

/** What the last worker that was started noted; null where a mail server has the mails, and in a trial. */
export async function mailFolder(sql: Sql): Promise<string | null> {
  return (await readSetting(sql, MAIL_FOLDER)) || null;
}
