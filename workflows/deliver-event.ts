/**
 * One delivery: an event on its way to a webhook (docs/interface.md, D6–D10), after at least one attempt from the
 * queue; or after none, if it was held before, or its first attempt was interrupted. If an attempt from the queue
 * delivered the event, nothing is left to do here. Temporal carries out the retry policy; the window, the holds and
 * the compensation are here. docs/architecture.md draws the states of the workflow.
 *
 * This code is replayed by deliveries that began days ago: any change to its commands needs `patched()` and a
 * history recorded before the change (see docs/changing-workflows.md).
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliverySituation, OpenSituation } from '../src/attempt/situation.ts';
import { createAttempts } from './delivery-attempts.ts';
import { createEndings, type DeliverEventResult } from './delivery-endings.ts';
import { mailOptions } from './delivery-options.ts';
import {
  attemptFailedSignal,
  type DeliverEventInput,
  type DeliveryActivities,
  type FailedAttempt,
  webhookChangedSignal,
} from './delivery-types.ts';
import { nextStep } from './next-step.ts';
import { handleOperatorActions } from './operator-updates.ts';
import { createOperatorView, heldBy } from './operator-view.ts';
import { type AttemptEnd, createOutage } from './own-failures.ts';
import { ownSteps } from './own-steps.ts';

const webhookChanged = defineSignal(webhookChangedSignal);
const attemptFailed = defineSignal<[FailedAttempt]>(attemptFailedSignal);

/** A read that takes longer than this, in milliseconds, is repeated. */
const STALE_MS = 2_000;

/**
 * Delivers one event to one webhook.
 * @throws ApplicationFailure `DeliveryFailed` after the compensation; `DeliveryExpired` if the window ended while the
 * delivery was held or Waybill was down. Temporal's UI shows both as Failed.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<DeliverEventResult> {
  const view = createOperatorView(input);
  const own = ownSteps<DeliveryActivities>();
  const mail = ownSteps<DeliveryActivities>(mailOptions);
  const endings = createEndings({ input, own, mail, view });
  const attempts = createAttempts(input);
  const outage = createOutage();
  /** How many changes to the webhook and operator actions there were: each changes the situation. */
  let changes = 0;
  function changed(): void {
    changes += 1;
  }
  setHandler(webhookChanged, changed);
  setHandler(attemptFailed, (attempt) => view.attemptFailed(attempt));
  handleOperatorActions({ input, own, view, changed });
  view.attemptedBefore(input.failures ?? []);

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // Canceled by an operator: the e-shop's log must not show the delivery as open forever.
    await completed(endings.endedByOperator);
    throw error;
  } finally {
    // Every update gets its response before the workflow ends.
    if (!allHandlersFinished()) await completed(() => condition(allHandlersFinished));
  }

  /** Reads the situation, takes the next step, and repeats, until a step ends the delivery. */
  async function run(): Promise<DeliverEventResult> {
    /** How the attempts of the last step ended; null if the step made none. */
    let last: AttemptEnd | null = input.delivered ?? null;
    for (;;) {
      if (last?.kind === 'delivered') return endings.delivered(last);
      const changesSeen = changes;
      const isChanged = () => changes > changesSeen;
      const situation = await readSituation();
      if (!situation.open)
        return await completed(() => endings.endedBefore(situation.state, isSpentBy(last)));
      const { attemptsMade, windowEndsAt } = situation;
      const pause = outage.pauseAfter(last, attemptsMade);
      last = null;
      if (pause > 0) {
        await wait(pause, isChanged, 'an internal failure: waiting for it to pass');
        continue;
      }
      // The times of the situation are by the database's clock.
      const ahead = situation.readAt - Date.now();
      const msUntil = (time: number) => time - (Date.now() + ahead);
      const attemptByPolicy = () => {
        const windowLeftMs = windowEndsAt === null ? input.policy.windowMs : msUntil(windowEndsAt);
        return attempts.byPolicy(attemptsMade, windowLeftMs, isChanged);
      };
      if (workflowInfo().continueAsNewSuggested) await continueInFreshHistory(attemptsMade);

      const next = nextStep(situation);
      switch (next.step) {
        // Over.
        case 'cancel':
          return await completed(endings.cancel);
        case 'giveUp':
          return await completed(() => endings.giveUp(situation));
        case 'compensate':
          return await completed(endings.compensate);
        case 'expire':
          return await completed(() => endings.expire(next.alarm, situation));

        // Waiting for a change, or a time.
        case 'waitForResult':
          // Even a canceled workflow waits for the result: a success counts.
          await completed(() => wait(msUntil(next.until), isChanged, 'an attempt is under way'));
          break;
        case 'hold':
          view.held(next.until, situation);
          await wait(msUntil(next.until), isChanged, whyHeld(situation));
          break;
        case 'beginHolding':
          break;

        // Attempting.
        case 'waitForNextAttempt':
          view.goesOn();
          await wait(msUntil(next.until), isChanged, 'the rest of the wait before the next attempt');
          if (!isChanged()) last = await attemptByPolicy();
          break;
        case 'attempt':
          view.goesOn();
          last = next.lastChance ? await attempts.lastChance(attemptsMade) : await attemptByPolicy();
          break;
      }
    }
  }

  /** Reads the current situation. If the response took long, its times are out of date, and it is read again. */
  async function readSituation(): Promise<DeliverySituation> {
    const { deliveryId, policy } = input;
    const query = { deliveryId, policy };
    const askedAt = Date.now();
    let situation = await own.readDelivery(query);
    if (Date.now() - askedAt > STALE_MS) situation = await own.readDelivery(query);
    if (situation.open && nextStep(situation).step === 'beginHolding')
      situation = await own.holdDelivery(query);
    if (situation.open) view.receiver(situation.receiverHost);
    return situation;
  }

  /** Whether these attempts, or the attempts before this workflow, were the last ones. */
  function isSpentBy(last: AttemptEnd | null): boolean {
    return last === null ? input.failures?.at(-1)?.nextAttemptAt === null : last.kind === 'failed';
  }

  /** Goes on in a fresh history: a webhook that is switched on and off thousands of times makes one too long. */
  async function continueInFreshHistory(attemptsMade: number): Promise<never> {
    // An operator action under way has to be shown too.
    await condition(allHandlersFinished);
    const shown = { failures: view.failures(), actions: view.actions() };
    return await continueAsNew<typeof deliverEvent>({ ...input, attemptsMade, ...shown });
  }
}

/** Waits until the situation changes, at most for this many milliseconds. */
async function wait(ms: number, isChanged: () => boolean, summary: string): Promise<void> {
  if (ms > 0) await condition(isChanged, ms, { summary });
}

/** Completes work that has begun, even if the workflow is canceled. */
async function completed<T>(work: () => Promise<T>): Promise<T> {
  return await CancellationScope.nonCancellable(work);
}

/** The reason of a hold, as the summary of its timer in the operator's view. */
function whyHeld(situation: OpenSituation): string {
  return situation.operator === null ? `held: the webhook is ${heldBy(situation)}` : 'held by an operator';
}
