/**
 * Makes the background calls to Temporal. A change to a webhook goes to its open deliveries, page by page; a change
 * to a pre-order to its timer; a change to a recovery to its workflow. Each notice gets its workflow started.
 */
import { decideWarnings } from '../db/incidents/decide.ts';
import { claimNotices, giveBackNotices } from '../db/notices/pending.ts';
import {
  claimReleaseChanges,
  claimWebhookChanges,
  markStarted,
  nextToSignal,
  removeChanges,
  type SignaledDelivery,
  saveProgress,
  type WebhookChange,
} from '../db/outbox/changes.ts';
import { settleOrdering } from '../db/outbox/keep-ordering.ts';
import { leasesOf } from '../db/outbox/lease.ts';
import {
  claimRecoveryChanges,
  recordRecoverySignaled,
  wakeAfterPauses,
} from '../db/outbox/recovery-changes.ts';
import {
  bringForward,
  cancelWithoutWorkflow,
  hasDeliveriesWithoutWorkflow,
  PAGE_WITHOUT_WORKFLOW,
  requeueHeld,
} from '../db/outbox/without-workflow.ts';
import { warningTimes } from '../domain/incident.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';
import { callEach, passOn } from './pass-on.ts';

type CommonDeps = Pick<RelayDeps, 'sql' | 'log' | 'stopping' | 'onAnswered' | 'suspects' | 'options'>;
type ChangesDeps = CommonDeps & Pick<RelayDeps, 'dispatcher' | 'watch' | 'policy'>;

/**
 * Takes a few changes to webhooks, and passes on one page of each.
 * @throws the error of Temporal or the database when it is unavailable; the rest is given back
 */
export async function dispatchChanges(deps: ChangesDeps): Promise<Next> {
  const { sql, options } = deps;
  const { backgroundPerTick, backgroundConcurrency } = options;
  let pace = { page: backgroundPerTick, concurrency: backgroundConcurrency };
  // The calls for each delivery report Temporal's answers. A change may need no call, so it reports none itself.
  return await passOn(
    { ...deps, onAnswered() {} },
    {
      ...leasesOf(sql, 'changes_to_signal'),
      async claim() {
        const claimed = await claimWebhookChanges(sql, backgroundConcurrency);
        const shareOf = (all: number) => Math.max(1, Math.floor(all / claimed.length));
        pace = { page: shareOf(backgroundPerTick), concurrency: shareOf(backgroundConcurrency) };
        return claimed;
      },
      call: (change) => passOnPage(deps, change, pace),
      what: 'a change to a webhook',
      ids: ({ id: changeId }) => ({ changeId }),
    },
  );
}

/** How many deliveries are signaled in one pass over a change, and how many of them at once. */
interface Pace {
  readonly page: number;
  readonly concurrency: number;
}

async function passOnPage(
  deps: ChangesDeps,
  change: WebhookChange,
  { page, concurrency }: Pace,
): Promise<void> {
  const { sql } = deps;
  const { id, eshopId, signaledId, deleted, orderingOnly } = change;
  // The webhook's ordering may have changed: settle it at the first page, and again after the last.
  if (signaledId === null) await settleOrdering(sql, { eshopId });
  if (orderingOnly) return await removeChanges(sql, [id]);
  const passedOn = signaledId ?? (await begin(deps, change));
  if ((await applyToQueued(deps, change)) === PAGE_WITHOUT_WORKFLOW)
    return await saveProgress(sql, id, passedOn);
  // One more than the page holds, to see whether any are left after it.
  const next = await nextToSignal(sql, change, page + 1);
  const signaled = next.slice(0, page);
  if (!(await signal(deps, signaled, concurrency))) return await saveProgress(sql, id, passedOn);
  // Deliveries that are being attempted have to be canceled too.
  const goesOn = next.length > page || (deleted && (await hasDeliveriesWithoutWorkflow(sql, change)));
  if (goesOn) return await saveProgress(sql, id, signaled.at(-1)?.id ?? passedOn);
  if (signaledId !== null || deleted) await settleOrdering(sql, { eshopId });
  await removeChanges(sql, [id]);
}

/**
 * Logs a change once, at its beginning: the last page may follow many minutes later. Operators' commands write no
 * request line, so only this line shows when a webhook was switched off by mistake.
 * @returns the progress of the change
 */
