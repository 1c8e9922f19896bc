/** What a notice is about, as it is when it is due. */
import { readWarning } from '../src/db/incidents/warnings.ts';
import { type Notice, readRecoveredWebhook } from '../src/db/notices/pending.ts';
import { readDeactivation } from '../src/db/webhooks/deactivations.ts';
import type { Deactivation, RecoveredWebhook } from '../src/domain/mailed.ts';
import type { Warning } from '../src/mail/warning-mail.ts';
import { type MailWarningDeps, warningOf } from './mail-warning.ts';

export type Subject =
  | { readonly kind: 'warning'; readonly warning: Warning }
  | { readonly kind: 'deactivated'; readonly deactivation: Deactivation }
  | { readonly kind: 'recovered'; readonly well: RecoveredWebhook };

/** @returns null if it no longer applies or is no longer wanted; `later` if another notice has to come first */
export async function subjectOf(
  { sql, policy }: Pick<MailWarningDeps, 'sql' | 'policy'>,
  notice: Notice,
): Promise<Subject | 'later' | null> {
  const { id, kind, wanted, warningId, webhookId, generation } = notice;
  if (!wanted) return null;
  if (kind === 'warning' && warningId !== null) {
    const found = await readWarning(sql, warningId);
    const warning = found?.stillNeeded === true ? warningOf(found, policy) : null;
    return warning === null ? null : { kind, warning };
  }
  if (kind === 'deactivated' && webhookId !== null && generation !== null) {
    const deactivation = await readDeactivation(sql, webhookId, generation);
    return deactivation === undefined ? null : { kind, deactivation };
  }
  if (kind !== 'recovered') return null;
  const well = await readRecoveredWebhook(sql, id);
  if (well === undefined || well.informed === 'no') return null;
  return well.informed === 'later' ? 'later' : { kind, well };
}
