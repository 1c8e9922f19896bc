/**
 * An e-mail that is due: sent once. If the process dies after the mail server's response, before Temporal has its last heartbeat, it is
 * sent twice, with the same Message-ID.
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

/** The dependencies of sending it. */
export interface MailOnceDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
}

/** An e-mail, and where its outcome is recorded. */
interface OwedMail {
  /** Its subject in one word, for log lines. */
  readonly what: string;
  readonly owes: OwesMail;
  /** The identifiers in log lines. */
  readonly name: Readonly<Record<string, string | number>>;
  /** The e-shop whose budget it counts against (docs/interface.md, N3). */
  readonly eshopId: number;
  /** Makes the mail once there is a place for it in the budget: includes mails put off before, the others. */
  make(): Promise<{ readonly mail: Mail; readonly others: readonly OwesMail[] }>;
}

/**
 * How long an e-mail that the server refuses permanently is retried, in milliseconds from the first refusal: many a 5xx comes from a
 * misconfigured mail server and is fixed within a day. If the server cannot be reached, or refuses only temporarily, it is retried
 * forever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/** The last heartbeat of an execution whose e-mail the server accepted: the next execution only has to record that. */
const TAKEN = 'taken by the mail server';

/** The most put-off mails that are joined with one mail. */
export const MOST_JOINED = 50;

/**
 * Sends it and records that. If there is no place in the e-shop's budget, it is put off: it is retried when there is one, or is joined
 * with another mail by then.
 * @returns false if it is given up
 * @throws the error that kept it from being sent or recorded: to be retried
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
        // If this fails, there is one place less for six minutes.
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

/** @throws ApplicationFailure if there is none: to be retried when there is one */
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