async function begin({ sql, log }: ChangesDeps, change: WebhookChange): Promise<string> {
  const { id, eshopId, webhookId, wakes, deleted } = change;
  log.info(
    { eshopId, webhookId, active: wakes, deleted },
    'passing a change to a webhook on to its open deliveries',
  );
  return await markStarted(sql, id);
}

/** Applies the change to the deliveries without a workflow. @returns how many were changed */
async function applyToQueued({ sql, watch, policy }: ChangesDeps, change: WebhookChange): Promise<number> {
  if (change.deleted) {
    const canceled = await cancelWithoutWorkflow(sql, change);
    for (const eventType of canceled) watch.ended(eventType, 'canceled');
    return canceled.length;
  }
  if (!change.wakes) return 0;
  const queued = await requeueHeld(sql, change);
  return Math.max(queued, await bringForward(sql, change, policy.initialIntervalMs));
}

/** @returns false if the relay is being stopped: the next claim passes the page on again */
async function signal(
  deps: ChangesDeps,
  deliveries: readonly SignaledDelivery[],
  concurrency: number,
): Promise<boolean> {
  const { left, failure } = await callEach(deps, deliveries, concurrency, {
    call: (delivery) => deps.dispatcher.signalWebhookChanged(delivery),
    what: 'a signal to a delivery',
    ids: ({ id: deliveryId }) => ({ deliveryId }),
  });
  if (failure !== undefined) throw failure.error;
  return left.length === 0;
}

/**
 * Passes on changes to release timers.
 * @throws the error of Temporal or the database when it is unavailable; the rest is given back
 */
export async function dispatchReleases(deps: CommonDeps & Pick<RelayDeps, 'dispatcher'>): Promise<Next> {
  const { sql, dispatcher } = deps;
  return await passOn(deps, {
    ...leasesOf(sql, 'changes_to_signal'),
    claim: (most) => claimReleaseChanges(sql, most),
    async call({ id, eshopId, eshopOrderId }) {
      await dispatcher.signalReleaseChanged(eshopId, eshopOrderId);
      await removeChanges(sql, [id]);
    },
    what: 'a signal to the timer of a pre-order',
    ids: ({ id: changeId, eshopId }) => ({ changeId, eshopId }),
  });
}

/**
 * Passes on changes to the workflows of recoveries, and starts those workflows.
 * @throws the error of Temporal or the database when it is unavailable; the rest is given back
 */
export async function dispatchRecoveries(deps: CommonDeps & Pick<RelayDeps, 'recoveries'>): Promise<Next> {
  const { sql, recoveries } = deps;
  await wakeAfterPauses(sql);
  return await passOn(deps, {
    ...leasesOf(sql, 'recoveries'),
    claim: (most) => claimRecoveryChanges(sql, most),
    async call(recovery) {
      await recoveries.signalRecoveryChanged(recovery);
      await recordRecoverySignaled(sql, recovery);
    },
    what: 'the start of a recovery',
    ids: ({ id: recoveryId }) => ({ recoveryId }),
  });
}

/**
 * Decides which e-shops get a warning, and which get a notice of a recovery.
 * @throws the error of the database when it is unavailable
 */
export async function decideNotices({
  sql,
  log,
  policy,
}: Pick<RelayDeps, 'sql' | 'log' | 'policy'>): Promise<Next> {
  const decided = await decideWarnings(sql, warningTimes(policy));
  if (decided > 0) log.info({ decided }, 'warnings decided');
  return 'idle';
}

/**
 * Starts the workflows of notices. The reconciler does not cover them: this loop starts the workflow of a notice
 * again until the notice is sent.
 * @throws the error of Temporal or the database when it is unavailable; the rest is given back
 */
export async function dispatchNotices(deps: CommonDeps & Pick<RelayDeps, 'startNotice'>): Promise<Next> {
  const { sql, startNotice } = deps;
  return await passOn(deps, {
    claim: (most) => claimNotices(sql, most),
    giveBack: (claimed) => giveBackNotices(sql, claimed),
    call: startNotice,
    what: 'the start of a notice',
    ids: ({ id: noticeId }) => ({ noticeId }),
  });
}
