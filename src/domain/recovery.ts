/** Recoveries: what a webhook did not get, delivered again (docs/interface.md, L10). */

/** What became of an event at a webhook, that it is recovered for. `missed`: it never became a delivery. */
export const recoverable = ['failed', 'expired', 'canceled', 'missed'] as const;
export type Recoverable = (typeof recoverable)[number];

/** What is recovered unless something else is asked for. */
export const usuallyRecovered: readonly Recoverable[] = ['failed', 'expired'];

/** What of a recovery was asked for; the rest follows from the webhook. */
export interface AskedOfRecovery {
  readonly since?: Date | undefined;
  readonly include?: readonly Recoverable[] | undefined;
}

/**
 * Since when and what is recovered, where that is not said: of a webhook that was deactivated, from then on, and what it missed too.
 * What happened before it existed has to be asked for, by naming `missed`.
 * @returns null where nobody knows since when
 */
export function recoveryOfWebhook(
  { since, include }: AskedOfRecovery,
  webhook: { readonly registeredAt: Date; readonly deactivatedAt: Date | null },
): { readonly since: Date; readonly include: readonly Recoverable[] } | null {
  const { registeredAt, deactivatedAt } = webhook;
  const from = since ?? deactivatedAt;
  if (from === null) return null;
  if (include !== undefined) return { since: from, include };
  if (deactivatedAt === null) return { since: from, include: usuallyRecovered };
  return {
    since: from < registeredAt ? registeredAt : from,
    include: [...usuallyRecovered, 'missed'],
  };
}

/** The states of a recovery. `paused` is also shown while the webhook of a running one is inactive. */
export const recoveryStates = ['running', 'paused', 'completed', 'canceled'] as const;
export type RecoveryState = (typeof recoveryStates)[number];

export const recoveryActions = ['pause', 'resume', 'cancel'] as const;
export type RecoveryAction = (typeof recoveryActions)[number];

/** Who paused or canceled a recovery: the e-shop, an operator in Temporal, or the deletion of its webhook. */
export type RecoveryActor = 'user' | 'operator' | 'deletion';

export interface RecoveryStanding {
  readonly state: RecoveryState;
  readonly by: RecoveryActor | null;
  /** The operator's. */
  readonly words: string | null;
  /** The webhook takes no deliveries at present. */
  readonly webhookInactive: boolean;
}

/** True while a recovery may still create deliveries, or waits for theirs to end. */
export function isUnderWay(state: RecoveryState): boolean {
  return state === 'running' || state === 'paused';
}

/** The state as it is shown: like the deliveries of an inactive webhook, its recovery waits. */
export function shownRecoveryState({ state, webhookInactive }: RecoveryStanding): RecoveryState {
  return state === 'running' && webhookInactive ? 'paused' : state;
}

const ACTORS: Readonly<Record<RecoveryActor, string>> = {
  user: 'on request',
  operator: 'by the operator of the warehouse',
  deletion: 'with its webhook, which was deleted',
};

/** Why it is paused or was canceled, as a sentence; null otherwise. */
export function recoveryReason(standing: RecoveryStanding): string | null {
  const { state, by, words, webhookInactive } = standing;
  if (state === 'running' && webhookInactive) {
    return 'The webhook is inactive: the recovery continues when it is activated.';
  }
  if ((state !== 'paused' && state !== 'canceled') || by === null) return null;
  const verb = state === 'paused' ? 'Paused' : 'Canceled';
  return `${verb} ${ACTORS[by]}${words === null || words === '' ? '.' : `: ${words}`}`;
}

/** What is known of the pace of a recovery, or of the receiver that it is for. */
export interface MeasuredPace {
  /** Deliveries of recoveries that ended per second, lately; null where none was measured. */
  readonly rate: number | null;
  /** How long the receiver took for the attempts that it accepted lately, in milliseconds; null where there was none. */
  readonly meanMs: number | null;
}

/** The fastest that a recovery creates deliveries, per second: `MAX_WAITING` in one step. */
const MAX_RATE_PER_SECOND = 250;
/** Attempts that a recovery has under way at one receiver, roughly. */
const AT_ONCE = 10;
/** A receiver about which nothing is known, in milliseconds. */
const UNKNOWN_MEAN_MS = 200;
/** What passes before the first and after the last delivery, in milliseconds. */
const FIXED_OVERHEAD_MS = 2_000;

/** How long so many deliveries will take, in milliseconds, from what was measured of the receiver. */
export function estimatedDurationMs(deliveries: number, { rate, meanMs }: MeasuredPace): number {
  if (deliveries === 0) return 0;
  const supposed = Math.min(MAX_RATE_PER_SECOND, (AT_ONCE * 1_000) / Math.max(1, meanMs ?? UNKNOWN_MEAN_MS));
  const perSecond = rate !== null && rate > 0 ? rate : supposed;
  return Math.round(FIXED_OVERHEAD_MS + (deliveries / perSecond) * 1_000);
}
