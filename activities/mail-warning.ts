/** The e-mails before a deactivation (docs/interface.md, W15) and about lost secrets (W20). */
import {
  dropWarning,
  otherDeferredWarnings,
  readWarning,
  type WarningNotice,
} from '../src/db/incidents/warnings.ts';
import { deactivationAt } from '../src/domain/incident.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';
import { lostSecretsMail } from '../src/mail/lost-secrets-mail.ts';
import type { Mail } from '../src/mail/mail.ts';
import { type Warning, warningMail } from '../src/mail/warning-mail.ts';
import type { WarningActivities } from '../workflows/warning-types.ts';
import type { MailDeps } from './mail-deactivation.ts';
import { MAX_MERGED, mailOnce } from './mail-once.ts';

export interface MailWarningDeps extends MailDeps {
  /** The retry policy of deliveries. */
  readonly policy: RetryPolicy;
}

/** Makes the activity `mailWarning`. A warning that no longer applies when it is due is not sent. */
export function createWarningActivities(deps: MailWarningDeps): WarningActivities {
  const { sql, log } = deps;
  return {
    async mailWarning(id) {
      const notice = await readWarning(sql, id);
      if (notice === undefined || !notice.unsent) return { outcome: 'endedBefore' };
      const { webhookId } = notice;
      const mail = mailOf(notice, deps);
      if (mail === null) {
        await dropWarning(sql, id);
        log.info({ webhookId, warningId: id }, 'warning dropped: there is nothing to warn of any more');
        return { outcome: 'dropped' };
      }
      const mailed = await mailOnce(deps, {
        what: 'warning',
        key: { id },
        name: { webhookId, warningId: id },
        eshopId: notice.eshopId,
        async make() {
          const others = notice.lost === null ? await otherDeferred(deps, notice) : [];
          return { mail: mail(others), others: others.map((other) => ({ id: other.id })) };
        },
      });
      return { outcome: mailed ? 'mailed' : 'refused' };
    },
  };
}

/** @returns makes the mail, merged with others that were deferred; null if it no longer applies */
function mailOf(
  notice: WarningNotice,
  { policy, publicUrl }: MailWarningDeps,
): ((others: readonly Warning[]) => Mail) | null {
  const { id, lost, eshopName, email } = notice;
  if (lost !== null) {
    return lost.length === 0 ? null : () => lostSecretsMail({ id, lost, eshopName, email }, publicUrl);
  }
  const warning = notice.stillNeeded ? warningOf(notice, policy) : null;
  return warning === null ? null : (others) => warningMail(warning, publicUrl, others);
}

/** The other warnings that still apply. */
async function otherDeferred({ sql, policy }: MailWarningDeps, notice: WarningNotice): Promise<Warning[]> {
  const others: Warning[] = [];
  for (const id of await otherDeferredWarnings(sql, notice, MAX_MERGED)) {
    const other = await readWarning(sql, id);
    const warning = other?.unsent && other.stillNeeded ? warningOf(other, policy) : null;
    if (warning !== null) others.push(warning);
  }
  return others;
}

/** A warning is of one delivery, or of the webhook's incident. @returns null if nothing fails any more */
export function warningOf(notice: WarningNotice, policy: RetryPolicy): Warning | null {
  const ofOne = notice.deliveryId !== null;
  const since = ofOne ? notice.deliverySince : notice.incidentSince;
  const failures = ofOne ? notice.deliveryAttempts : notice.incidentFailures;
  const lastError = ofOne ? notice.deliveryError : notice.incidentError;
  if (since === null || failures === null) return null;
  return { ...notice, since, failures, lastError, deactivationAt: deactivationAt(policy, notice) };
}
