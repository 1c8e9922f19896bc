/** A recovery of any webhook, requested by an operator. */
import {
  estimatedDurationMs,
  type Recoverable,
  type RecoveryRequestResult,
  recoveryOfWebhook,
} from '../../domain/recovery.ts';
import type { Pool } from '../pool.ts';
import { eshopOfWebhook } from '../webhooks/all-webhooks.ts';
import { findWebhook } from '../webhooks/webhooks.ts';
import type { LostEventCount } from './lost-events.ts';
import { beginRecovery, measuredPace, previewRecovery, type RecoveryInput } from './recoveries.ts';

interface AskedRecovery extends RecoveryRequestResult {
  /** null: until now. */
  readonly until: Date | null;
  /** Only counted and estimated, for an inactive webhook too. */
  readonly dryRun: boolean;
}

export type RecoveryAnswer =
  /** `since`: the webhook has never been deactivated, so a start has to be given. */
  | { readonly kind: 'notFound' | 'inactive' | 'since' }
  /** Another recovery of this webhook is still looking for its events. */
  | { readonly kind: 'busy'; readonly recoveryId: string }
  | {
      /** `known`: it was requested before. */
      readonly kind: 'counted' | 'begun' | 'known';
      /** null if it was only counted. */
      readonly recoveryId: string | null;
      readonly found: LostEventCount;
      readonly since: Date;
      readonly include: readonly Recoverable[];
      readonly until: Date;
      readonly estimatedDurationMs: number;
    };

export async function askForRecovery(
  sql: Pool,
  webhookId: number,
  { dryRun, until: asked, ...given }: AskedRecovery,
): Promise<RecoveryAnswer> {
  const eshopId = await eshopOfWebhook(sql, webhookId);
  const webhook = eshopId === null ? null : await findWebhook(sql, eshopId, webhookId);
  if (eshopId === null || webhook === null) return { kind: 'notFound' };
  const what = recoveryOfWebhook(given, webhook);
  if (what === null) return { kind: 'since' };
  const input: RecoveryInput = { eshopId, webhookId, until: asked, ...what };
  const pace = await measuredPace(sql, webhookId);
  if (dryRun) {
    const { until, ...found } = await previewRecovery(sql, input);
    const estimate = estimatedDurationMs(found.count, pace);
    return { kind: 'counted', recoveryId: null, found, until, ...what, estimatedDurationMs: estimate };
  }
  if (!webhook.active) return { kind: 'inactive' };
  const begun = await beginRecovery(sql, input);
  if (begun.kind === 'busy') return begun;
  return { ...begun, ...what, estimatedDurationMs: estimatedDurationMs(begun.found.count, pace) };
}
