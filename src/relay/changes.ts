/**
 * Passes changes on: of webhooks, to their open deliveries, page by page; of pre-orders, to their timers; and of recoveries. The first
 * two are not urgent, and go at the pace of background calls.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import {
  claimReleaseChanges,
  claimWebhookChanges,
  nextToTell,
  noteTold,
  removeChanges,
  type ToldDelivery,
  type WebhookChange,
} from '../db/outbox/changes.ts';
import { settleOrdering } from '../db/outbox/keep-ordering.ts';
import { leasesOf } from '../db/outbox/lease.ts';
import { claimRecoveryChanges, noteRecoveryTold } from '../db/outbox/recovery-changes.ts';
import {
  bringForward,
  cancelWithoutWorkflow,
  PAGE_WITHOUT_WORKFLOW,
  requeueHeld,
  someWithoutWorkflow,
} from '../db/outbox/without-workflow.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';
import { callEach, passOn } from './pass-on.ts';

type CommonDeps = Pick<RelayDeps, 'sql' | 'log' | 'stopping' | 'onAnswered'>;
type PacedDeps = CommonDeps & Pick<RelayDeps, 'dispatcher' | 'options'>;
type ChangesDeps = PacedDeps & Pick<RelayDeps, 'watch' | 'policy'>;

/**
 * Passes on one page of each of a few changes.
 * @throws the error of Temporal or the database when it is away; the rest is given back
 */
export async function dispatchChanges(deps: ChangesDeps): Promise<Next> {
  const { sql, log, stopping, options } = deps;
  const atOnce = pLimit(options.backgroundConcurrency);
  let page = 0;
  return await passOn({
    ...leasesOf(sql, 'outbox'),
    stopping,
    limit: options.backgroundConcurrency,
    pauseMs: options.tickMs,
    async claim(most) {
      const claimed = await claimWebhookChanges(sql, most);
      page = Math.max(1, Math.floor(options.backgroundPerTick / claimed.length));
      return claimed;
    },
    call: (change) => passOnPage(deps, change, { page, atOnce }),
    // The calls of its page report their answers; a change may need none.
    onAnswered() {},
    refused: ({ id: changeId }, err) =>
      log.error({ changeId, err }, 'Temporal refused a change of a webhook'),
  });
}

/** The calls of one round: how many deliveries of each change are told, and the bound on calls under way. */
interface Calls {
  readonly page: number;
  readonly atOnce: LimitFunction;
}

async function passOnPage(deps: ChangesDeps, change: WebhookChange, { page, atOnce }: Calls): Promise<void> {
  const { sql } = deps;
  const { id, eshopId, toldId, webhookId, deleted } = change;
  // The order of deliveries may have changed: settle it at the first page, and again after the last.
  if (toldId === null) await settleOrdering(sql, { eshopId });
  if ((await settle(deps, change)) === PAGE_WITHOUT_WORKFLOW) return await noteTold(sql, id, toldId);
  // One more than may be called, to see whether any are left after this page.
  const next = await nextToTell(sql, change, page + 1);
  const told = next.slice(0, page);
  if (!(await tell(deps, told, atOnce))) return await noteTold(sql, id, toldId);
  // Deliveries that are being attempted have to be canceled too.
  const goesOn = next.length > page || (deleted && (await someWithoutWorkflow(sql, webhookId)));
  if (goesOn) return await noteTold(sql, id, told.at(-1)?.id ?? toldId);
  if (toldId !== null || deleted) await settleOrdering(sql, { eshopId });
  await removeChanges(sql, [id]);
}

/** Applies the change to the deliveries without a workflow. @returns how many were changed */
async function settle(
  { sql, watch, policy }: ChangesDeps,
  { deleted, wakes, webhookId }: WebhookChange,
): Promise<number> {
  if (deleted) {
    const canceled = await cancelWithoutWorkflow(sql, webhookId);
    for (const eventType of canceled) watch.ended(eventType, 'canceled');
    return canceled.length;
  }
  if (!wakes) return 0;
  const queued = await requeueHeld(sql, webhookId);
  return Math.max(queued, await bringForward(sql, webhookId, policy.initialIntervalMs));
}

/** @returns false if the relay is being stopped: the next claim passes the page on again */
async function tell(
  deps: PacedDeps,
  items: readonly ToldDelivery[],
  atOnce: LimitFunction,
): Promise<boolean> {
  const { dispatcher, log, stopping, onAnswered, options } = deps;
  const { left, throwFailure } = await callEach({
    items,
    concurrency: options.backgroundConcurrency,
    stopping,
    onAnswered,
    call: (delivery) => atOnce(() => dispatcher.signalWebhookChanged(delivery)),
    refused: ({ id: deliveryId }, err) =>
      log.error({ deliveryId, err }, 'Temporal refused to tell a delivery of a change'),
  });
  throwFailure();
  return left.length === 0;
}

/**
 * Passes on one small page of changes to release timers: thousands may come at once.
 * @throws the error of Temporal or the database when it is away; the rest is given back
 */
export async function dispatchReleases(deps: PacedDeps): Promise<Next> {
  const { sql, log, dispatcher, stopping, onAnswered, options } = deps;
  return await passOn({
    ...leasesOf(sql, 'outbox'),
    stopping,
    onAnswered,
    limit: options.backgroundPerTick,
    concurrency: options.backgroundConcurrency,
    pauseMs: options.tickMs,
    claim: (most) => claimReleaseChanges(sql, most),
    call: ({ eshopId, eshopOrderId }) => dispatcher.signalReleaseChanged(eshopId, eshopOrderId),
    note: ({ id }) => removeChanges(sql, [id]),
    refused: ({ id: changeId, eshopId }, err) =>
      log.error({ changeId, eshopId, err }, 'Temporal refused to tell the timer of a pre-order of a change'),
  });
}

/**
 * Passes on one page of changes to the workflows of recoveries, and starts those workflows.
 * @throws the error of Temporal or the database when it is away; the rest is given back
 */
export function dispatchRecoveries({
  sql,
  log,
  recoveries,
  stopping,
  onAnswered,
}: CommonDeps & Pick<RelayDeps, 'recoveries'>): Promise<Next> {
  return passOn({
    ...leasesOf(sql, 'recoveries'),
    stopping,
    onAnswered,
    claim: (limit) => claimRecoveryChanges(sql, limit),
    call: (recovery) => recoveries.signalRecoveryChanged(recovery),
    note: (recovery) => noteRecoveryTold(sql, recovery),
    refused: ({ id: recoveryId }, err) =>
      log.error({ recoveryId, err }, 'Temporal refused to start a recovery'),
  });
}
