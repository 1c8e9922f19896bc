/**
 * Sends a due e-mail once. If the process dies after the mail server's response, before Temporal has its last
 * heartbeat, it is sent twice, with the same Message-ID.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import * as v from 'valibot';
import { giveBackMail, takeFromBudget } from '../src/db/incidents/mail-budget.ts';
import { deferMail, recordMailError, recordMailRejected } from '../src/db/incidents/mail-outcome.ts';
import { type Notice, recordNoticeSent } from '../src/db/notices/pending.ts';
import type { Pool } from '../src/db/pool.ts';
import type { Mail, Mailer } from '../src/mail/mail.ts';
import { MailError } from '../src/mail/mail-error.ts';
import type { NoticeResult } from '../workflows/notice-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** The dependencies of sending it. */
export interface MailOnceDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  /** How many mails are being sent now, of all that share these dependencies. */
  readonly mailsUnderWay: { count: number };
  readonly log: Logger;
}

/** A mail, and the notices deferred before that it includes: by id, since they enter a heartbeat. */
export interface MergedMail {
  readonly mail: Mail;
  readonly others: readonly string[];
}

type MailedNotice = Pick<Notice, 'id' | 'kind' | 'eshopId' | 'webhookId' | 'deliveryId'>;

/**
 * How long an e-mail that the server rejects permanently is retried, in milliseconds from the first rejection: many a
 * 5xx comes from a misconfigured server and is fixed within a day. Other failures of the server are retried forever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/**
 * The last heartbeat of an execution whose e-mail the server accepted: the others merged into it. The next execution
 * only has to record them all.
 */
const mergedWith = v.array(v.string());

/**
 * The most mails that a process sends at once: a quarter of the places of Waybill's own steps. A silent mail server
 * holds each for 40 s. More: deliveries wait for it too. Fewer: many mails take longer.
 */
const MAX_UNDER_WAY = 20;

/** The maximum number of deferred mails that are merged into one. */
export const MAX_MERGED = 50;

/**
 * Sends the mail of a notice and records that. Without a place in the e-shop's budget (docs/interface.md, N3) it is
 * deferred: retried when there is one, or merged with another mail by then.
 * @param make called once the budget has a place
 * @throws the error that kept it from being sent or recorded: to be retried
 */
export async function mailOnce(
  deps: MailOnceDeps,
  notice: MailedNotice,
  make: () => Promise<MergedMail>,
): Promise<NoticeResult> {
  const { sql, log } = deps;
  const { id: noticeId, kind, webhookId, deliveryId } = notice;
  const name = {
    noticeId,
    ...(webhookId === null ? {} : { webhookId }),
    ...(deliveryId === null ? {} : { deliveryId }),
  };
  const sent = v.safeParse(mergedWith, Context.current().info.heartbeatDetails);
  let others: readonly string[];
  try {
    others = sent.success ? sent.output : await send(deps, notice, make);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    if (!error.refused) {
      // Only for those who look, and not that this process is being stopped.
      if (!Context.current().cancellationSignal.aborted)
        await recordMailError(sql, noticeId, error.message).catch(() => {});
      throw error;
    }
    if (!(await recordMailRejected(sql, noticeId, error.message, REFUSED_PATIENCE_MS))) throw error;
    log.error(
      { ...name, alarm: 'mailRefused', reason: error.message },
      `a notice (${kind}) could not be mailed: the mail server has refused it for a day`,
    );
    return { outcome: 'refused' };
  }
  // Its own comes last: once that is recorded, a repeated activity does nothing.
  for (const each of [...others, noticeId]) await recordNoticeSent(sql, each);
  log.info(name, `notice (${kind}) mailed`);
  return { outcome: 'sent' };
}

/** @returns the others merged into it */
async function send(
  { sql, mailer, mailsUnderWay }: MailOnceDeps,
  notice: MailedNotice,
  make: () => Promise<MergedMail>,
): Promise<readonly string[]> {
  const context = Context.current();
  if (mailsUnderWay.count >= MAX_UNDER_WAY) throw deferral('the notice waits: many mails are being sent');
  mailsUnderWay.count += 1;
  try {
    await takePlace(sql, notice);
    try {
      const { mail, others } = await make();
      await withHeartbeat(context, (signal) => mailer.send(mail, signal));
      context.heartbeat(others);
      return others;
    } catch (error) {
      // If this fails, there is one place less for six minutes.
      await giveBackMail(sql, notice.eshopId).catch(() => {});
      throw error;
    }
  } finally {
    mailsUnderWay.count -= 1;
  }
}

/** @throws ApplicationFailure if there is none: to be retried when there is one */
async function takePlace(sql: Pool, { id, eshopId }: MailedNotice): Promise<void> {
  const wait = await takeFromBudget(sql, eshopId);
  if (wait === null) return;
  await deferMail(sql, id);
  throw deferral('the notice is deferred: its e-shop has been sent many mails in a short time', wait);
}

/** Fails a step that only waits. @param wait until it is retried, in milliseconds; default: as after a failure */
export function deferral(message: string, wait?: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'MailDeferred',
    category: ApplicationFailureCategory.BENIGN,
    ...(wait === undefined ? {} : { nextRetryDelay: wait }),
  });
}
