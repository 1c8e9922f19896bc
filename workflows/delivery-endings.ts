/**
 * The endings of a delivery: its record, the operator's view, and, if it was not delivered, the failure of the
 * workflow (docs/interface.md, D7–D10).
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { ApplicationFailure } from '@temporalio/workflow';
import type { OpenSituation } from '../src/attempt/situation.ts';
import type { FinalState } from '../src/domain/delivery-state.ts';
import { attribution } from '../src/domain/operator-action.ts';
import { counted } from '../src/domain/text.ts';
import type {
  CompensationResult,
  DeliverEventInput,
  Delivered,
  DeliveryActivities,
  NoticeResult,
} from './delivery-types.ts';
import { deliveryTitle, type OperatorView } from './operator-view.ts';

/** The result of a delivery that did not fail. */
export interface DeliverEventResult {
  readonly state: FinalState;
}

interface EndingParts {
  readonly input: DeliverEventInput;
  readonly own: Pick<DeliveryActivities, 'closeDelivery' | 'compensate'>;
  readonly mail: Pick<DeliveryActivities, 'mailDeactivation'>;
  readonly view: OperatorView;
}

/** Makes the endings of one delivery. Complete an ending that has begun, even if the workflow is canceled. */
export function createEndings({ input, own, mail, view }: EndingParts) {
  function close(state: 'expired' | 'canceled', alarm: boolean): Promise<FinalState> {
    return own.closeDelivery({ deliveryId: input.deliveryId, state, alarm });
  }

  function delivered({ number, status }: Delivered): DeliverEventResult {
    view.ended('delivered', `Delivered by attempt ${number} (HTTP ${status}).`);
    return { state: 'delivered' };
  }

  /** The webhook was deleted. */
  async function cancel(): Promise<DeliverEventResult> {
    const state = await close('canceled', false);
    view.ended(state, 'Canceled: the webhook was deleted.');
    return { state };
  }

  async function giveUp({ operator }: OpenSituation): Promise<DeliverEventResult> {
    const state = await close('canceled', false);
    view.ended(state, `Given up by ${operator === null ? 'an operator' : attribution(operator)}.`);
    return { state };
  }

  async function expire(alarm: boolean, situation: OpenSituation): Promise<DeliverEventResult> {
    const state = await close('expired', alarm);
    return state === 'expired' ? fail(state, whyExpired(situation, alarm)) : { state };
  }

  /**
   * For a workflow that was started again, or reset by an operator, after the delivery ended: the outcome stays, and
   * is shown again.
   * @param justSpent whether the attempts just made have ended the delivery: a 410 ends it when it is recorded
   */
  async function endedBefore(state: FinalState, justSpent: boolean): Promise<DeliverEventResult> {
    if (state === 'failed') return await compensate(justSpent ? undefined : 'Had already failed, after');
    if (state === 'expired') return fail(state, 'Had already expired; nothing was sent.');
    view.ended(state, `Had already ended as ${state}; nothing was sent.`);
    return { state };
  }

  /**
   * For a delivery whose attempts are used up, or whose receiver is gone. May be repeated: only missing steps run.
   */
  async function compensate(failed = 'Failed after'): Promise<DeliverEventResult> {
    const result = await compensation();
    const { state } = result;
    return state === 'failed' ? fail(state, `${failed} ${whatFailed(result)}`) : { state };
  }

  /** Compensates and, if that deactivated the webhook, mails the e-shop. */
  async function compensation(): Promise<Compensated> {
    const result = await own.compensate(input.deliveryId);
    const { state, deactivatedGeneration: generation } = result;
    if (state !== 'failed' || generation === null) return { ...result, mailOutcome: null };
    const mailed = await mail.mailDeactivation({ webhookId: input.webhookId, generation });
    return { ...result, mailOutcome: mailed?.outcome ?? null };
  }

  /** Fails the workflow of a delivery that was not delivered, with a sentence and no stack trace: no code failed. */
  function fail(state: 'failed' | 'expired', why: string): never {
    view.ended(state, why);
    const type = state === 'failed' ? 'DeliveryFailed' : 'DeliveryExpired';
    const failure = ApplicationFailure.nonRetryable(`${deliveryTitle(input)}: ${why}`, type);
    failure.stack = '';
    throw failure;
  }

  /** For a workflow that an operator canceled. */
  async function endedByOperator(): Promise<void> {
    const state = await close('canceled', false);
    view.ended(state, `Ended by an operator as ${state}.`);
  }

  return { delivered, cancel, giveUp, expire, endedBefore, compensate, endedByOperator };
}

function whyExpired(situation: OpenSituation, alarm: boolean): string {
  if (situation.spent === 'windowLost') {
    const cause = alarm
      ? 'an outage of Waybill used up the window'
      : 'an operator held it for most of the time it lost';
    return `Expired: ${cause}, and the last attempt failed (${situation.lastError ?? 'no answer'}). The webhook stays active.`;
  }
  const reason = situation.operator === null ? 'the webhook was inactive' : 'an operator held it';
  return `Expired: the window ended while ${reason}.`;
}

interface Compensated extends CompensationResult {
  /** How the e-mail about the deactivation ended; null if there is none. */
  readonly mailOutcome: NoticeResult['outcome'] | null;
}

const mailSentences: Record<NoticeResult['outcome'], string> = {
  sent: 'its e-shop mailed',
  dropped: 'its e-shop was not mailed: the e-mail no longer applied',
  refused: 'the mail server refused the e-mail about it',
  endedBefore: 'the e-mail about it had already been dealt with',
};

/** "21 attempts (HTTP 503 from shop.example after 212 ms); the webhook was left as it is." */
export function whatFailed(result: Compensated): string {
  const { attemptsMade, lastError, deactivatedGeneration, mailOutcome } = result;
  const mail = mailOutcome === null ? 'there is no e-mail about it' : mailSentences[mailOutcome];
  const webhook =
    deactivatedGeneration === null
      ? 'the webhook was left as it is'
      : `the webhook was deactivated and ${mail}`;
  return `${counted(attemptsMade, 'attempt')} (${lastError ?? 'no answer'}); ${webhook}.`;
}
