/**
 * Tells open deliveries of changes of their webhook, page by page. Deliveries go first: nobody waits for this.
 */
import {
  claimWebhookChanges,
  countWebhookChanges,
  endWebhookChange,
  nextToTell,
  noteProgress,
  releaseChanges,
  renewChanges,
  type ToldDelivery,
  unheard,
  type WebhookChange,
} from '../db/outbox/claim-changes.ts';
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
import type { FanOutPace } from './fan-out-pace.ts';
import type { Next } from './loop.ts';
import type { PassOnDeps } from './start-all.ts';

/** What telling deliveries of changes takes. */
export interface ChangesDeps extends Pick<PassOnDeps, 'sql' | 'dispatcher' | 'log' | 'stopping' | 'watch'> {
  /** The policy's first wait, in milliseconds: no change of a webhook leads to an attempt sooner after the last one. */
  readonly firstWaitMs: number;
}

/** Webhooks whose deliveries are told side by side, and calls of each under way at once. */
const WEBHOOKS = 5;
const CONCURRENCY = 4;
/** Between two pages of a change, and between two looks while there are changes, in milliseconds. */
const PAGE_INTERVAL_MS = 250;

/**
 * Tells one page of each of a few changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function dispatchChanges(deps: ChangesDeps, pace: FanOutPace): Promise<Next> {
  const { sql } = deps;
  const claimed = await claimWebhookChanges(sql, WEBHOOKS);
  if (claimed.length === 0) return (await countWebhookChanges(sql)) > 0 ? PAGE_INTERVAL_MS : 'idle';
  const page = pace.page(claimed.length);
  // Of what may be told quietly, each change gets its share.
  let quietly = pace.quietly();
  const few = quietly < claimed.length && claimed.some(({ wakes }) => !wakes);
  const pauseMs = few ? pauseFor(await countWebhookChanges(sql)) : PAGE_INTERVAL_MS;
  const share = Math.ceil(quietly / claimed.length);
  const quietPage = () => {
    const mine = Math.min(quietly, share);
    quietly -= mine;
    return mine;
  };
  const left = new Set(claimed.map(({ id }) => id));
  try {
    await whileLeased(
      () => renewChanges(sql, [...left]),
      () =>
        eachLimited(claimed, WEBHOOKS, async (change) => {
          await passOn(deps, pace, change, { page: change.wakes ? page : quietPage(), pauseMs });
          left.delete(change.id);
        }),
    );
  } finally {
    await releaseChanges(sql, [...left]);
  }
  return 'more';
}

/** Until a change of which nobody may be told yet is looked at again, in milliseconds: of many, few are looked at per second. */
const pauseFor = (changes: number) => PAGE_INTERVAL_MS * Math.max(1, Math.ceil(changes / WEBHOOKS));

async function passOn(
  deps: ChangesDeps,
  pace: FanOutPace,
  change: WebhookChange,
  { page, pauseMs }: { readonly page: number; readonly pauseMs: number },
): Promise<void> {
  const { sql } = deps;
  const here = { toldId: change.toldId, untilId: change.untilId, againUntilId: change.againUntilId };
  if ((await settle(deps, change)) === PAGE_WITHOUT_WORKFLOW) {
    await noteProgress(sql, change, { ...here, told: 0, pauseMs: 0 });
    return;
  }
  const limit = change.wakes
    ? pace.wakeUp(page, { told: change.told, unheard: await unheard(sql, change), sinceMs: change.sinceMs })
    : page;
  // Whoever may tell nobody looks whether there is anybody: a change that concerns no delivery is over.
  const next = await nextToTell(sql, change, Math.max(1, limit));
  if (limit === 0 && next.length > 0) {
    await noteProgress(sql, change, { ...here, told: 0, pauseMs: change.wakes ? PAGE_INTERVAL_MS : pauseMs });
    return;
  }
  if (!(await tell(deps, pace, next))) {
    await noteProgress(sql, change, { ...here, told: 0, pauseMs: 0 });
    return;
  }
  const last = next.at(-1);
  if (last !== undefined && next.length === limit) {
    await noteProgress(sql, change, {
      ...here,
      toldId: last.id,
      told: next.length,
      pauseMs: PAGE_INTERVAL_MS,
    });
    return;
  }
  if (change.againUntilId === null) {
    // What batches hold comes back yet, and what is being started may have to be told.
    if (change.deleted && (await someWithoutWorkflow(sql, change.webhookId))) {
      await noteProgress(sql, change, { ...here, told: next.length, pauseMs });
    } else await endWebhookChange(sql, change);
    return;
  }
  const again = { toldId: null, untilId: change.againUntilId, againUntilId: null };
  await noteProgress(sql, change, { ...again, told: next.length, pauseMs: PAGE_INTERVAL_MS });
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
async function tell(
  deps: ChangesDeps,
  pace: FanOutPace,
  deliveries: readonly ToldDelivery[],
): Promise<boolean> {
  const { dispatcher, log, stopping } = deps;
  let failed = false;
  await eachLimited(deliveries, CONCURRENCY, async (delivery) => {
    if (failed || stopping.aborted) return;
    const before = performance.now();
    try {
      await dispatcher.signalWebhookChanged(delivery);
    } catch (error) {
      if (!isRefusal(error)) {
        failed = true;
        throw error;
      }
      log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to tell a delivery of a change');
    }
    pace.observe(performance.now() - before);
  });
  return !stopping.aborted;
}
