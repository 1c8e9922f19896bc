/**
 * Sends a due e-mail once. If the process dies after the mail server's response, before Temporal has its last
 * heartbeat, it is sent twice, with the same Message-ID.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import * as v from 'valibot';
import type { Pool } from '../src/db/connection/pool.ts';
import { claimMail, giveBackClaim } from '../src/db/notices/mail-budget.ts';
import type { Notice } from '../src/db/notices/notice.ts';
import { recordMailError, recordMailRejected, recordNoticeSent } from '../src/db/notices/outcome.ts';
import { type Mail, MailError, type Mailer } from '../src/mail/mail.ts';
import type { NoticeResult } from '../workflows/delivery-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** The dependencies of sending it. */
export interface MailOnceDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  /** How many mails all users of these dependencies are sending now. */
  readonly mailsUnderWay: { count: number };
  readonly log: Logger;
}

/** A mail, and the ids of the deferred notices that it includes; ids, since a heartbeat stores them. */
interface MergedMail {
  readonly mail: Mail;
  readonly others: readonly string[];
}

type MailedNotice = Pick<
  Notice,
  'id' | 'kind' | 'eshopId' | 'webhookId' | 'deliveryId' | 'recipient' | 'addressId'
>;

/**
 * How long an e-mail that the server rejects permanently is retried, in milliseconds from the first rejection: many
 * 5xx responses come from a misconfigured server, and are fixed within a day. Other failures of the server are
 * retried forever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/** The last heartbeat of an execution after the recipient accepted the mail: the ids of the other notices in it. */
const accepted = v.array(v.string());

/** The other notices in a mail that an earlier execution sent without recording it; null if none did. */
export function acceptedBefore(): readonly string[] | null {
  const parsed = v.safeParse(accepted, Context.current().info.heartbeatDetails);
  return parsed.success ? parsed.output : null;
}

/**
 * The most mails that a process sends at once: a quarter of the places of Waybill's own steps. A silent mail server
 * holds each for 40 s. Too high: deliveries wait for it too. Too low: many mails take longer.
 */
const MAX_UNDER_WAY = 20;

/**
 * Sends the mail of a notice and records that. If the e-shop's budget is used up (docs/interface.md, N3), the notice
 * is deferred: it is retried later, unless another mail includes it before.
 * @param make called once the budget has a place, with the notices deferred before; returns those that it includes
 * @throws the error that kept it from being sent or recorded: to be retried
 */
export async function mailOnce(
  deps: MailOnceDeps,
  notice: MailedNotice,
  make: (deferred: readonly string[]) => Promise<MergedMail>,
): Promise<NoticeResult> {
  const { sql, log } = deps;
  const { id: noticeId, kind } = notice;
  let others: readonly string[];
  try {
    others = await send(deps, notice, make);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    if (!error.refused) {
      // The error is recorded for operators to read. If this process is being stopped, the server is not to blame.
      if (!Context.current().cancellationSignal.aborted)
        await recordMailError(sql, noticeId, error.message).catch(() => {});
      throw error;
    }
    if (!(await recordMailRejected(sql, noticeId, error.message, REFUSED_PATIENCE_MS))) throw error;
    const found = { ...nameOf(notice), reason: error.message };
    // The e-shop named its further addresses itself: their failures raise no alarm.
    if (notice.recipient === 'email')
      log.error(
        { ...found, alarm: 'mailRefused' },
        `a notice (${kind}) could not be mailed: the mail server has refused it for a day`,
      );
    else log.warn(found, `a notice (${kind}) could not be mailed: the mail server has refused it for a day`);
    return { outcome: 'refused' };
  }
  return await recordAccepted(deps, notice, others);
}

/** Records that the recipient accepted it. @param others included in it */
export async function recordAccepted(
  { sql, log }: Pick<MailOnceDeps, 'sql' | 'log'>,
  notice: MailedNotice,
  others: readonly string[],
): Promise<NoticeResult> {
  // The notice itself comes last: once it is recorded, a repeated activity does nothing.
  for (const each of [...others, notice.id]) await recordNoticeSent(sql, each);
  log.info(nameOf(notice), notice.recipient === 'url' ? 'notice sent' : `notice (${notice.kind}) mailed`);
  return { outcome: 'sent' };
}

/** The identifiers of a notice, for log lines. */
export const nameOf = ({ id, eshopId, webhookId, deliveryId }: MailedNotice) => ({
  noticeId: id,
  eshopId,
  ...(webhookId === null ? {} : { webhookId }),
  ...(deliveryId === null ? {} : { deliveryId }),
});

/** @returns the others merged into it */
async function send(
  { sql, mailer, mailsUnderWay }: MailOnceDeps,
  notice: MailedNotice,
  make: (deferred: readonly string[]) => Promise<MergedMail>,
): Promise<readonly string[]> {
  const context = Context.current();
  if (mailsUnderWay.count >= MAX_UNDER_WAY) throw deferral('the notice waits: many mails are being sent');
  mailsUnderWay.count += 1;
  try {
    const claimed = await claimMail(sql, notice);
    if ('waitMs' in claimed)
      throw deferral('the notice is deferred: its e-shop is sent many mails', claimed.waitMs);
    try {
      const { mail, others } = await make(claimed.others);
      await withHeartbeat(context, (signal) => mailer.send(mail, signal));
      context.heartbeat(others);
      return others;
    } catch (error) {
      // If this fails, the budget has one place less for six minutes, and these notices wait for two minutes.
      await giveBackClaim(sql, notice, claimed.others).catch(() => {});
      throw error;
    }
  } finally {
    mailsUnderWay.count -= 1;
  }
}

/** Makes a step fail so that it is retried. @param wait until then, in milliseconds; default: as after a failure */
export function deferral(message: string, wait?: number, type = 'NoticeDeferred'): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type,
    category: ApplicationFailureCategory.BENIGN,
    ...(wait === undefined ? {} : { nextRetryDelay: wait }),
  });
}
