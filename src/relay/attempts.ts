/**
 * Takes deliveries from the queue to their attempts. Each class has its own loop; all loops claim by the same
 * statement.
 *
 * A delivery passes two gates. The quota is in Postgres: a claim takes only as many deliveries of a webhook as can
 * begin soon, and leaves the rest in the queue. The permit is in the worker: an attempt waits for its permit if the
 * receiver is prompt, and is deferred otherwise. So a receiver without a free place costs at most one claim, and
 * delays no other receiver.
 */
import type { Quotas } from '../concurrency/limits.ts';
import { keepOrdering } from '../db/outbox/keep-ordering.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';
import { giveBack } from '../db/outbox/release.ts';
import { retryFromQueue } from '../db/outbox/unstarted-workflows.ts';
import { type AttemptClass, shareOf } from './classes.ts';
import type { RelayDeps } from './deps.ts';
import type { InFlight } from './in-flight.ts';
import type { Next } from './loop.ts';

/**
 * The wait before checking again for a free place, or for deliveries. Too low: checks without result. Too high: idle
 * places.
 */
const AGAIN_MS = 10;
/** The time between searches for retries whose workflow is unstarted. Too low: more load. Too high: late retries. */
const SEARCH_MS = 5_000;

export function attemptsOf(deps: RelayDeps, inFlight: InFlight, name: AttemptClass) {
  const { sql, claim, isDiskFull, limits, options, policy, precedence, stopping } = deps;
  const share = shareOf[name];
  let searchedAt = Number.NEGATIVE_INFINITY;
  /** Those whose quota was filled by claims and still is: more of their deliveries may be waiting. */
  let stoppedAt: AtQuota = { eshops: [], webhooks: [] };

  function room(): number {
    if (isDiskFull()) return 0;
    // As many attempts may wait for their permits as may be under way.
    const places = 2 * options.attempts - limits.open();
    return Math.max(0, Math.min(Math.floor(share * options.inFlight) - inFlight.count(name), places));
  }

  /** A claim costs as much for one delivery as for many. */
  function isWorthAClaim(free: number): boolean {
    return free >= options.worthAClaim || (free > 0 && inFlight.count(name) === 0);
  }

  /** Claims deliveries and begins their attempts. @throws the error of the database when it is unavailable */
  async function step(): Promise<Next> {
    if (!precedence.mayClaim(name)) return options.tickMs;
    if (name === 'retry' && performance.now() - searchedAt > SEARCH_MS) {
      searchedAt = performance.now();
      await retryFromQueue(sql, policy.windowMs);
    }
    const limit = room();
    if (!isWorthAClaim(limit)) {
      precedence.full(name);
      return AGAIN_MS;
    }
    const quotas = limits.quotas(share);
    const { deliveries, more } = await claim(name, { limit, quotas });
    precedence.claimed(name, more);
    inFlight.start(
      deliveries.filter(({ isBlocked }) => !isBlocked),
      name,
    );
    inFlight.start(await inTurn(deliveries.filter(({ isBlocked }) => isBlocked)), name);
    if (!more) {
      stoppedAt = atQuota(deliveries, quotas, stoppedAt);
      return stoppedAt.eshops.length + stoppedAt.webhooks.length > 0 ? 'full' : 'idle';
    }
    // If this claim got none of the waiting deliveries, other relays are claiming them.
    return deliveries.length > 0 ? 'more' : AGAIN_MS;
  }

  /** Those whose turn it is. @throws the error of the database when it is unavailable; they are given back then */
  async function inTurn(blocked: readonly QueuedDelivery[]): Promise<readonly QueuedDelivery[]> {
    try {
      return await keepOrdering(sql, blocked);
    } catch (error) {
      // At worst they wait for the end of their lease.
      await giveBack(sql, blocked).catch(() => {});
      throw error;
    }
  }

  return {
    step,
    /** Whether it could attempt a few more deliveries at once, because no others are waiting. */
    hasRoom: () => !stopping.aborted && precedence.isEmpty(name) && room() >= 1,
    /**
     * Attempts new deliveries that were written as claimed, up to the quotas of their webhooks and e-shops. The rest
     * goes back to the queue.
     * @returns how many were given back
     */
    async start(claimed: readonly QueuedDelivery[]): Promise<number> {
      const free = stopping.aborted ? 0 : room();
      const accepted = takeWithin(claimed, limits.quotas(1)).taken.slice(0, free);
      inFlight.start(accepted, name);
      const returned = claimed.filter((delivery) => !accepted.includes(delivery));
      if (returned.length > 0) precedence.waiting(name);
      await giveBack(sql, returned);
      return returned.length;
    },
  };
}

/** Takes as many deliveries of each webhook and e-shop as a claim would. @returns them, and the rest of the quotas */
function takeWithin(deliveries: readonly QueuedDelivery[], quotas: Quotas) {
  const eshops = new Map(quotas.eshops);
  const webhooks = new Map(quotas.webhooks);
  const taken = deliveries.filter(({ eshopId, webhookId }) => {
    const eshop = eshops.get(eshopId) ?? quotas.eshop;
    const webhook = webhooks.get(webhookId) ?? quotas.webhook;
    if (eshop < 1 || webhook < 1) return false;
    eshops.set(eshopId, eshop - 1);
    webhooks.set(webhookId, webhook - 1);
    return true;
  });
  return { taken, left: { ...quotas, eshops, webhooks } };
}

/** The ids of e-shops and webhooks that have no quota left. */
interface AtQuota {
  readonly eshops: readonly number[];
  readonly webhooks: readonly number[];
}

/**
 * The e-shops and webhooks, of these and of earlier claims, that have no quota left: the claim may have left some of
 * their deliveries in the queue. Others, such as webhooks closed for a while, say nothing about this class.
 */
function atQuota(claimed: readonly QueuedDelivery[], quotas: Quotas, before: AtQuota): AtQuota {
  const { left } = takeWithin(claimed, quotas);
  const among = (ids: readonly number[], known: ReadonlyMap<number, number>, unknown: number) =>
    [...new Set(ids)].filter((id) => (known.get(id) ?? unknown) < 1);
  const eshopIds = claimed.map(({ eshopId }) => eshopId);
  const webhookIds = claimed.map(({ webhookId }) => webhookId);
  return {
    eshops: among([...before.eshops, ...eshopIds], left.eshops, left.eshop),
    webhooks: among([...before.webhooks, ...webhookIds], left.webhooks, left.webhook),
  };
}
