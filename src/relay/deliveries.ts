/**
 * From the queue to Temporal: the classes of deliveries that wait, each claimed in a loop of its own by the same statement. A
 * delivery gets its own workflow, or in a burst hundreds share one, a batch.
 *
 * Two gates stand on its way. The quota, in Postgres: a claim takes no more of a webhook than begins soon, and leaves the rest in the
 * queue; that is no burst, which is what could be attempted and has nobody who starts it. The permit, in the worker: who asks for one
 * waits where its receiver is prompt, and is deferred otherwise. So a full receiver costs a claim and a start at most, and nobody
 * else anything. The ways back, one verb each:
 *
 * - released: claimed and not started; claimed again at once.
 * - set aside: refused by Temporal; claimed again half a minute later.
 * - deferred: without a permit; planned anew under the same number, from a batch in the queue, otherwise in its own workflow.
 * - requeued: not delivered by its batch; it waits for its next attempt in the queue, or gets its own workflow.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Quotas } from '../concurrency/limits.ts';
import { claimDeliveries } from '../db/outbox/claim.ts';
import { keepOrder } from '../db/outbox/order.ts';
import { QUEUE, type Queue, type QueuedDelivery, releaseDeliveries } from '../db/outbox/outbox.ts';
import type { Urgency } from '../temporal/dispatcher.ts';
import type { BackgroundWork } from './budget.ts';
import type { RelayDeps } from './deps.ts';
import type { InHand } from './in-hand.ts';
import type { Next } from './loop.ts';
import { createMode, type FirstAttempts } from './mode.ts';
import { type StartDeps, startClaimed } from './start.ts';

export type DeliveriesDeps = StartDeps &
  Pick<RelayDeps, 'options' | 'firstAttempts' | 'limits' | 'budget' | 'watch'> & {
    readonly inHand: Pick<InHand, 'count' | 'take'>;
  };

/** The classes of deliveries that wait, each the name of a loop. */
export type ClassName = 'deliveries' | 'retries' | 'workflows' | 'bulk' | 'recovered';

/** How a class is dispatched. */
export interface DeliveryClass {
  readonly queue: Queue;
  /** The classes of which nothing may be left when this one is claimed, but for once in a while. */
  readonly after: readonly ClassName[];
  /** What bounds its own workflows: the window of those in hand, whose first attempts are made here, or a share of the background budget. */
  readonly bound: 'window' | BackgroundWork;
  /** Where batches are allowed at all: always, never or in a burst; or as the setting says. */
  readonly mode: FirstAttempts | 'setting';
  /** When a worker takes its workflows from Temporal. */
  readonly urgency: Urgency;
  /** How long before it is due its own workflow is started, in milliseconds. */
  readonly aheadMs: number;
}

export const deliveryClasses: Readonly<Record<ClassName, DeliveryClass>> = {
  /** Written with its event, or asked for again. */
  deliveries: {
    queue: QUEUE.fresh,
    after: [],
    bound: 'window',
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
  },
  /** Requeued by a batch, the next attempt due within a minute. */
  retries: {
    queue: QUEUE.retry,
    after: [],
    bound: 'retries',
    mode: 'auto',
    urgency: 'retry',
    // More than passes between two looks.
    aheadMs: 2_000,
  },
  /** Requeued by a batch without one. */
  workflows: {
    queue: QUEUE.workflow,
    after: [],
    bound: 'retries',
    mode: 'each',
    urgency: 'retry',
    aheadMs: 0,
  },
  /** Written by an import. */
  bulk: {
    queue: QUEUE.bulk,
    after: ['deliveries'],
    bound: 'window',
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
  },
  /** Created by a recovery; requeued, it is a retry like any other. */
  recovered: {
    queue: QUEUE.recovered,
    after: ['deliveries', 'bulk'],
    bound: 'recovered',
    mode: 'batch',
    urgency: 'recovery',
    aheadMs: 0,
  },
};

