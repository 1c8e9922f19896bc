/**
 * The actions that an operator may request for an open delivery, and their effects
 * (docs/decisions/0090-operator-actions.md). Pure.
 */
import { type DeliveryState, isOpen, type StoredState } from './delivery-state.ts';
import type { Role } from './role.ts';
import { isPaused } from './webhook-pause.ts';

export const actionNames = ['tryNow', 'hold', 'resume', 'giveUp'] as const;
export type ActionName = (typeof actionNames)[number];

/** A stop to the attempts of a delivery: until it is resumed, or for good. */
export type OperatorStop = 'hold' | 'giveUp';

export interface OperatorAction {
  /** Stays the same if it is recorded again, by an interrupted step or a reset workflow. */
  readonly id: string;
  readonly action: ActionName;
  readonly by: string;
  /** Empty if none was given. */
  readonly reason: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** Requested by a user of the e-shop, not by an operator of the warehouse. */
  readonly user?: true;
}

/** A requested action; the database sets `at`. */
export type RequestedAction = Omit<OperatorAction, 'at'>;

/** The operator's name if none is given. */
export const UNNAMED_OPERATOR = 'an operator';

/**
 * The longest reason and name, in characters. Histories depend on them: another value needs `patched()`
 * (docs/changing-workflows.md).
 */
export const MAX_REASON_CHARS = 500;
export const MAX_NAME_CHARS = 100;

/** Who stopped a delivery, and why; null if it is not stopped. */
export interface OperatorHold extends Omit<OperatorAction, 'id' | 'action' | 'user'> {
  readonly stop: OperatorStop;
}

/** @param actions all of them, oldest first */
export function operatorHoldOf(
  stop: OperatorStop | null,
  actions: readonly OperatorAction[] | null,
): OperatorHold | null {
  if (stop === null) return null;
  const request = actions?.findLast(({ action }) => action === stop);
  return { stop, by: request?.by ?? UNNAMED_OPERATOR, reason: request?.reason ?? '', at: request?.at ?? '' };
}

/** "anna at 2026-11-22T17:30:00.000Z: stock-taking" */
export function attribution({ by, reason, at }: Pick<OperatorAction, 'by' | 'reason' | 'at'>): string {
  return `${by}${at === '' ? '' : ` at ${at}`}${reason === '' ? '' : `: ${reason}`}`;
}

/** The operator hold of a delivery, as shown; null if there is none. */
export function heldBy(delivery: {
  readonly state: DeliveryState;
  readonly operatorStop: OperatorStop | null;
  readonly operatorActions: readonly OperatorAction[] | null;
}): Omit<OperatorHold, 'stop'> | null {
  const { state, operatorStop, operatorActions } = delivery;
  const hold =
    state === 'held' && operatorStop === 'hold' ? operatorHoldOf(operatorStop, operatorActions) : null;
  return hold === null ? null : { by: hold.by, reason: hold.reason, at: hold.at };
}

export interface ActionTarget {
  readonly state: StoredState;
  readonly webhookId: number;
  readonly webhook: 'active' | 'inactive' | 'deleted';
  /** When the last pause of the webhook ends or ended; null if it never was paused. */
  readonly pausedUntil: Date | null;
  readonly attemptsMade: number;
  /** The maximum that the policy allows, the first included. */
  readonly maxAttempts: number;
  readonly underWay: number | null;
  /** It waits in the queue and has no workflow yet. */
  readonly queued: boolean;
  /** It waits for its turn in its ordering group. It may have taken over an older delivery's count of failures. */
  readonly blocked: boolean;
  /** The delivery that goes before it; null if there is none or it is not known. */
  readonly behind: string | null;
  readonly nextAttemptAt: Date | null;
  /** Its receiver answered 410, but its webhook has a new URL or was activated since: another attempt follows. */
  readonly goneBefore: boolean;
  /** Counted from now if the window has not begun. */
  readonly windowEndsAt: Date;
  readonly hold: OperatorHold | null;
  readonly now: Date;
}

/** The answer to an action; a refused one changes nothing. */
interface ActionResult {
  readonly accepted: boolean;
  readonly message: string;
}

/** The answer, and when it was given. */
export interface RecordedActionResult extends ActionResult {
  /** ISO 8601 in UTC. */
  readonly at: string;
}

export type ActionInput = Pick<OperatorAction, 'by' | 'reason' | 'user'>;

/** Who requests an action, as recorded: a user of the e-shop is not an operator. */
export function askedBy(role: Role, username: string): Omit<ActionInput, 'reason'> {
  if (role === 'warehouse') return { by: username.slice(0, MAX_NAME_CHARS) };
  return { by: `${username} (e-shop)`.slice(0, MAX_NAME_CHARS), user: true };
}

/** The answer to a caller outside the workflow. */
export interface RequestedResult extends ActionResult {
  /**
   * There is no decision. Either no worker answered in time, and the action may still be carried out; or Temporal
   * asked none.
   */
  readonly unanswered?: true;
  /** Its workflow is paused in Temporal. */
  readonly paused?: true;
  /** The sentence for operators, if different: with names and causes that e-shops must not see. */
  readonly forOperators?: string;
}

/** Requests an action for an open delivery; resolves to its answer. */
export type RequestAction = (
  action: ActionName,
  deliveryId: string,
  input: ActionInput,
) => Promise<RequestedResult>;

/** The result of a request that never reached Temporal. @param cause a sentence for operators */
export function notPassedOn(cause: string): RequestedResult {
  return {
    accepted: false,
    message: 'The request could not be passed on, and nothing was changed. Try again later.',
    forOperators: `Nothing was changed. ${cause}`,
    unanswered: true,
  };
}

