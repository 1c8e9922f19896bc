/**
 * From the queue to Temporal: the classes of deliveries that wait, each claimed in a loop of its own by the same statement. A
 * delivery gets its own workflow, or in a burst hundreds share one, a batch.
 *
 * Two gates stand on its way. The quota, in Postgres: a claim takes no more of a webhook than begins soon, and leaves the rest in the
 * queue; that is no burst, which is what could be attempted and has nobody who starts it. The permit, in the worker: who asks for one
 * waits where its receiver is prompt, and is deferred otherwise. So a full receiver costs a claim and a start at most, and nobody
 * else anything. The ways back (released, set aside, deferred, requeued, owed) stand in docs/glossary.md.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Quotas } from '../concurrency/limits.ts';
import { keepOrder } from '../db/outbox/keep-order.ts';
import { QUEUE, type QueuedDelivery, releaseDeliveries } from '../db/outbox/outbox.ts';
import { type ClassName, deliveryClasses, type Precedence } from './classes.ts';
import type { RelayDeps } from './deps.ts';
import type { InHand } from './in-hand.ts';
import { createLastBatch } from './last-batch.ts';
import type { Next } from './loop.ts';
import { createMode } from './mode.ts';
import { type StartDeps, startClaimed } from './start.ts';

type DeliveriesDeps = StartDeps &
  Pick<RelayDeps, 'claim' | 'firstAttempts' | 'limits' | 'budget'> & {
    readonly inHand: Pick<InHand, 'count' | 'take'>;
  };

/** Before it is looked again whether a place is free, in milliseconds. */
const AGAIN_MS = 20;
/** In a burst: between two looks for deliveries of others than its crowd, in milliseconds. Less: claims in vain. More: their latency. */
const BESIDE_MS = 50;

/** One class of deliveries. */
interface Dispatch {
  /** Throws what Temporal or the database threw when it is away; what was claimed is released. */
  step(): Promise<Next>;
  /** Whether it would make first attempts of a few more of an e-shop at once. */
  hasRoom(eshopId: number): boolean;
  /**
   * Takes new deliveries that were written as claimed, as far as their webhooks and e-shops let it, and releases the others.
   * @returns how many were released
   */
  take(claimed: readonly QueuedDelivery[]): Promise<number>;
}

/**
 * Makes a class's dispatch. A step claims deliveries of a class and starts what attempts them. What belongs to a batch already, since
 * whoever claimed it died, starts that batch again.
 */
export function dispatchOf(deps: DeliveriesDeps, name: ClassName, precedence: Precedence): Dispatch {
  const { sql, claim, limits, load, budget, options, firstAttempts, inHand, stopping } = deps;
  const { bound, urgency, aheadMs, share, ...of } = deliveryClasses[name];
  const queue = QUEUE[name];
  const allowed = of.mode === 'setting' ? firstAttempts : of.mode;
  const mode = createMode(firstAttempts === 'each' ? 'each' : allowed, options);
  const background = bound === 'window' ? null : bound;
  const few = background === null && allowed === 'auto' ? options.fewOfEshop : 0;
  const lastBatch = createLastBatch(load.waits, options, few);

  /** One batch at a time is on its way; what is open in the worker is bounded, but for a few of others. */
  function batchLimit(): number {
    if (lastBatch.isFresh()) return 0;
    return Math.min(options.batchSize, Math.max(options.window, 2 * options.batchSize - limits.open()));
  }
  const ownLimit = () =>
    background === null
      ? Math.min(options.window - inHand.count(), 2 * options.attempts - limits.open())
      : budget.available(background);

  /** Makes the first attempts of those that are in no batch, and starts the workflows of the others. */
  async function pass(claimed: readonly QueuedDelivery[], newBatch: string | null): Promise<void> {
    const batches = new Set(claimed.flatMap(({ batchId }) => (batchId === null ? [] : [batchId])));
    const resumed = [...batches].filter((id) => id !== newBatch);
    const ready = await keepOrder(sql, claimed, resumed);
    const own = background === null ? ready.filter((delivery) => delivery.batchId === null) : [];
    inHand.take(own);
    const others = ready.filter((delivery) => !own.includes(delivery));
    await startClaimed(deps, others, urgency);
  }

  /** In a burst, until the next batch: those of others than its crowd, one by one. */
  async function passBeside(crowd: ReadonlySet<number>): Promise<Next> {
    const limit = ownLimit();
    if (limit < 1) return AGAIN_MS;
    const { deliveries } = await claim({ queue, limit, quotas: limits.quotas(1, crowd) });
    await pass(deliveries, null);
    return BESIDE_MS;
  }

  async function step(): Promise<Next> {
    if (!precedence.mayClaim(name)) return options.tickMs;
    // Without Temporal no batch is made, and first attempts are.
    const batches = mode.batches() && !(background === null && load.silent());
    const crowd = lastBatch.crowd();
    if (batches && lastBatch.isFresh() && crowd !== null) return await passBeside(crowd);
    const limit = batches ? batchLimit() : ownLimit();
    if (limit < 1) {
      precedence.full(name);
      return background !== null && !batches ? options.tickMs : AGAIN_MS;
    }
    const batchId = uuidv7();
    const { deliveries, more, waitedMs } = await claim({
      queue,
      limit,
      ...(share === null ? {} : { quotas: limits.quotas(share) }),
      ...(batches ? { batchId, alone: { few, room: ownLimit() } } : { aheadMs }),
    });
    precedence.claimed(name, more);
    mode.claimed({ deliveries: deliveries.length, more, waitedMs });
    if (batches) lastBatch.claimed(batchId, deliveries);
    if (background !== null)
      budget.spend(background, deliveries.filter((delivery) => delivery.batchId === null).length);
    await pass(deliveries, batchId);
    if (deliveries.length === 0) return 'idle';
    if (background !== null) return options.tickMs;
    if (batches) return lastBatch.crowd() === null ? options.tickMs : BESIDE_MS;
    return more ? 'more' : 'idle';
  }

  return {
    step,
    hasRoom: (eshopId) =>
      !stopping.aborted &&
      (mode.batches() ? lastBatch.crowd()?.has(eshopId) === false : precedence.isEmpty(name)) &&
      ownLimit() >= 1,
    async take(claimed) {
      const room = stopping.aborted ? 0 : Math.max(0, ownLimit());
      const own = withinQuotas(claimed, limits.quotas(1)).slice(0, room);
      inHand.take(own);
      const left = claimed.filter((delivery) => !own.includes(delivery));
      await releaseDeliveries(
        sql,
        left.map(({ id }) => id),
      );
      return left.length;
    },
  };
}

/** As many of each webhook and e-shop as a claim would take. */
function withinQuotas(deliveries: readonly QueuedDelivery[], quotas: Quotas): readonly QueuedDelivery[] {
  const eshops = new Map(quotas.eshops);
  const webhooks = new Map(quotas.webhooks);
  return deliveries.filter(({ eshopId, webhookId }) => {
    const eshop = eshops.get(eshopId) ?? quotas.eshop;
    const webhook = webhooks.get(webhookId) ?? quotas.webhook;
    if (eshop < 1 || webhook < 1) return false;
    eshops.set(eshopId, eshop - 1);
    webhooks.set(webhookId, webhook - 1);
    return true;
  });
}
