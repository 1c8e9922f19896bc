/**
 * Tells open deliveries of changes of their webhook, page by page, and timers of pre-orders of theirs. Nobody waits for this: it
 * shares the background budget.
 */
import type { SchedulerOptions } from '../concurrency/settings.ts';
import {
  claimReleaseChanges,
  claimWebhookChanges,
  nextToTell,
  noteTold,
  releaseChanges,
  removeChanges,
  renewChanges,
  type ToldDelivery,
  type WebhookChange,
} from '../db/outbox/changes.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import {
  cancelWithoutWorkflow,
  hastenAttempts,
  PAGE_WITHOUT_WORKFLOW,
  queueAgain,
  someWithoutWorkflow,
} from '../db/outbox/without-workflow.ts';
import { eachLimited } from '../lib/each-limited.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { Budget } from './budget.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';
import type { PassOnDeps } from './start.ts';

/** What telling of changes takes. */
export interface ChangesDeps extends Pick<PassOnDeps, 'sql' | 'dispatcher' | 'log' | 'stopping' | 'watch'> {
  readonly budget: Budget;
  readonly options: SchedulerOptions;
  /** The policy's first wait, in milliseconds: no change of a webhook leads to an attempt sooner after the last one. */
  readonly firstWaitMs: number;
}

/**
 * Tells one page of each of a few changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function dispatchChanges(deps: ChangesDeps): Promise<Next> {
  const { sql, budget, options } = deps;
  const available = budget.available('changes');
  if (available < 1) return options.tickMs;
  const claimed = await claimWebhookChanges(sql, options.backgroundConcurrency);
  if (claimed.length === 0) return 'idle';
  const page = Math.max(1, Math.floor(available / claimed.length));
  const left = new Set(claimed.map(({ id }) => id));
  try {
    await whileLeased(
      () => renewChanges(sql, [...left]),
      () =>
        eachLimited(claimed, claimed.length, async (change) => {
          await passOnPage(deps, change, page);
          left.delete(change.id);
        }),
    );
  } finally {
    await releaseChanges(sql, [...left]);
  }
  return options.tickMs;
}

/** @param page how many deliveries may be told now */
async function passOnPage(deps: ChangesDeps, change: WebhookChange, page: number): Promise<void> {
  const { sql } = deps;
  const { id, toldId, webhookId, deleted } = change;
  if ((await settle(deps, change)) === PAGE_WITHOUT_WORKFLOW) return await noteTold(sql, id, toldId);
  // One more than may be told: a change that concerns no delivery any more is over.
  const next = await nextToTell(sql, change, page + 1);
  const told = next.slice(0, page);
  if (!(await tell(deps, told))) return await noteTold(sql, id, toldId);
  // What batches hold comes back yet, and what is being started may have to be told.
  const goesOn = next.length > page || (deleted && (await someWithoutWorkflow(sql, webhookId)));
  if (goesOn) await noteTold(sql, id, told.at(-1)?.id ?? toldId);
  else await removeChanges(sql, [id]);
}

/** What the change means for the deliveries without a workflow. @returns how many were changed */
async function settle(
  { sql, watch, firstWaitMs }: Pick<ChangesDeps, 'sql' | 'watch' | 'firstWaitMs'>,
  { deleted, wakes, webhookId }: WebhookChange,
): Promise<number> {
  if (deleted) {
    const canceled = await cancelWithoutWorkflow(sql, webhookId);
    for (const kind of canceled) watch.ended(kind, 'canceled');
    return canceled.length;
  }
  if (!wakes) return 0;
  const queued = await queueAgain(sql, webhookId);
  return Math.max(queued, await hastenAttempts(sql, webhookId, firstWaitMs));
}

/** @returns false where the relay is being stopped: the page is told again by whoever comes next */
async function tell(deps: ChangesDeps, deliveries: readonly ToldDelivery[]): Promise<boolean> {
  const { dispatcher, log, stopping, budget, options } = deps;
  budget.spend('changes', deliveries.length);
  let failed = false;
  await eachLimited(deliveries, options.backgroundConcurrency, async (delivery) => {
    if (failed || stopping.aborted) return;
    try {
      await dispatcher.signalWebhookChanged(delivery);
    } catch (error) {
      if (!isRefusal(error)) {
        failed = true;
        throw error;
      }
      log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to tell a delivery of a change');
    }
  });
  return !stopping.aborted;
}

/**
 * Passes on one small page of changes of release timers: thousands may come at once.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function dispatchReleases(deps: Omit<ChangesDeps, 'watch' | 'firstWaitMs'>): Promise<Next> {
  const { sql, log, dispatcher, stopping, budget, options } = deps;
  const limit = budget.available('releases');
  if (limit === 0) return options.tickMs;
  return await passOn({
    stopping,
    limit,
    pauseMs: options.tickMs,
    claim: (most) => claimReleaseChanges(sql, most),
    renew: (ids) => renewChanges(sql, ids),
    release: (ids) => releaseChanges(sql, ids),
    async tell({ eshopId, eshopOrderId }) {
      budget.spend('releases', 1);
      await dispatcher.signalReleaseChanged(eshopId, eshopOrderId);
    },
    note: ({ id }) => removeChanges(sql, [id]),
    refused: ({ id: changeId, eshopId }, err) =>
      log.error({ changeId, eshopId, err }, 'Temporal refused to tell the timer of a pre-order of a change'),
  });
}
