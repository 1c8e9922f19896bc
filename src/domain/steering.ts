/**
 * What an operator may ask of a delivery under way, and what follows (docs/decisions/0090-operator-actions.md). Pure.
 */
import { type DeliveryState, isOpen, type StoredState } from './delivery-state.ts';

export const steeringActions = ['tryNow', 'hold', 'resume', 'giveUp'] as const;
export type SteeringAction = (typeof steeringActions)[number];

/** What stops the attempts of a delivery: until it is resumed, or for good. */
export type OperatorStop = 'hold' | 'giveUp';

/** What was asked of a delivery, as it is recorded. */
export interface OperatorAction {
  /** The same when it is recorded again: by a step that was interrupted, or a workflow that was reset. */
  readonly id: string;
  readonly action: SteeringAction;
  readonly by: string;
  /** Empty where none was given. */
  readonly reason: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
}

/** Who asks where nobody is named. */
export const SOMEBODY = 'an operator';

/**
 * The longest reason and name, in characters. Histories depend on them: another value needs `patched()`
 * (docs/changing-workflows.md).
 */
export const LONGEST_REASON = 500;
export const LONGEST_NAME = 100;

/** Who stopped a delivery, and why; null where nobody did. */
export interface Standing extends Omit<OperatorAction, 'id' | 'action'> {
  readonly stop: OperatorStop;
}

/** @param actions all that was asked, the oldest first */
export function standingOf(
  stop: OperatorStop | null,
  actions: readonly OperatorAction[] | null,
): Standing | null {
  if (stop === null) return null;
  const asked = actions?.findLast(({ action }) => action === stop);
  return { stop, by: asked?.by ?? SOMEBODY, reason: asked?.reason ?? '', at: asked?.at ?? '' };
}

/** "anna at 2026-11-22T17:30:00.000Z: stock-taking" */
export function whoAndWhy({ by, reason, at }: Pick<OperatorAction, 'by' | 'reason' | 'at'>): string {
  return `${by}${at === '' ? '' : ` at ${at}`}${reason === '' ? '' : `: ${reason}`}`;
}

/** The operator who holds a delivery, as shown; null where none does. */
export function heldBy(delivery: {
  readonly state: DeliveryState;
  readonly operatorStop: OperatorStop | null;
  readonly operatorActions: readonly OperatorAction[] | null;
}): Omit<Standing, 'stop'> | null {
  const { state, operatorStop, operatorActions } = delivery;
  const standing =
    state === 'held' && operatorStop === 'hold' ? standingOf(operatorStop, operatorActions) : null;
  return standing === null ? null : { by: standing.by, reason: standing.reason, at: standing.at };
}

export interface Steerable {
  readonly state: StoredState;
  readonly webhookId: number;
  readonly webhook: 'active' | 'inactive' | 'deleted';
  readonly attemptsMade: number;
  /** All that the policy allows, the first included. */
  readonly mostAttempts: number;
  /** The number of the attempt whose request is out at this moment. */
  readonly underWay: number | null;
  /** It waits in the queue, and has no workflow of its own yet. */
  readonly queued: boolean;
  readonly nextAttemptAt: Date | null;
  /** From now on where the window has not begun. */
  readonly windowEndsAt: Date;
  readonly standing: Standing | null;
  readonly now: Date;
}

/** What is said to it: refused, nothing changes. */
export interface SteeringAnswer {
  readonly accepted: boolean;
  readonly sentence: string;
}

export function answerTo(action: SteeringAction, delivery: Steerable): SteeringAnswer {
  const refusal = refusalOf(action, delivery);
  if (refusal !== null) return { accepted: false, sentence: refusal };
  return { accepted: true, sentence: whatFollows(action, delivery) };
}

/** What follows from it, where it is not refused. */
export function whatFollows(action: SteeringAction, delivery: Steerable): string {
  return FOLLOWS[action](delivery);
}

function refusalOf(action: SteeringAction, delivery: Steerable): string | null {
  const { state, webhook, standing } = delivery;
  if (!isOpen(state)) return `The delivery has already ended as ${state}.`;
  if (webhook === 'deleted') return 'Its webhook was deleted: the delivery ends as canceled.';
  if (standing?.stop === 'giveUp') return `It was given up by ${whoAndWhy(standing)}.`;
  return REFUSALS[action](delivery);
}

/** Nothing is left to be attempted: its end is being recorded. */
function isSpent({ attemptsMade, nextAttemptAt, mostAttempts }: Steerable): boolean {
  return attemptsMade >= mostAttempts || (attemptsMade > 0 && nextAttemptAt === null);
}

const REFUSALS: Readonly<Record<SteeringAction, (delivery: Steerable) => string | null>> = {
  tryNow(delivery) {
    const { standing, webhook, webhookId, underWay, queued, attemptsMade } = delivery;
    if (standing !== null) return `It is held by ${whoAndWhy(standing)}. Resume it first.`;
    if (webhook === 'inactive')
      return `Webhook ${webhookId} is inactive. Activate it, and an attempt follows within seconds.`;
    if (isSpent(delivery)) return 'No attempt is left.';
    if (underWay !== null) return `Attempt ${underWay} is under way at this moment.`;
    if (queued && attemptsMade === 0)
      return 'It waits in the queue for its first attempt, which is made as soon as there is room.';
    return null;
  },
  hold(delivery) {
    const { standing, underWay, mostAttempts } = delivery;
    if (standing !== null) return `It is already held by ${whoAndWhy(standing)}.`;
    if (isSpent(delivery)) return 'No attempts are left: there is nothing to hold.';
    if (underWay === mostAttempts)
      return `The last attempt, ${underWay}, is under way: nothing is left to be held.`;
    return null;
  },
  resume({ standing, webhook, webhookId }) {
    if (standing !== null) return null;
    return webhook === 'inactive'
      ? `No operator holds it: webhook ${webhookId} is inactive.`
      : 'It is not held.';
  },
  giveUp: () => null,
};

const FOLLOWS: Readonly<Record<SteeringAction, (delivery: Steerable) => string>> = {
  tryNow({ attemptsMade, mostAttempts }) {
    const number = attemptsMade + 1;
    const then =
      number === mostAttempts
        ? 'It is the last one: if it fails, the delivery has failed.'
        : 'It counts as one of them; if it fails, the next wait of the policy follows.';
    return `Attempt ${number} of ${mostAttempts} follows at once. ${then}`;
  },
  hold({ windowEndsAt, underWay }) {
    return `Held: no attempt is made until it is resumed. Its window keeps running, and ends ${windowEndsAt.toISOString()}.${letFinish(underWay)}`;
  },
  resume(delivery) {
    const { attemptsMade, mostAttempts, nextAttemptAt, now, webhook, webhookId, underWay } = delivery;
    if (webhook === 'inactive') return `Resumed, but still held because webhook ${webhookId} is inactive.`;
    if (underWay !== null) return `Resumed: attempt ${underWay} is under way.`;
    const when =
      nextAttemptAt !== null && nextAttemptAt > now ? `at ${nextAttemptAt.toISOString()}` : 'at once';
    return `Resumed: attempt ${attemptsMade + 1} of ${mostAttempts} follows ${when}.`;
  },
  giveUp({ underWay }) {
    return `Given up: it ends as canceled by an operator. Nothing more is sent, the webhook stays as it is, and no e-mail is sent.${letFinish(underWay)}`;
  },
};

function letFinish(underWay: number | null): string {
  return underWay === null
    ? ''
    : ` Attempt ${underWay} is under way and is allowed to finish: if it is accepted, the delivery is delivered.`;
}
