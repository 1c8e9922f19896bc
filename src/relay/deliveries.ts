/**
 * From the queue to Temporal: each class of deliveries is claimed in its own loop, by the same statement. A delivery gets its own
 * workflow; in a burst, hundreds share one, a batch.
 *
 * Two gates stand in its way. The quota, in Postgres: a claim takes no more of a webhook than can begin soon and leaves the rest in the
 * queue; deliveries left for their quota do not count as a burst. The permit, in the worker: an attempt waits for one if its receiver
 * is prompt, and is deferred otherwise. So a full receiver costs at most a claim and a start, and nothing to others. The ways back
 * (given back, set aside, deferred, requeued, owed) are in docs/glossary.md.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Quotas } from '../concurrency/limits.ts';
import { keepOrder } from '../db/outbox/keep-order.ts';
import { CLASS, giveBackDeliveries, type QueuedDelivery } from '../db/outbox/outbox.ts';
import { type ClassName, deliveryClasses, type Precedence } from './classes.ts';
import type { RelayDeps } from './deps.ts';
import type { InHand } from './in-hand.ts';
import { createLastBatch } from './last-batch.ts';
import type { Next } from './loop.ts';
import { createMode } from './mode.ts';
import { type StartDeps, startClaimed } from './start.ts';

type DeliveriesDeps = StartDeps &
  Pick<RelayDeps, 'claim' | 'firstAttempts' | 'limits'> & {
    readonly inHand: Pick<InHand, 'count' | 'take'>;
  };

/** The wait before checking again for a free place, in milliseconds. */
const AGAIN_MS = 20;
/** In a burst: the time between two claims for e-shops outside its crowd, in milliseconds. Less: empty claims. More: latency. */
const BESIDE_MS = 50;

/** One class of deliveries. */
interface Dispatch {
  /** Throws the error of Temporal or the database when it is away; claimed deliveries are given back. */
  step(): Promise<Next>;
  /** Whether it could make the first attempts of a few more deliveries of an e-shop at once. */
  hasRoom(eshopId: number): boolean;
  /**
   * Takes new deliveries that were written as claimed, up to the quotas of their webhooks and e-shops, and gives back the others.
   * @returns how many were given back
   */
  take(claimed: readonly QueuedDelivery[]): Promise<number>;
}

/**
 * Creates the dispatch of a class. A step claims deliveries and starts their attempts. Deliveries that already belong to a batch,
 * because the process that claimed them died, start that batch again.
 */
export function dispatchOf(deps: DeliveriesDeps, name: ClassName, precedence: Precedence): Dispatch {
  const { sql, claim, limits, starts, options, firstAttempts, inHand, stopping } = deps;
  const { background, urgency, aheadMs, share, ...of } = deliveryClasses[name];
  const allowed = of.mode === 'setting' ? firstAttempts : of.mode;
  const mode = createMode(firstAttempts === 'each' ? 'each' : allowed, options);
  const few = !background && allowed === 'auto' ? options.fewOfEshop : 0;
  const lastBatch = createLastBatch(starts.waits, options, few);

  /** Only one batch is being started at a time. Open attempts in the worker are bounded, apart from a few of other e-shops. */
  function batchLimit(): number {
    if (lastBatch.mustWait()) return 0;
    return Math.min(
      options.batchSize,
      Math.max(options.dispatchWindow, 2 * options.batchSize - limits.open()),
    );
  }
  // Without Temporal no batch is started, but first attempts are made.
  const inBatches = () => mode.batches() && (background || !starts.silent());

  function ownLimit(): number {
    if (background) return options.backgroundPerTick;
    // Batches fill places of their own: e-shops outside their crowd do not wait for these.
    const places = 2 * options.attempts + (inBatches() ? 2 * options.batchSize : 0);
    return Math.max(0, Math.min(options.dispatchWindow - inHand.count(), places - limits.open()));
  }

  /** Makes the first attempts of deliveries in no batch, and starts the workflows of the others. */
  async function pass(claimed: readonly QueuedDelivery[], newBatch: string | null): Promise<void> {
    const batches = new Set(claimed.flatMap(({ batchId }) => (batchId === null ? [] : [batchId])));
    const resumed = [...batches].filter((id) => id !== newBatch);
    const ready = await keepOrder(sql, claimed, resumed);
    const own = background ? [] : ready.filter((delivery) => delivery.batchId === null);
    inHand.take(own);
    const others = ready.filter((delivery) => !own.includes(delivery));
    await startClaimed(deps, others, urgency);
  }

  /** In a burst, until the next batch: deliveries of e-shops outside its crowd, one by one. */
  async function passBeside(crowd: ReadonlySet<number>): Promise<Next> {
    const limit = ownLimit();
    if (limit < 1) return AGAIN_MS;
    const { deliveries } = await claim({ class: CLASS[name], limit, quotas: limits.quotas(1, crowd) });
    await pass(deliveries, null);
    return BESIDE_MS;
  }

  async function step(): Promise<Next> {
    if (!precedence.mayClaim(name)) return options.tickMs;
    const batches = inBatches();
    const crowd = lastBatch.crowd();
    if (batches && lastBatch.mustWait() && crowd !== null) return await passBeside(crowd);
    const room = ownLimit();
    const limit = batches ? batchLimit() : room;
    if (limit < 1) {
      precedence.full(name);
      return AGAIN_MS;
    }
    const batchId = uuidv7();
    const { deliveries, more, waitedMs } = await claim({
      class: CLASS[name],
      limit,
      ...(share === null ? {} : { quotas: limits.quotas(share) }),
      ...(batches ? { batchId, alone: { few, room, leave: options.dispatchWindow } } : { aheadMs }),
    });
    precedence.claimed(name, more);
    mode.claimed({ deliveries: deliveries.length, more, waitedMs });
    if (batches) lastBatch.claimed(batchId, deliveries);
    await pass(deliveries, batchId);
    // Some may have been left for want of room.
    if (deliveries.length === 0) return batches && few > 0 && room < 1 ? AGAIN_MS : 'idle';
    if (background) return options.tickMs;
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
      const room = stopping.aborted ? 0 : ownLimit();
      const own = withinQuotas(claimed, limits.quotas(1)).slice(0, room);
      inHand.take(own);
      const left = claimed.filter((delivery) => !own.includes(delivery));
      await giveBackDeliveries(
        sql,
        left.map(({ id }) => id),
      );
      return left.length;
    },
  };
}

/** As many deliveries of each webhook and e-shop as a claim would take. */
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
