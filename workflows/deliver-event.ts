/**
 * One delivery: an event on its way to a webhook (docs/interface.md, D6–D10). The retry policy is Temporal's;
 * the window, the holding and the compensation are written out here.
 *
 * This code is replayed by deliveries that began days ago: any change to its commands needs `patched()` and a
 * history recorded before the change (see docs/changing-workflows.md).
 * @module
 */
import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliverySituation, FinalState } from '../src/attempt/situation.ts';
import { type Standing, whoAndWhy } from '../src/domain/steering.ts';
import { counted } from '../src/domain/words.ts';
import { attemptOptions, lastChanceOptions, mailOptions, ownStepOptions } from './delivery-options.ts';
import {
  attemptFailedSignal,
  type CompensationResult,
  type DeliverEventInput,
  type DeliveryActivities,
  type FailedAttempt,
  stepsQueue,
  webhookChangedSignal,
} from './delivery-types.ts';
import { nextStep } from './next-step.ts';
import { takeOrders } from './operator-updates.ts';
import { createOperatorView, deliveryTitle } from './operator-view.ts';
import { type AttemptEnd, createOutage, wasOurs } from './own-failures.ts';

const webhookChanged = defineSignal(webhookChangedSignal);
const attemptFailed = defineSignal<[FailedAttempt]>(attemptFailedSignal);

