/**
 * Operator actions on a delivery in the Temporal UI and CLI. Each action is an update, which gets a response, and a
 * signal of the same name, for all results of a query. The database decides about an action and keeps it; the
 * workflow then looks at its situation, as after any other change.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  ApplicationFailure,
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
  MAX_NAME_CHARS,
  MAX_REASON_CHARS,
  UNNAMED_OPERATOR,
} from '../src/domain/operator-action.ts';
import type { ActionRequest, DeliverEventInput, DeliveryActivities } from './delivery-types.ts';
import type { OperatorView } from './operator-view.ts';

const TAKES = `Takes {"reason": "…", "by": "who asks"}; both may be left out, and the e-shop sees both.`;
const DESCRIPTIONS: Readonly<Record<ActionName, string>> = {
  tryNow: `Makes the next attempt at once. It counts as one of the attempts. ${TAKES}`,
  hold: `No attempt is made until it is resumed, whatever becomes of the webhook. The window goes on. ${TAKES}`,
  resume: `Ends the holding by an operator: the next attempt is made when it is due, or at once. ${TAKES}`,
  giveUp: `Ends the delivery as canceled. The webhook stays as it is, and nobody is mailed. ${TAKES}`,
};

interface OperatorActionDeps {
  readonly input: DeliverEventInput;
  readonly own: Pick<DeliveryActivities, 'steerDelivery'>;
  readonly view: OperatorView;
  /** Called when the delivery has to read its situation again. */
  changed(): void;
}

/** Accepts operator actions from now on. */
export function handleOperatorActions({ input, own, view, changed }: OperatorActionDeps): void {
  const { deliveryId, policy } = input;
  let last: Promise<unknown> | undefined;
  let signals = 0;

  /** Carries out actions one after another, as they arrive, even if the workflow is canceled in the meantime. */
  async function inTurn(action: ActionName, id: string, request: ActionInput) {
    const before = last;
    const done = CancellationScope.nonCancellable(async () => {
      await before;
      const result = await own.steerDelivery({ deliveryId, policy, asked: { id, action, ...request } });
      if (!result.accepted) return result;
      view.actionTaken({ action, at: result.at, ...request });
      changed();
      return result;
    });
    // The caller of this update gets its error. The next action only waits for the end.
    last = done.catch(() => {});
    return await done;
  }

  for (const action of actionNames) {
    const description = DESCRIPTIONS[action];
    setHandler(
      defineUpdate<string, [ActionRequest | undefined]>(action),
      async (request) => {
        // The id stays the same after a reset of the workflow, when Temporal delivers the updates again.
        const id = `${workflowInfo().firstExecutionRunId}/${currentUpdateInfo()?.id ?? uuid4()}`;
        const { accepted, message } = await inTurn(action, id, completed(request));
        return accepted ? message : reject(message);
      },
      { description, validator: validate },
    );
    setHandler(
      defineSignal<[ActionRequest | undefined]>(action),
      async (request) => {
        signals += 1;
        // Signals, too, are delivered again after a reset, in the same order. If it left them out, the next ones get
        // their numbers: the name keeps a resume from being taken for a hold.
        const id = `${workflowInfo().originalExecutionRunId}/signal/${signals}/${action}`;
        // A signal has no response: an impossible action changes nothing, and is not reported.
        if (problemOf(request) === null) await inTurn(action, id, completed(request));
      },
      { description },
    );
  }
}

/** Rejects a wrong input; the history keeps no trace of it. */
function validate(input: unknown): void {
  const problem = problemOf(input);
  if (problem !== null) reject(problem);
}

/** The problem with an operator's input; null if there is none. */
function problemOf(input: unknown): string | null {
  if (input === undefined || input === null) return null;
  if (typeof input !== 'object' || Array.isArray(input)) return TAKES;
  const { reason = '', by = '', user = true, ...others } = Object.fromEntries(Object.entries(input));
  if (typeof reason !== 'string' || typeof by !== 'string' || user !== true) return TAKES;
  if (Object.keys(others).length > 0) return TAKES;
  if (reason.length > MAX_REASON_CHARS) return `The reason may have at most ${MAX_REASON_CHARS} characters.`;
  return by.length > MAX_NAME_CHARS
    ? `The name of who asks may have at most ${MAX_NAME_CHARS} characters.`
    : null;
}

/** @param request without a {@link problemOf} */
function completed(request: ActionRequest | null | undefined): ActionInput {
  const by = request?.by?.trim() ?? '';
  const user = request?.user === true ? { user: true as const } : {};
  return { reason: request?.reason?.trim() ?? '', by: by === '' ? UNNAMED_OPERATOR : by, ...user };
}

/**
 * Rejects a request, with a message for the caller and no stack trace, because no code failed.
 * @throws ApplicationFailure `Rejected`
 */
function reject(why: string): never {
  const rejection = ApplicationFailure.nonRetryable(why, 'Rejected');
  rejection.stack = '';
  throw rejection;
}
