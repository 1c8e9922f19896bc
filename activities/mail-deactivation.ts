/** The e-mail after a deactivation (docs/interface.md, D7). */
import { otherDeferredDeactivations, readDeactivation } from '../src/db/webhooks/deactivations.ts';
import { deactivationMail } from '../src/mail/deactivation-mail.ts';
import { MAX_MERGED, type MailOnceDeps, mailOnce } from './mail-once.ts';

export interface MailDeps extends MailOnceDeps {
  /** The URL of the API, for links in mails; null: not known. */
  readonly publicUrl: string | null;
}

/** Makes the activity `mailDeactivation`: an accepted e-mail is recorded, however long the database is away. */
export function createMailDeactivation(deps: MailDeps) {
  const { sql } = deps;
  return async function mailDeactivation(input: { webhookId: number; generation: number }): Promise<void> {
    const { webhookId, generation } = input;
    const notice = await readDeactivation(sql, webhookId, generation);
    if (notice === undefined || notice.mailedAt !== null) return;
    await mailOnce(deps, {
      what: 'deactivation',
      key: { webhookId, generation },
      name: { webhookId, deliveryId: notice.deliveryId },
      eshopId: notice.eshopId,
      async make() {
        const others = await otherDeferredDeactivations(sql, notice, MAX_MERGED);
        return {
          mail: deactivationMail(notice, deps.publicUrl, others),
          others: others.map((other) => ({ webhookId: other.webhookId, generation: other.generation })),
        };
      },
    });
  };
}
