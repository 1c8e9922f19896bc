/**
 * The mail after a deactivation (given.md, "Delivery rules" 7).
 * @module
 */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { readDeactivation, recordMailed } from '../src/db/deliveries.ts';
import type { Pool } from '../src/db/pool.ts';
import { deactivationMail } from '../src/mail/deactivation-mail.ts';
import type { Mailer } from '../src/mail/mailer.ts';
import { alive } from './alive.ts';

/** What the activity receives. */
export interface MailDeps {
  readonly sql: Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
}

/**
 * Makes the activity `mailDeactivation`. Recorded once the mail server took it: sent twice only if we die between
 * its answer and the record, and then under the same Message-ID.
 */
export function createMailDeactivation(deps: MailDeps) {
  return async function mailDeactivation(input: { webhookId: number; generation: number }): Promise<void> {
    const notice = await readDeactivation(deps.sql, input.webhookId, input.generation);
    if (notice === undefined || notice.mailedAt !== null) return;
    await alive(Context.current(), () => deps.mailer.send(deactivationMail(notice)));
    await recordMailed(deps.sql, input.webhookId, input.generation, new Date());
    deps.log.info({ webhookId: input.webhookId, deliveryId: notice.deliveryId }, 'deactivation mailed');
  };
}
