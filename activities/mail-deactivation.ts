/**
 * The mail after a deactivation (docs/interface.md, D7).
 * @module
 */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Pool } from '../src/db/pool.ts';
import { readDeactivation, recordMailed, recordMailRefused } from '../src/db/webhooks/deactivations.ts';
import { deactivationMail } from '../src/mail/deactivation-mail.ts';
import type { Mailer } from '../src/mail/mail.ts';
import { MailError } from '../src/mail/mail-error.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** What the activity receives. */
export interface MailDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
}

/**
 * How long a mail is tried that the server refuses permanently, in milliseconds from the first refusal on: many a 5xx is
 * a mail server set up wrongly, and mended within a day. A server that is away, or asks for patience, is tried for ever.
 */
const REFUSED_PATIENCE_MS = 24 * 60 * 60 * 1_000;

/** The last heartbeat of an execution whose mail the server took: the next one has only to record that. */
const TAKEN = 'taken by the mail server';

/**
 * Makes the activity `mailDeactivation`. Recorded once the mail server took it, however long the database is away by
 * then: sent twice only if we die between the server's answer and the record, and then under the same Message-ID.
 */
export function createMailDeactivation(deps: MailDeps) {
  const { sql, mailer, log } = deps;
  return async function mailDeactivation(input: { webhookId: number; generation: number }): Promise<void> {
    const { webhookId, generation } = input;
    const notice = await readDeactivation(sql, webhookId, generation);
    if (notice === undefined || notice.mailedAt !== null) return;
    const { deliveryId } = notice;
    const context = Context.current();
    try {
      if (context.info.heartbeatDetails !== TAKEN) {
        await withHeartbeat(context, (signal) => mailer.send(deactivationMail(notice), signal));
        context.heartbeat(TAKEN);
      }
    } catch (error) {
      if (!(error instanceof MailError) || !error.refused) throw error;
      const refusal = { webhookId, generation, error: error.message, patienceMs: REFUSED_PATIENCE_MS };
      if (!(await recordMailRefused(sql, refusal))) throw error;
      log.error(
        { webhookId, deliveryId, alarm: 'mailRefused', reason: error.message },
        'a deactivation could not be mailed: the mail server refused it permanently',
      );
      return;
    }
    await recordMailed(sql, webhookId, generation);
    log.info({ webhookId, deliveryId }, 'deactivation mailed');
  };
}
