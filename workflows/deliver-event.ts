/**
 * One delivery: an event on its way to a webhook (docs/interface.md, D6–D10), after its attempts from the queue, one
 * at least. If they delivered it, nothing is left to do here. The retry policy is Temporal's; the window, the holding
 * and the compensation are here.
 *
 * This code is replayed by deliveries that began days ago: any change to its commands needs `patched()` and a
 * history recorded before the change (see docs/changing-workflows.md).
 */
import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliverySituation } from '../src/attempt/situation.ts';
import { maxAttempts } from '../src/domain/retry-policy.ts';
import { createEndings, type DeliverEventResult } from './delivery-endings.ts';
import { attemptOptions, lastChanceOptions, mailOptions } from './delivery-options.ts';
import {
  attemptFailedSignal,
  type DeliverEventInput,
  type DeliveryActivities,
  type FailedAttempt,
  webhookChangedSignal,
} from './delivery-types.ts';
import { heldByWebhook, nextStep, operatorOf } from './next-step.ts';
import { handleOperatorActions } from './operator-updates.ts';
import { createOperatorView } from './operator-view.ts';
import { type AttemptEnd, createOutage, isInternal } from './own-failures.ts';
import { ownSteps } from './own-steps.ts';

const webhookChanged = defineSignal(webhookChangedSignal);
const attemptFailed = defineSignal<[FailedAttempt]>(attemptFailedSignal);

/** A read that takes longer than this, in milliseconds, is repeated. */
const STALE_MS = 2_000;

/**
 * Delivers one event to one webhook.
 * @throws ApplicationFailure `DeliveryFailed` after the compensation, `DeliveryExpired` if the window ended while it
 * was held or Waybill was away: the UI shows both as Failed.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<DeliverEventResult> {
  const view = createOperatorView(input);
  const own = ownSteps<DeliveryActivities>();
  const mail = ownSteps<DeliveryActivities>(mailOptions(input));
  const endings = createEndings({ input, own, mail, view });
  let changes = 0;
  setHandler(webhookChanged, () => {
    changes += 1;
  });
  setHandler(attemptFailed, (attempt) => view.attemptFailed(attempt));
  handleOperatorActions({
    input,
    own,
    view,
    changed() {
      changes += 1;
    },
  });
  view.attemptedBefore(input.failures ?? []);

  /** Waits until the webhook changes, at most for this many milliseconds. */
  async function wait(ms: number, seen: number, summary: string): Promise<void> {
    if (ms > 0) await condition(() => changes > seen, ms, { summary });
  }

  /** Completes what has begun, even if the workflow is canceled. */
  async function completed<T>(work: () => Promise<T>): Promise<T> {
    return await CancellationScope.nonCancellable(work);
  }

  /** Makes all attempts that the policy still allows; ended early if the webhook changes. */
  async function attempts(seen: number, made: number, windowLeftMs: number): Promise<AttemptEnd> {
    const { attemptDelivery } = proxyActivities<DeliveryActivities>(
      attemptOptions(input, made, windowLeftMs),
    );
    const scope = new CancellationScope();
    const running = scope.run(() => attempt(attemptDelivery, made, false));
    // Not in its own scope: the SDK takes a stack trace of every promise, and every delivery would wait for that.
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
      return { kind: isInternal(error) ? 'interrupted' : 'failed' };
    }
  }

  /** Reads the current situation, and again if the response took long: its times would be out of date. */
  async function readSituation(): Promise<DeliverySituation> {
    const { deliveryId, policy } = input;
    const query = {
      deliveryId,
      windowMs: policy.windowMs,
      firstWaitMs: policy.initialIntervalMs,
      maxAttempts: maxAttempts(policy),
    };
    const askedAt = Date.now();
    let situation = await own.readDelivery(query);
    if (Date.now() - askedAt > STALE_MS) situation = await own.readDelivery(query);
    if (nextStep(situation).step === 'beginHolding') situation = await own.holdDelivery(query);
    if (situation.open) view.receiver(situation.receiverHost);
    return situation;
  }

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // Canceled by an operator: the e-shop's log must not show the delivery as open forever.
    await completed(endings.endedByOperator);
    throw error;
  } finally {
    // Every request gets its response.
    if (!allHandlersFinished()) await completed(() => condition(allHandlersFinished));
  }

  async function run(): Promise<DeliverEventResult> {
    let last: AttemptEnd | null = input.delivered ?? null;
    const outage = createOutage();

    for (;;) {
      if (last?.kind === 'delivered') {
        view.ended('delivered', `Delivered by attempt ${last.number} (HTTP ${last.status}).`);
        return { state: 'delivered' };
      }
      const seen = changes;
      const situation = await readSituation();
      const justSpent = last === null ? isSpent(input) : last.kind === 'failed';
      const pause = situation.open ? outage.pauseAfter(last, situation.attemptsMade) : 0;
      last = null;
      if (pause > 0) {
        await wait(pause, seen, 'an internal failure: waiting for it to pass');
        continue;
      }
      const next = nextStep(situation);
      const ahead = situation.open ? situation.readAt - Date.now() : 0;
      /** On the clock of the situation's times. */
      const msUntil = (time: number) => time - (Date.now() + ahead);
      if (situation.open && workflowInfo().continueAsNewSuggested) {
        // A webhook switched on and off thousands of times: the rest continues in a fresh history.
        await continueAsNew<typeof deliverEvent>({
          ...input,
          attemptsMade: situation.attemptsMade,
          failures: view.failures(),
        });
      }
      const policyGoesOn = (made: number, windowEndsAt: number | null) =>
        attempts(seen, made, windowEndsAt === null ? input.policy.windowMs : msUntil(windowEndsAt));
      switch (next.step) {
        case 'end':
          // After a 410 the attempt itself has recorded the end.
          if (next.state === 'failed' && justSpent) return await completed(endings.compensate);
          return await completed(() => endings.endedBefore(next.state));
        case 'waitForResult':
          // A success counts.
          await completed(() => wait(msUntil(next.until), seen, 'an attempt is under way'));
          break;
        case 'cancel':
          return await endings.cancel();
        case 'giveUp':
          return await completed(() => endings.giveUp(situation));
        case 'compensate':
          return await completed(endings.compensate);
        case 'expire':
          return await completed(() => endings.expire(next.alarm, situation));
        case 'beginHolding':
          break;
        case 'hold':
          view.held(next.until, operatorOf(situation), heldByWebhook(situation));
          await wait(
            msUntil(next.until),
            seen,
            operatorOf(situation) === null
              ? `held: the webhook is ${heldByWebhook(situation)}`
              : 'held by an operator',
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
}

/** Whether it was started after an attempt that left no other. */
function isSpent({ failures = [] }: DeliverEventInput): boolean {
  return failures.at(-1)?.nextAttemptAt === null;
}
