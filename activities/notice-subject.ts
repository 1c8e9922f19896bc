/** The subject of a notice, read when the notice is due. */
import type { Pool } from '../src/db/connection/pool.ts';
import { readWarning, type StoredWarning } from '../src/db/incidents/warnings.ts';
import { type Notice, readDeactivation, readRecoveredWebhook } from '../src/db/notices/notice.ts';
import { deactivationAt } from '../src/domain/incident.ts';
import type { Deactivation, RecoveredWebhook } from '../src/domain/mailed.ts';
import { lostSince } from '../src/domain/recovery.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';
import type { Warning } from '../src/mail/warning-mail.ts';

export type Subject =
  | { readonly kind: 'warning'; readonly warning: Warning }
  | { readonly kind: 'deactivated'; readonly deactivation: Deactivation }
  | { readonly kind: 'recovered'; readonly well: RecoveredWebhook };

export interface SubjectDeps {
  readonly sql: Pool;
  /** The retry policy of deliveries. */
  readonly policy: RetryPolicy;
}

/**
 * @returns null if it no longer applies or is no longer wanted; `later` if another notice has to come first, or the
 * webhook is paused
 */
export async function subjectOf(
  { sql, policy }: SubjectDeps,
  notice: Notice,
): Promise<Subject | 'later' | null> {
  const { id, kind, wanted, webhookId, generation } = notice;
  if (!wanted) return null;
  if (kind === 'warning') {
    const found = await readWarning(sql, id);
    if (found?.webhookPaused === true) return 'later';
    const warning = found?.stillNeeded === true ? warningOf(found, policy) : null;
    return warning === null ? null : { kind, warning };
  }
  if (kind === 'deactivated' && webhookId !== null && generation !== null) {
    const found = await readDeactivation(sql, webhookId, generation);
    if (found === null) return null;
    return {
      kind,
      deactivation: { ...found, lostSince: lostSince(found, found.registeredAt, policy.windowMs) },
    };
  }
  if (kind !== 'recovered') return null;
  const well = await readRecoveredWebhook(sql, id);
  if (well === null || well.informed === 'no') return null;
  return well.informed === 'later' ? 'later' : { kind, well };
}

/** A warning is about one delivery, or about the webhook's incident. @returns null if nothing fails any more */
function warningOf(stored: StoredWarning, policy: RetryPolicy): Warning | null {
  const ofOne = stored.deliveryId !== null;
  const since = ofOne ? stored.deliverySince : stored.incidentSince;
  const failures = ofOne ? stored.deliveryAttempts : stored.incidentFailures;
  const lastError = ofOne ? stored.deliveryError : stored.incidentError;
  if (since === null || failures === null) return null;
  return { ...stored, since, failures, lastError, deactivationAt: deactivationAt(policy, stored) };
}
