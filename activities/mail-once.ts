/**
 * An e-mail that is due: sent once, unless we die between the mail server's response and recording it; then it is sent
 * twice, with the same Message-ID.
 */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Mail, Mailer } from '../src/mail/mail.ts';
import { MailError } from '../src/mail/mail-error.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** What sends it. */
export interface MailOnceDeps {
  readonly mailer: Mailer;
  readonly log: Logger;
}

/** An e-mail, and how its outcome is recorded. */
export interface OwedMail {
  /** What it is about, in one word, as log lines call it. */
  readonly what: string;
  /** What log lines name. */
  readonly name: Readonly<Record<string, string | number>>;
  readonly mail: Mail;
  /** Records that the server accepted it. */
  taken(): Promise<void>;
  /** Records that the server refuses it for good. @returns whether it is given up */
  refused(error: string, patienceMs: number): Promise<boolean>;
}

/**
 * How long an e-mail that the server refuses permanently is retried, in milliseconds from the first refusal: many a 5xx
 * comes from a misconfigured mail server, and is fixed within a day. A server that cannot be reached, or refuses only
 * temporarily, is retried forever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/** The last heartbeat of an execution whose e-mail the server accepted: the next one only has to record that. */
const TAKEN = 'taken by the mail server';

/**
 * Sends it, and records that.
 * @returns false if it is given up
 * @throws whatever kept it from being sent or recorded: to be retried
 */
export async function mailOnce({ mailer, log }: MailOnceDeps, owed: OwedMail): Promise<boolean> {
  const context = Context.current();
  try {
    if (context.info.heartbeatDetails !== TAKEN) {
      await withHeartbeat(context, (signal) => mailer.send(owed.mail, signal));
      context.heartbeat(TAKEN);
    }
  } catch (error) {
    if (!(error instanceof MailError) || !error.refused) throw error;
    if (!(await owed.refused(error.message, REFUSED_PATIENCE_MS))) throw error;
    log.error(
      { ...owed.name, alarm: 'mailRefused', reason: error.message },
      `a ${owed.what} could not be mailed: the mail server has refused it for a day`,
    );
    return false;
  }
  await owed.taken();
  log.info(owed.name, `${owed.what} mailed`);
  return true;
}
