/**
 * An e-mail that is due: sent once, unless we die between the mail server's response and recording it; then it is sent
 * twice, with the same Message-ID.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import { giveBackMail, takeMail } from '../src/db/incidents/mail-budget.ts';
import { type OwesMail, putOffMail, recordMailed, recordMailRefused } from '../src/db/incidents/owed-mail.ts';
import type { Pool } from '../src/db/pool.ts';
import type { Mail, Mailer } from '../src/mail/mail.ts';
import { MailError } from '../src/mail/mail-error.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** What sends it. */
export interface MailOnceDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
}

/** An e-mail, and where its outcome is recorded. */
interface OwedMail {
  /** What it is about, in one word, as log lines call it. */
  readonly what: string;
  readonly owes: OwesMail;
  /** What log lines name. */
  readonly name: Readonly<Record<string, string | number>>;
  /** Whose budget it counts in (docs/interface.md, N3). */
  readonly eshopId: number;
  /** Made once there is a place for it in the budget: with what was put off before, the others. */
  make(): Promise<{ readonly mail: Mail; readonly others: readonly OwesMail[] }>;
}

/**
 * How long an e-mail that the server refuses permanently is retried, in milliseconds from the first refusal: many a 5xx
 * comes from a misconfigured mail server, and is fixed within a day. A server that cannot be reached, or refuses only
 * temporarily, is retried forever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/** The last heartbeat of an execution whose e-mail the server accepted: the next one only has to record that. */
const TAKEN = 'taken by the mail server';

/** How many that were put off are told in one mail beside the first. */
export const MOST_JOINED = 50;

/**
 * Sends it, and records that. One for which there is no place in the e-shop's budget is put off: it is tried again when there is
 * one, or has been told in another mail by then.
 * @returns false if it is given up
 * @throws whatever kept it from being sent or recorded: to be retried
 */
export async function mailOnce({ sql, mailer, log }: MailOnceDeps, owed: OwedMail): Promise<boolean> {
  const context = Context.current();
  const told = [owed.owes];
  try {
    if (context.info.heartbeatDetails !== TAKEN) {
      await takePlace(sql, owed);
      try {
        const { mail, others } = await owed.make();
        told.push(...others);
        await withHeartbeat(context, (signal) => mailer.send(mail, signal));
      } catch (error) {
        // Without it there is one place less, for six minutes.
        await giveBackMail(sql, owed.eshopId).catch(() => {});
        throw error;
      }
      context.heartbeat(TAKEN);
    }
  } catch (error) {
    if (!(error instanceof MailError) || !error.refused) throw error;
    if (!(await recordMailRefused(sql, owed.owes, error.message, REFUSED_PATIENCE_MS))) throw error;
    log.error(
      { ...owed.name, alarm: 'mailRefused', reason: error.message },
      `a ${owed.what} could not be mailed: the mail server has refused it for a day`,
    );
    return false;
  }
  for (const each of told) await recordMailed(sql, each);
  log.info(owed.name, `${owed.what} mailed`);
  return true;
}

/** @throws ApplicationFailure when there is none: to be retried when there is one */
async function takePlace(sql: Pool, { what, eshopId, owes }: OwedMail): Promise<void> {
  const wait = await takeMail(sql, eshopId);
  if (wait === null) return;
  await putOffMail(sql, owes);
  throw ApplicationFailure.create({
    message: `the ${what} is put off: its e-shop has been sent many mails in a short time`,
    type: 'MailPutOff',
    nextRetryDelay: wait,
    category: ApplicationFailureCategory.BENIGN,
  });
}
