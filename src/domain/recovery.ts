/** Recoveries: redelivery of the events that a webhook lost (docs/interface.md, L10). */
import { openTransaction } from './database-session.ts';
import { timeOf } from './id-time.ts';

/** The outcomes of an event at a webhook for which it can be recovered. `missed`: there never was a delivery. */
export const recoverable = ['failed', 'expired', 'canceled', 'missed'] as const;
export type Recoverable = (typeof recoverable)[number];

export const usuallyRecovered: readonly Recoverable[] = ['failed', 'expired', 'missed'];

/**
 * The start and the outcomes of a recovery. The default start is the last deactivation. Events from before the
 * webhook existed are recovered only if the request names `missed`.
 * @returns null if the start is not known
 */
export function recoveryOfWebhook(
  chosen: { readonly since?: Date | undefined; readonly include?: readonly Recoverable[] | undefined },
  webhook: { readonly registeredAt: Date; readonly deactivatedAt: Date | null },
): { readonly since: Date; readonly include: readonly Recoverable[] } | null {
  const { since, include } = chosen;
  const { registeredAt, deactivatedAt } = webhook;
  const from = since ?? deactivatedAt;
  if (from === null) return null;
  if (include !== undefined) return { since: from, include };
  return { since: from < registeredAt ? registeredAt : from, include: usuallyRecovered };
}

/**
 * The earliest time at which a deactivated webhook may have lost events. A delivery that failed or expired may have
 * begun up to a window before the deactivation; the delivery that caused it even earlier, since pauses and waits in
 * an ordering extend its window. Events from before the webhook existed are recovered only on request.
 */
export function lostSince(
  { at, deliveryId }: { readonly at: Date; readonly deliveryId: string | null },
  registeredAt: Date,
  windowMs: number,
): Date {
  const begun = Math.min(at.getTime() - windowMs, (deliveryId === null ? at : timeOf(deliveryId)).getTime());
  return new Date(Math.max(begun, registeredAt.getTime()));
}

/** The states of a recovery. `paused` is also shown while the webhook of a running one is inactive or paused. */
export const recoveryStates = ['running', 'paused', 'completed', 'canceled'] as const;
export type RecoveryState = (typeof recoveryStates)[number];

export const recoveryActions = ['pause', 'resume', 'cancel'] as const;
export type RecoveryAction = (typeof recoveryActions)[number];

/** Who paused or canceled a recovery: the e-shop, an operator in Temporal, or the deletion of its webhook. */
export type RecoveryActor = 'user' | 'operator' | 'deletion';

export interface RecoverySituation {
  readonly state: RecoveryState;
  readonly by: RecoveryActor | null;
  /** The operator's comment. */
  readonly comment: string | null;
  /** The webhook accepts no deliveries at present. */
  readonly webhookInactive: boolean;
  /** When the pause of the webhook ends; null if it is not paused. */
  readonly webhookPausedUntil: Date | null;
  /** The database session whose open transaction its end waits for; null if it waits for none. */
  readonly awaitedPid: number | null;
  readonly awaitedApplication: string | null;
  readonly awaitedSince: Date | null;
}

/** True while a recovery may still create deliveries, or waits for its deliveries to end. */
export function isUnderWay(state: RecoveryState): boolean {
  return state === 'running' || state === 'paused';
}

/** Whether its webhook makes no attempts at present. */
export function waitsForWebhook(
  standing: Pick<RecoverySituation, 'webhookInactive' | 'webhookPausedUntil'>,
): boolean {
  return standing.webhookInactive || standing.webhookPausedUntil !== null;
}

/** The state as shown: a recovery waits while its webhook is inactive or paused, as its deliveries do. */
export function shownRecoveryState(standing: RecoverySituation): RecoveryState {
  return standing.state === 'running' && waitsForWebhook(standing) ? 'paused' : standing.state;
}

const ACTORS: Readonly<Record<RecoveryActor, string>> = {
  user: 'on request',
  operator: 'by the operator of the warehouse',
  deletion: 'with its webhook, which was deleted',
};

/** Why it is paused or was canceled, or what its end waits for, as a sentence for its e-shop; null otherwise. */
export function recoveryReason(standing: RecoverySituation): string | null {
  const { state, by, comment, webhookInactive, webhookPausedUntil, awaitedPid } = standing;
  if (awaitedPid !== null) {
    return 'Nothing is left to send; it ends once everything that is still being written is complete.';
  }
  if (state === 'running' && webhookInactive) {
    return 'The webhook is inactive: the recovery continues when it is activated.';
  }
  if (state === 'running' && webhookPausedUntil !== null) {
    return `The webhook is paused until ${webhookPausedUntil.toISOString()}: the recovery continues then.`;
  }
  if ((state !== 'paused' && state !== 'canceled') || by === null) return null;
  const verb = state === 'paused' ? 'Paused' : 'Canceled';
  return `${verb} ${ACTORS[by]}${comment === null || comment === '' ? '.' : `: ${comment}`}`;
}

/** The reason for operators, with the name of the session that it waits for. */
export function operatorsRecoveryReason(standing: RecoverySituation): string | null {
  const { awaitedPid: pid, awaitedApplication: application, awaitedSince: since } = standing;
  if (pid === null) return recoveryReason(standing);
  return `Nothing is left to send; its end waits for ${openTransaction({ pid, application, since })}.`;
}

/** The measured pace of a recovery, or of its receiver. */
export interface MeasuredPace {
  /** Deliveries of recoveries that ended per second, recently; null if none was measured. */
  readonly rate: number | null;
  /** The mean duration of recently accepted attempts, in milliseconds; null if there was none. */
  readonly meanMs: number | null;
}

/** The maximum rate at which a recovery creates deliveries, per second: `MAX_WAITING` in one step. */
const MAX_RATE_PER_SECOND = 250;
/** Roughly how many attempts a recovery has under way at one receiver. */
const AT_ONCE = 10;
/** The assumed mean for a receiver about which nothing is known, in milliseconds. */
const UNKNOWN_MEAN_MS = 200;
/** The time before the first and after the last delivery, in milliseconds. */
const FIXED_OVERHEAD_MS = 2_000;

/** How long this many deliveries will take, in milliseconds, from the measurements of the receiver. */
export function estimatedDurationMs(deliveries: number, { rate, meanMs }: MeasuredPace): number {
  if (deliveries === 0) return 0;
  const supposed = Math.min(MAX_RATE_PER_SECOND, (AT_ONCE * 1_000) / Math.max(1, meanMs ?? UNKNOWN_MEAN_MS));
  const perSecond = rate !== null && rate > 0 ? rate : supposed;
  return Math.round(FIXED_OVERHEAD_MS + (deliveries / perSecond) * 1_000);
}