/** A read that took longer than this, in milliseconds, is repeated. */
const STALE_MS = 2_000;

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
  const taskQueue = stepsQueue(workflowInfo().taskQueue);
  const own = proxyActivities<DeliveryActivities>({ ...ownStepOptions, taskQueue });
  const mail = proxyActivities<DeliveryActivities>({ ...mailOptions, taskQueue });
  let changes = 0;
  setHandler(webhookChanged, () => {
    changes += 1;
  });
  setHandler(attemptFailed, (attempt) => view.attemptFailed(attempt));
  const orders = takeOrders({
    input,
    own,
    view,
    changed() {
      changes += 1;
    },
  });
  if (input.lastFailure !== undefined) view.attemptFailed(input.lastFailure);

  /** Waits until the webhook changes, or for so many milliseconds. */
  async function wait(ms: number, seen: number, summary: string): Promise<void> {
    if (ms > 0) await condition(() => changes > seen, ms, { summary });
  }

  /** All attempts that the policy still allows, ended early when the webhook changes. */
  async function attempts(seen: number, made: number, windowLeftMs: number): Promise<AttemptEnd> {
    const { attemptDelivery } = proxyActivities<DeliveryActivities>(
      attemptOptions(input, made, windowLeftMs, workflowInfo().priority),
    );
    const scope = new CancellationScope();
    const running = scope.run(() => attempt(attemptDelivery, made, false));
    // Not in a scope of its own: the SDK takes a stack trace of every promise, and every delivery waits for that.
    let over = false;
    condition(() => over || changes > seen).then(
      () => {
        if (!over) scope.cancel();
      },
      () => {},
    );
    try {
      return await running;
    } finally {
      over = true;
    }
  }

  async function attempt(
    attemptDelivery: DeliveryActivities['attemptDelivery'],
    attemptsBefore: number,
    lastChance: boolean,
  ): Promise<AttemptEnd> {
    const { deliveryId, policy } = input;
    try {
      return await attemptDelivery({ deliveryId, policy, attemptsBefore, lastChance });
    } catch (error) {
      if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
      return { kind: wasOurs(error) ? 'interrupted' : 'failed' };
    }
  }

  /** The current situation. Read again if the response took long: its times would be out of date. */
  async function readSituation(): Promise<DeliverySituation> {
    const { deliveryId, policy } = input;
    const query = { deliveryId, windowMs: policy.windowMs, firstWaitMs: policy.initialIntervalMs };
    const askedAt = Date.now();
    let situation = await own.readDelivery(query);
    if (Date.now() - askedAt > STALE_MS && patched('fresh-situation')) {
      situation = await own.readDelivery(query);
    }
    if (nextStep(situation, Date.now()).step === 'beginHolding') situation = await own.holdDelivery(query);
    if (situation.open) {
      orders.stands(situation.operator ?? null);
      view.receiver(situation.receiverHost);
    }
    return situation;
  }

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // Canceled by an operator: the e-shop's log must not show it as open forever.
    await CancellationScope.nonCancellable(async () => {
      const state = await close('canceled', false);
      if (patched('operator-cancellation-shown')) view.ended(state, `Ended by an operator as ${state}.`);
    });
    throw error;
  } finally {
    if (!allHandlersFinished()) await orders.settled();
  }

  async function run(): Promise<DeliverEventResult> {
    let last: AttemptEnd | null = null;
    const outage = createOutage();
    if (input.attemptsMade === 0) last = await attempts(0, 0, input.policy.windowMs);

    for (;;) {
      if (last?.kind === 'delivered') {
        view.ended('delivered', `Delivered by attempt ${last.number} (HTTP ${last.status}).`);
        return { state: 'delivered' };
      }
      const seen = changes;
      const situation = await readSituation();
      const pause = situation.open ? outage.pauseAfter(last, situation.attemptsMade) : 0;
      last = null;
      if (pause > 0 && patched('paced-interruptions')) {
        await wait(pause, seen, 'something of ours fails: waiting for it to pass');
        continue;
      }
      const next = nextStep(situation, Date.now());
      const ahead = situation.open && situation.clock === 'database' ? situation.readAt - Date.now() : 0;
      /** By the clock of the situation's times. */
      const msUntil = (time: number) => time - (Date.now() + ahead);
      if (situation.open && workflowInfo().continueAsNewSuggested) {
        // A webhook switched on and off thousands of times: the rest continues in a fresh history.
        await continueAsNew<typeof deliverEvent>({ ...input, attemptsMade: situation.attemptsMade });
      }
      const policyGoesOn = (made: number, windowEndsAt: number | null) =>
        attempts(seen, made, windowEndsAt === null ? input.policy.windowMs : msUntil(windowEndsAt));
      switch (next.step) {
        case 'end':
          return await uncancellable(() => endedBefore(next.state, !situation.open && situation.elsewhere));
        case 'cancel':
          return await cancel();
        case 'giveUp':
          return await uncancellable(() => giveUp(situation));
        case 'compensate':
          return await uncancellable(compensate);
        case 'expire':
          return await uncancellable(() => expire(next.alarm, whyExpired(situation, next.alarm)));
        case 'beginHolding':
          break;
        case 'hold':
          view.held(next.until, operatorOf(situation));
          await wait(
            msUntil(next.until),
            seen,
            operatorOf(situation) === null ? 'held: the webhook is inactive' : 'held by an operator',
          );
          if (changes > seen) view.resumed();
          break;
        case 'waitForNextAttempt':
          await wait(msUntil(next.until), seen, 'the rest of the wait before the next attempt');
          if (changes === seen && situation.open) {
            last = await policyGoesOn(situation.attemptsMade, situation.windowEndsAt);
          }
          break;
        case 'attempt': {
          if (!situation.open) break;
          if (!next.lastChance) {
            last = await policyGoesOn(situation.attemptsMade, situation.windowEndsAt);
            break;
          }
          const { attemptDelivery } = proxyActivities<DeliveryActivities>(lastChanceOptions(input));
          last = await attempt(attemptDelivery, situation.attemptsMade, true);
          break;
        }
      }
    }
  }

  /** An end that has begun is completed, even if the workflow is canceled. */
  function uncancellable<T>(end: () => Promise<T>): Promise<T> {
    return patched('uncancellable-end') ? CancellationScope.nonCancellable(end) : end();
  }

  function close(state: 'expired' | 'canceled', alarm: boolean): Promise<FinalState> {
    return own.closeDelivery({ deliveryId: input.deliveryId, state, alarm });
  }

  async function cancel(): Promise<DeliverEventResult> {
    const state = await close('canceled', false);
    view.ended(state, 'Canceled: the webhook was deleted.');
    return { state };
  }

  async function giveUp(situation: DeliverySituation): Promise<DeliverEventResult> {
    const state = await close('canceled', false);
    const operator = operatorOf(situation);
    view.ended(state, `Given up by ${operator === null ? 'an operator' : whoAndWhy(operator)}.`);
    return { state };
  }

  async function expire(alarm: boolean, why: string): Promise<DeliverEventResult> {
    const state = await close('expired', alarm);
    if (state !== 'expired') return { state };
    view.ended(state, why);
    throw ended(`${deliveryTitle(input)}: ${why}`, 'DeliveryExpired');
  }

  /** Started again, or reset by an operator, after the delivery had ended: its outcome stays, and is shown again. */
  async function endedBefore(state: FinalState, elsewhere = false): Promise<DeliverEventResult> {
    if (state === 'failed' && patched('ended-before')) return await compensateAgain();
    if (state === 'expired' && patched('ended-before')) {
      const why = 'Had already expired; nothing was sent.';
      view.ended(state, why);
      throw ended(`${deliveryTitle(input)}: ${why}`, 'DeliveryExpired');
    }
    const what = elsewhere ? 'Another workflow makes this delivery' : `Had already ended as ${state}`;
    view.ended(state, `${what}; nothing was sent.`);
    return { state };
  }

  async function compensate(): Promise<DeliverEventResult> {
    const result = await compensation();
    return result.state === 'failed' ? fail(`Failed after ${whatFailed(result)}`) : { state: result.state };
  }

  /** It has run before: only what is still missing of it is done. */
  async function compensateAgain(): Promise<DeliverEventResult> {
    const result = await compensation();
    return result.state === 'failed'
      ? fail(`Had already failed, after ${whatFailed(result)}`)
      : { state: result.state };
  }

  /** The compensation and, if it deactivated the webhook, the e-mail about that. */
  async function compensation(): Promise<CompensationResult> {
    const result = await own.compensate(input.deliveryId);
    const { state, deactivatedGeneration: generation } = result;
    if (state === 'failed' && generation !== null) {
      await mail.mailDeactivation({ webhookId: input.webhookId, generation });
    }
    return result;
  }

  function fail(why: string): never {
    view.ended('failed', why);
    throw ended(`${deliveryTitle(input)}: ${why}`, 'DeliveryFailed');
  }
}

