/** The mailer of a worker, as configured. */
import type { Settings } from '../config/variables.ts';
import type { Pool } from '../db/connection/pool.ts';
import { saveMailFolder } from '../db/settings.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import type { Mailer } from '../mail/mail.ts';
import { createMailer } from '../mail/mailer.ts';

/** @returns where mails are written if no mail server is configured, else null */
export function mailFolderOf({ SMTP_URL }: Settings, dataDir: DataDir): string | null {
  return SMTP_URL === undefined ? dataDir.join('mail') : null;
}

/** Makes the mailer, and records in the database where its mails go. @param print warns if nobody gets them */
export async function configuredMailer(
  sql: Pool,
  settings: Settings,
  dataDir: DataDir,
  print: (text: string) => void,
): Promise<Mailer> {
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = settings;
  const folder = mailFolderOf(settings, dataDir);
  // With the embedded database this is a trial, and the banner shows the folder.
  const trial = settings.DATABASE_URL === undefined;
  await saveMailFolder(sql, trial ? null : folder);
  if (folder !== null && !trial)
    print(`Mails: SMTP_URL is not set, so nobody gets them: they are written to ${folder}.`);
  return createMailer({ from, directory: dataDir.join('mail'), smtpUrl });
}