export function answerTo(action: ActionName, delivery: ActionTarget): ActionResult {
  const reason = rejectionReason(action, delivery);
  if (reason !== null) return { accepted: false, message: reason };
  return { accepted: true, message: effectOf(action, delivery) };
}

/** The actions that would be accepted now, in the order of {@link actionNames}: a page offers exactly these. */
export function acceptedActions(delivery: ActionTarget): readonly ActionName[] {
  return actionNames.filter((action) => rejectionReason(action, delivery) === null);
}

/** The effect of an action that is not refused. */
export function effectOf(action: ActionName, delivery: ActionTarget): string {
  return FOLLOWS[action](delivery);
}

function rejectionReason(action: ActionName, delivery: ActionTarget): string | null {
  const { state, webhook, hold } = delivery;
  if (!isOpen(state)) return `The delivery has already ended as ${state}.`;
  if (webhook === 'deleted') return 'Its webhook was deleted: the delivery ends as canceled.';
  if (hold?.stop === 'giveUp') return `It was given up by ${attribution(hold)}.`;
  return REJECTION_REASONS[action](delivery);
}

/**
 * Whether no attempt is left, and its end is being recorded. A delivery that waits for its turn is not exhausted,
 * although it has no planned attempt.
 */
function isExhausted(delivery: ActionTarget): boolean {
  const { attemptsMade, nextAttemptAt, maxAttempts, blocked, goneBefore } = delivery;
  if (attemptsMade >= maxAttempts) return true;
  return attemptsMade > 0 && nextAttemptAt === null && !blocked && !goneBefore;
}

/** "Webhook 7 is paused until 2026-11-29T10:00:00.000Z."; null if it is not paused. */
function whilePaused(delivery: ActionTarget): string | null {
  const { webhookId, pausedUntil } = delivery;
  if (pausedUntil === null || !isPaused(delivery)) return null;
  return `Webhook ${webhookId} is paused until ${pausedUntil.toISOString()}.`;
}

const WAITS_FOR_ITS_TURN = 'It waits for its turn in the order of its record.';

const REJECTION_REASONS: Readonly<Record<ActionName, (delivery: ActionTarget) => string | null>> = {
  tryNow(delivery) {
    const { hold, webhook, webhookId, underWay, queued, blocked, behind, attemptsMade } = delivery;
    const paused = whilePaused(delivery);
    if (hold !== null) return `It is held by ${attribution(hold)}. Resume it first.`;
    if (webhook === 'inactive')
      return `Webhook ${webhookId} is inactive. Activate it, and an attempt follows within seconds.`;
    if (paused !== null) return `${paused} Resume it, and an attempt follows.`;
    if (behind !== null)
      return `It waits for its order: delivery ${behind}, of the same record, has to end first.`;
    if (blocked) return WAITS_FOR_ITS_TURN;
    if (isExhausted(delivery)) return 'No attempt is left.';
    if (underWay !== null) return `Attempt ${underWay} is under way at this moment.`;
    if (queued && attemptsMade === 0)
      return 'It waits in the queue for its first attempt, which is made as soon as there is room.';
    return null;
  },
  hold(delivery) {
    const { hold, underWay, maxAttempts } = delivery;
    if (hold !== null) return `It is already held by ${attribution(hold)}.`;
    if (isExhausted(delivery)) return 'No attempts are left: there is nothing to hold.';
    if (underWay === maxAttempts)
      return `The last attempt, ${underWay}, is under way: there is nothing left to hold.`;
    return null;
  },
  resume(delivery) {
    const { hold, webhook, webhookId } = delivery;
    if (hold !== null) return null;
    if (webhook === 'inactive') return `No operator holds it: webhook ${webhookId} is inactive.`;
    const paused = whilePaused(delivery);
    return paused === null ? 'It is not held.' : `No operator holds it. ${paused}`;
  },
  giveUp: () => null,
};

const FOLLOWS: Readonly<Record<ActionName, (delivery: ActionTarget) => string>> = {
  tryNow({ attemptsMade, maxAttempts }) {
    const number = attemptsMade + 1;
    const then =
      number === maxAttempts
        ? 'It is the last one: if it fails, the delivery has failed.'
        : 'It counts as one of them; if it fails, the next wait of the policy follows.';
    return `Attempt ${number} of ${maxAttempts} follows at once. ${then}`;
  },
  hold({ windowEndsAt, underWay, blocked, attemptsMade }) {
    const until =
      blocked && attemptsMade === 0
        ? 'Its window begins with its first attempt.'
        : `Its window keeps running, and ends ${windowEndsAt.toISOString()}.`;
    return `Held: no attempt is made until it is resumed. ${until}${letFinish(underWay)}`;
  },
  resume(delivery) {
    const { attemptsMade, maxAttempts, nextAttemptAt, now, webhook, webhookId, underWay, blocked } = delivery;
    if (webhook === 'inactive') return `Resumed, but still held because webhook ${webhookId} is inactive.`;
    const paused = whilePaused(delivery);
    if (paused !== null) return `Resumed, but still held. ${paused}`;
    if (blocked) return `Resumed. ${WAITS_FOR_ITS_TURN}`;
    if (underWay !== null) return `Resumed: attempt ${underWay} is under way.`;
    const when =
      nextAttemptAt !== null && nextAttemptAt > now ? `at ${nextAttemptAt.toISOString()}` : 'at once';
    return `Resumed: attempt ${attemptsMade + 1} of ${maxAttempts} follows ${when}.`;
  },
  giveUp({ underWay }) {
    return `Given up: it ends as canceled. Nothing more is sent, the webhook stays as it is, and no e-mail is sent.${letFinish(underWay)}`;
  },
};

function letFinish(underWay: number | null): string {
  return underWay === null
    ? ''
    : ` Attempt ${underWay} is under way and is allowed to finish: if it is accepted, the delivery is delivered.`;
}