function whyExpired(situation: DeliverySituation, alarm: boolean): string {
  if (situation.open && situation.spent === 'windowLost') {
    const who = alarm
      ? 'an outage of Waybill used up the window'
      : 'an operator held it for most of the window';
    return `Expired: ${who}, and the last attempt failed (${situation.lastError ?? 'no answer'}). The webhook stays active.`;
  }
  const meanwhile = operatorOf(situation) === null ? 'the webhook was inactive' : 'an operator held it';
  return `Expired: the window ended while ${meanwhile}.`;
}

/** The operator who stopped it. */
function operatorOf(situation: DeliverySituation): Standing | null {
  return situation.open ? (situation.operator ?? null) : null;
}

/** "21 attempts (HTTP 503 from shop.example after 212 ms); the webhook was left as it is." */
function whatFailed({ attemptsMade, lastError, deactivatedGeneration }: CompensationResult): string {
  const webhook =
    deactivatedGeneration === null
      ? 'the webhook was left as it is'
      : 'the webhook was deactivated and its e-shop mailed';
  return `${counted(attemptsMade, 'attempt')} (${lastError ?? 'no answer'}); ${webhook}.`;
}

/** The end of a delivery that was not delivered: a sentence, and no stack trace, because no code failed. */
function ended(sentence: string, type: 'DeliveryFailed' | 'DeliveryExpired'): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(sentence, type);
  failure.stack = '';
  return failure;
}
