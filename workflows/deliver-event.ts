/**
 * One delivery: an event on its way to a webhook (given.md, "Delivery rules"). The retry policy is Temporal's;
 * the window, the holding and the compensation are written out here.
 *
 * This code is replayed by deliveries that began days ago: whatever changes its commands needs `patched()` and a
 * recorded history of before (see the README, "Changing workflow code").
 * @module
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { attemptOptions, lastChanceOptions, mailOptions, ownStepOptions } from './delivery-options.ts';
import {
  type AttemptVerdict,
  attemptFailedSignal,
  type CompensationResult,
  type DeliverEventInput,
  type DeliveryActivities,
  type FailedAttempt,
  type FinalState,
  webhookChangedSignal,
} from './delivery-types.ts';
import { nextStep } from './next-step.ts';
import { createOperatorView, deliveryTitle } from './operator-view.ts';

const webhookChanged = defineSignal(webhookChangedSignal);
const attemptFailed = defineSignal<[FailedAttempt]>(attemptFailedSignal);

const own = proxyActivities<DeliveryActivities>(ownStepOptions);
const mail = proxyActivities<DeliveryActivities>(mailOptions);

/** Result of a delivery that did not fail. */
export interface DeliverEventResult {
  readonly state: FinalState;
}

/**
 * Delivers one event to one webhook.
 * @throws ApplicationFailure `DeliveryFailed` after the compensation, `DeliveryExpired` when the window ended
 * while the delivery was held or we were away: the UI shows both as Failed.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<DeliverEventResult> {
  const view = createOperatorView(input);
  let changes = 0;
  setHandler(webhookChanged, () => {
    changes += 1;
  });
  setHandler(attemptFailed, (attempt) => view.attemptFailed(attempt));

  /** Waits until then (or for ever), or until the webhook changes. */
  async function waitUntil(until: number, seen: number, summary: string): Promise<void> {
    const ms = until - Date.now();
    if (ms > 0) await condition(() => changes > seen, ms, { summary });
  }

  /** All attempts that the policy has left, ended early when the webhook changes. */
  async function attempts(
    seen: number,
    made: number,
    windowEndsAt: number | null,
  ): Promise<AttemptVerdict | null> {
    const windowLeft = windowEndsAt === null ? input.policy.windowMs : windowEndsAt - Date.now();
    const { attemptDelivery } = proxyActivities<DeliveryActivities>(attemptOptions(input, made, windowLeft));
    const scope = new CancellationScope();
    const running = scope.run(() => attempt(attemptDelivery, made, false));
    const changed = new CancellationScope();
    void changed
      .run(async () => {
        await condition(() => changes > seen);
        scope.cancel();
      })
      .catch(() => {});
    try {
      return await running;
    } finally {
      changed.cancel();
    }
  }

  /** null where the attempts failed: what follows is read from their records, not from the failure. */
  async function attempt(
    attemptDelivery: DeliveryActivities['attemptDelivery'],
    attemptsBefore: number,
    lastChance: boolean,
  ): Promise<AttemptVerdict | null> {
    const { deliveryId, policy } = input;
    try {
      return await attemptDelivery({ deliveryId, policy, attemptsBefore, lastChance });
    } catch (error) {
      if (isCancellation(error) || error instanceof ActivityFailure) return null;
      throw error;
    }
  }

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // Canceled by an operator: the e-shop's log must not show it as open for ever.
    await CancellationScope.nonCancellable(() => close('canceled', false));
    throw error;
  }

  async function run(): Promise<DeliverEventResult> {
    let verdict: AttemptVerdict | null = null;
    if (input.attemptsMade === 0) verdict = await attempts(0, 0, null);

    for (;;) {
      if (verdict?.kind === 'delivered') {
        view.ended('delivered', `Delivered by attempt ${verdict.number} (HTTP ${verdict.status}).`);
        return { state: 'delivered' };
      }
      const seen = changes;
      verdict = null;
      let situation = await own.readDelivery({
        deliveryId: input.deliveryId,
        windowMs: input.policy.windowMs,
      });
      let next = nextStep(situation, Date.now());
      if (next.step === 'beginHolding') {
        situation = await own.holdDelivery({ deliveryId: input.deliveryId, windowMs: input.policy.windowMs });
        next = nextStep(situation, Date.now());
      }
      if (situation.open && workflowInfo().continueAsNewSuggested) {
        // A webhook switched on and off thousands of times: the rest goes on in a fresh history.
        await continueAsNew<typeof deliverEvent>({ ...input, attemptsMade: situation.attemptsMade });
      }
      switch (next.step) {
        case 'end':
          view.ended(next.state, `Ended as ${next.state}.`);
          return { state: next.state };
        case 'cancel':
          return cancel();
        case 'compensate':
          return compensate();
        case 'expire':
          return expire(next.alarm, situation.open ? situation.lastError : null);
        case 'beginHolding':
          break;
        case 'hold':
          view.held(next.until);
          await waitUntil(next.until, seen, 'held: the webhook is inactive');
          if (changes > seen) view.resumed();
          break;
        case 'waitForNextAttempt':
          await waitUntil(next.until, seen, 'the rest of the wait before the next attempt');
          if (changes === seen && situation.open) {
            verdict = await attempts(seen, situation.attemptsMade, situation.windowEndsAt);
          }
          break;
        case 'attempt': {
          if (!situation.open) break;
          if (!next.lastChance) {
            verdict = await attempts(seen, situation.attemptsMade, situation.windowEndsAt);
            break;
          }
          const { attemptDelivery } = proxyActivities<DeliveryActivities>(lastChanceOptions(input));
          verdict = await attempt(attemptDelivery, situation.attemptsMade, true);
          break;
        }
      }
    }
  }

  function close(state: 'expired' | 'canceled', alarm: boolean): Promise<FinalState> {
    return own.closeDelivery({ deliveryId: input.deliveryId, state, alarm });
  }

  async function cancel(): Promise<DeliverEventResult> {
    const state = await close('canceled', false);
    view.ended(state, 'Canceled: the webhook was deleted.');
    return { state };
  }

  async function expire(alarm: boolean, lastError: string | null): Promise<DeliverEventResult> {
    const state = await close('expired', alarm);
    if (state !== 'expired') return { state };
    const why = alarm
      ? `Expired: the window ended while Waybill was away, and the last attempt failed (${lastError ?? 'no answer'}). The webhook stays active.`
      : 'Expired: the window ended while the webhook was inactive.';
    view.ended(state, why);
    throw ended(`${deliveryTitle(input)}: ${why}`, 'DeliveryExpired');
  }

  async function compensate(): Promise<DeliverEventResult> {
    const result: CompensationResult = await own.compensate(input.deliveryId);
    if (result.state !== 'failed') return { state: result.state };
    const { deactivatedGeneration: generation } = result;
    if (generation !== null) await mail.mailDeactivation({ webhookId: input.webhookId, generation });
    const what =
      generation === null
        ? 'the webhook was left as it is'
        : 'the webhook was deactivated and its e-shop mailed';
    const why = `Failed after ${result.attemptsMade} attempts (${result.lastError ?? 'no answer'}); ${what}.`;
    view.ended('failed', why);
    throw ended(`${deliveryTitle(input)}: ${why}`, 'DeliveryFailed');
  }
}

/** The end of a delivery that was not delivered: a sentence, and no stack trace, for no code went wrong. */
function ended(sentence: string, type: 'DeliveryFailed' | 'DeliveryExpired'): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(sentence, type);
  failure.stack = '';
  return failure;
}