/** Which classes have something left that could be claimed, and which may be claimed now. */
export interface Precedence {
  /** After a claim. */
  claimed(name: ClassName, more: boolean): void;
  /** It could start nothing, and nobody has looked: something may wait, and it has not had its turn. */
  full(name: ClassName): void;
  /** Whether nothing of those before it is left, or it has waited long enough. */
  mayClaim(name: ClassName): boolean;
  /** Whether its last claim left nothing. */
  isEmpty(name: ClassName): boolean;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createPrecedence(
  patienceMs: number,
  now: () => number = () => performance.now(),
): Precedence {
  const left = new Map<ClassName, boolean>();
  const servedAt = new Map<ClassName, number>();
  return {
    claimed(name, more) {
      left.set(name, more);
      servedAt.set(name, now());
    },
    full: (name) => void left.set(name, true),
    isEmpty: (name) => left.get(name) === false,
    mayClaim(name) {
      // Before its first claim nobody knows what waits of a class.
      const blocked = deliveryClasses[name].after.some((other) => left.get(other) ?? true);
      if (!servedAt.has(name)) servedAt.set(name, now());
      return !blocked || now() - (servedAt.get(name) ?? 0) > patienceMs;
    },
  };
}

/** Before it is looked again whether a place is free, in milliseconds. */
const AGAIN_MS = 20;

/** One class of deliveries. */
export interface Dispatch {
  /** Throws what Temporal or the database threw when it is away; what was claimed is released. */
  step(): Promise<Next>;
  /** Whether it would make first attempts of a few more at once. */
  hasRoom(): boolean;
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
  const { sql, limits, load, budget, options, firstAttempts, inHand, silence, stopping } = deps;
  const { queue, bound, urgency, aheadMs, ...of } = deliveryClasses[name];
  const allowed = of.mode === 'setting' ? firstAttempts : of.mode;
  const mode = createMode(firstAttempts === 'each' ? 'each' : allowed, options);
  const background = bound === 'window' ? null : bound;
  let lastBatch = '';

  /** One batch at a time is on its way; what is open in the worker is bounded, but for a few of others. */
  function batchLimit(): number {
    if (load.waits(lastBatch)) return 0;
    return Math.min(options.batchSize, Math.max(options.window, 2 * options.batchSize - limits.open()));
  }
  const ownLimit = () =>
    background === null
      ? Math.min(options.window - inHand.count(), 2 * options.attempts - limits.open())
      : budget.available(background);

  async function step(): Promise<Next> {
    if (!precedence.mayClaim(name)) return options.tickMs;
    // Without Temporal no batch is made, and first attempts are.
    const batches = mode.batches() && !(background === null && silence.lasts());
    const limit = batches ? batchLimit() : ownLimit();
    if (limit < 1) {
      precedence.full(name);
      return background !== null && !batches ? options.tickMs : AGAIN_MS;
    }
    const batchId = uuidv7();
    const { deliveries, more, waitedMs } = await claimDeliveries(sql, {
      queue,
      limit,
      // Half is left to what is fresh.
      quotas: limits.quotas(urgency === 'recovery' ? 0.5 : 1),
      ...(batches ? { batchId } : { aheadMs }),
    });
    precedence.claimed(name, more);
    mode.claimed({ deliveries: deliveries.length, more, waitedMs });
    if (batches) lastBatch = batchId;
    if (background !== null)
      budget.spend(background, deliveries.filter((delivery) => delivery.batchId === null).length);
    const { ready, superseded } = await keepOrder(sql, deliveries);
    for (const kind of superseded) deps.watch.ended(kind, 'superseded');
    // What belongs to a batch already is left to that.
    const own = background === null ? ready.filter((delivery) => delivery.batchId === null) : [];
    inHand.take(own);
    await startClaimed(
      deps,
      ready.filter((delivery) => !own.includes(delivery)),
      { urgency, concurrency: options.backgroundConcurrency },
    );
    if (deliveries.length === 0) return 'idle';
    if (batches || background !== null) return options.tickMs;
    return more ? 'more' : 'idle';
  }

  return {
    step,
    hasRoom: () => !stopping.aborted && !mode.batches() && precedence.isEmpty(name) && ownLimit() >= 1,
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
