/**
 * Operator actions on a delivery in the Temporal UI and with its CLI: as updates, which get a response, and as signals of the same
 * names, which can be sent to all results of a query. The database decides and keeps them; the workflow then looks at its situation as
 * after any other change.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  CancellationScope,
  currentUpdateInfo,
  defineSignal,
  defineUpdate,
  setHandler,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type ActionInput,
  type ActionName,
  actionNames,
  attribution,
  MAX_NAME_CHARS,
  MAX_REASON_CHARS,
  type OperatorHold,
  UNNAMED_OPERATOR,
} from '../src/domain/operator-action.ts';
import type { ActionRequest, DeliverEventInput, DeliveryActivities } from './delivery-types.ts';
import type { OperatorView } from './operator-view.ts';
import { refuse } from './refusal.ts';

const TAKES = `Takes {"reason": "…", "by": "who asks"}; both may be left out, and the e-shop sees both.`;
const DESCRIPTIONS: Readonly<Record<ActionName, string>> = {
  tryNow: `Makes the next attempt at once. It counts as one of the attempts. ${TAKES}`,
  hold: `No attempt is made until it is resumed, whatever becomes of the webhook. The window goes on. ${TAKES}`,
  resume: `Ends the holding by an operator: the next attempt is made when it is due, or at once. ${TAKES}`,
  giveUp: `Ends the delivery as canceled. The webhook stays as it is, and nobody is mailed. ${TAKES}`,
};

/** The dependencies of the handlers. */
interface OperatorActionDeps {
  readonly input: DeliverEventInput;
  readonly own: Pick<DeliveryActivities, 'steerDelivery'>;
  readonly view: OperatorView;
  /** The delivery has to look at its situation. */
  changed(): void;
}

/** Accepts operator actions from now on. @returns a function that sets the operator hold as read */
export function handleOperatorActions({ input, own, view, changed }: OperatorActionDeps) {
  const { deliveryId, policy } = input;
  /** undefined: not read yet. */
  let known: OperatorHold | null | undefined;
  let last: Promise<unknown> | undefined;

  /** Carries actions out one after the other, in the order of their arrival, even if the workflow is canceled meanwhile. */
  async function inTurn(action: ActionName, id: string, order: ActionInput) {
    const before = last;
    const done = CancellationScope.nonCancellable(async () => {
      await before;
      const result = await own.steerDelivery({ deliveryId, policy, asked: { id, action, ...order } });
      if (!result.accepted) return result;
      const { at } = result;
      const { by, reason } = order;
      if (action === 'hold' || action === 'giveUp') known = { stop: action, at, by, reason };
      else known = null;
      view.actionTaken({ action, at, ...order });
      changed();
      return result;
    });
    last = done.catch(() => {});
    return await done;
  }

  for (const action of actionNames) {
    const description = DESCRIPTIONS[action];
    setHandler(
      defineUpdate<string, [ActionRequest | undefined]>(action),
      async (order) => {
        // The same id after a reset of the workflow, when Temporal delivers its updates again.
        const id = `${workflowInfo().firstExecutionRunId}/${currentUpdateInfo()?.id ?? uuid4()}`;
        const { accepted, sentence } = await inTurn(action, id, completed(order));
        return accepted ? sentence : refuse(sentence);
      },
      { description, validator: (order) => validate(action, order, known) },
    );
    setHandler(
      defineSignal<[ActionRequest | undefined]>(action),
      async (order) => {
        // A signal has no response: an action that cannot be done changes nothing and is not reported.
        if (problemOf(order) === null) await inTurn(action, uuid4(), completed(order));
      },
      { description },
    );
  }

  return (hold: OperatorHold | null): void => {
    known = hold;
  };
}

/** Rejects actions known to be wrong, without a trace in the history. */
function validate(action: ActionName, order: unknown, known: OperatorHold | null | undefined): void {
  const problem = problemOf(order);
  if (problem !== null) refuse(problem);
  if (action === 'hold' && known?.stop === 'hold') refuse(`It is already held by ${attribution(known)}.`);
  if (action === 'tryNow' && known?.stop === 'hold')
    refuse(`It is held by ${attribution(known)}. Resume it first.`);
  if (known?.stop === 'giveUp') refuse(`It was given up by ${attribution(known)}.`);
}

/** The problem with an operator's input; null if there is none. */
function problemOf(order: unknown): string | null {
  if (order === undefined || order === null) return null;
  if (typeof order !== 'object' || Array.isArray(order)) return TAKES;
  const { reason = '', by = '', user = true, ...others } = Object.fromEntries(Object.entries(order));
  if (typeof reason !== 'string' || typeof by !== 'string' || user !== true) return TAKES;
  if (Object.keys(others).length > 0) return TAKES;
  if (reason.length > MAX_REASON_CHARS) return `The reason may have at most ${MAX_REASON_CHARS} characters.`;
  return by.length > MAX_NAME_CHARS
    ? `The name of who asks may have at most ${MAX_NAME_CHARS} characters.`
    : null;
}

/** @param order without a {@link problemOf} */
function completed(order: ActionRequest | null | undefined): ActionInput {
  const by = order?.by?.trim() ?? '';
  const user = order?.user === true ? { user: true as const } : {};
  return { reason: order?.reason?.trim() ?? '', by: by === '' ? UNNAMED_OPERATOR : by, ...user };
}
