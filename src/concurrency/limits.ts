/**
 * How many attempts may be under way at once: of one webhook, to one host, of one e-shop. A webhook's limit is found by trying; a
 * slow receiver fills its own limit and nobody else's. In the memory of one worker: none needs to be told. Pure.
 *
 * Module concurrency, which imports nothing. Begin: `settings.ts` has every number, `load.ts` the measure of load, `turns.ts` the fair
 * queue.
 */
import { type SchedulerOptions, schedulerDefaults } from './settings.ts';
import { createTurns } from './turns.ts';

/** Whose attempt it is. */
export interface Destination {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly url: string;
}

/** The right to make one attempt. */
export interface Permit {
  /** @param accepted whether the receiver accepted; null where nothing was learned about it */
  release(accepted: boolean | null): void;
  /**
   * Too many lookups of the e-shop are under way, most likely of names that nobody answers for: its webhook is closed for a while,
   * and its host is not, as it may be that of other e-shops too. Called before `release`.
   * @returns in how many milliseconds to ask again
   */
  crowded(): number;
}

/** How much may still be claimed: of webhooks and e-shops that are named, and of each of the others. */
export interface ClaimRoom {
  readonly eshop: number;
  readonly webhook: number;
  readonly eshops: ReadonlyMap<number, number>;
  readonly webhooks: ReadonlyMap<number, number>;
}

/** The limits of one worker. */
export interface Limits {
  /**
   * Waits for a permit where one is to be had within a moment: in turn by e-shop, and in order within a webhook.
   * @returns the permit; or in how many milliseconds to ask again; undefined where `signal` aborts first
   */
  acquire(destination: Destination, signal?: AbortSignal): Promise<Permit | number | undefined>;
  /** Attempts under way, and those that wait for a permit. */
  open(): number;
  room(): ClaimRoom;
}

/** Until somebody without a permit asks again, in milliseconds: less would be rounds in vain, more would forget a recovery. */
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 300_000;
/** Webhooks and e-shops with nothing under way that are remembered; the others begin anew. */
const REMEMBERED = 10_000;

/** Attempts of one webhook or e-shop, and what was learned from them. */
interface Usage {
  underWay: number;
  /** Of an e-shop: those that wait for a permit. Those of a webhook are in its queue. */
  waiting: number;
  limit: number;
  /** How long its attempts take, in milliseconds: a moving mean. */
  meanMs: number;
  /** When the last one ended. */
  endedAt: number;
  /** No permit is given until then. */
  closedUntil: number;
  /** When the next one that is sent away may come again. */
  nextAt: number;
  readonly queue: (() => void)[];
}

/** @param now in milliseconds, on a clock that does not jump */
export function createLimits(
  options: SchedulerOptions = schedulerDefaults,
  now: () => number = () => performance.now(),
): Limits {
  const { attempts, eshopShare, firstLimit, hostLimit, hungMs, claimAheadMs, permitWaitMs } = options;
  const greatestLimit = Math.max(firstLimit, attempts / 2);
  const turns = createTurns({ total: attempts, share: eshopShare });
  const webhooks = new Map<number, Usage>();
  const eshops = new Map<number, Usage>();
  const hosts = new Map<string, number>();
  let open = 0;

  function usageIn(known: Map<number, Usage>, key: number): Usage {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= REMEMBERED) {
      for (const [other, { underWay, waiting }] of known) if (underWay + waiting === 0) known.delete(other);
    }
    const usage: Usage = {
      underWay: 0,
      waiting: 0,
      limit: firstLimit,
      meanMs: 1_000,
      endedAt: 0,
      closedUntil: 0,
      nextAt: 0,
      queue: [],
    };
    known.set(key, usage);
    return usage;
  }

  /** Until somebody who asks now should come again; null where it may begin or wait here. */
  function waitOf(webhook: Usage, eshop: Usage, eshopLimit: number, host: string, at: number): number | null {
    if (webhook.closedUntil > at) return webhook.closedUntil - at;
    if (!beginsSoon(eshop, eshopLimit, at)) return comeAgain(eshop, eshopLimit, at);
    // A webhook always gets its first attempt: another one on its host may hang.
    if (webhook.underWay === 0) return null;
    const full = (hosts.get(host) ?? 0) >= hostLimit;
    if (!full && beginsSoon(webhook, webhook.limit, at)) return null;
    return comeAgain(webhook, webhook.limit, at);
  }

  function beginsSoon(usage: Usage, limit: number, at: number): boolean {
    const whole = Math.floor(limit);
    const before = usage.waiting + usage.queue.length;
    return usage.underWay < whole || (paceOf(usage, at) * (before + 1)) / whole <= claimAheadMs;
  }

  /** One after the other, as fast as places become free; while none does, ever more seldom. */
  function comeAgain(usage: Usage, limit: number, at: number): number {
    usage.nextAt = Math.max(at, usage.nextAt) + usage.meanMs / Math.floor(limit);
    return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, usage.nextAt - at, (at - usage.endedAt) / 2));
  }

  /** Waits for a place of the webhook, then for the e-shop's turn. @returns false where `signal` aborts first */
  async function enter(webhook: Usage, eshopId: number, signal: AbortSignal): Promise<boolean> {
    if (webhook.underWay >= Math.floor(webhook.limit)) {
      const entered = await new Promise<boolean>((resolve) => {
        const take = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(true);
        };
        const giveUp = () => {
          webhook.queue.splice(webhook.queue.indexOf(take), 1);
          resolve(false);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        webhook.queue.push(take);
      });
      if (!entered) return false;
    } else begin(webhook);
    if (await turns.enter(eshopId, signal)) return true;
    end(webhook);
    return false;
  }

  function begin(usage: Usage): void {
    if (usage.underWay === 0) usage.endedAt = now();
    usage.underWay += 1;
  }

  function end(usage: Usage): void {
    usage.underWay -= 1;
    while (usage.queue.length > 0 && usage.underWay < Math.floor(usage.limit)) {
      begin(usage);
      usage.queue.shift()?.();
    }
  }

  function permitFor(webhook: Usage, eshopId: number, host: string): Permit {
    const eshop = usageIn(eshops, eshopId);
    const since = now();
    begin(eshop);
    open += 1;
    hosts.set(host, (hosts.get(host) ?? 0) + 1);
    return {
      release(accepted) {
        const at = now();
        open -= 1;
        const left = (hosts.get(host) ?? 1) - 1;
        if (left === 0) hosts.delete(host);
        else hosts.set(host, left);
        for (const usage of [webhook, eshop]) {
          usage.endedAt = at;
          usage.meanMs += (at - since - usage.meanMs) / 8;
        }
        // One more with each that is accepted, so that it doubles while all are; half as many with each that hangs.
        if (accepted === true) {
          webhook.limit = Math.min(greatestLimit, webhook.limit + 1);
          webhook.nextAt = 0;
          eshop.nextAt = 0;
        } else if (accepted === false && at - since >= hungMs) webhook.limit = Math.max(1, webhook.limit / 2);
        eshop.underWay -= 1;
        end(webhook);
        turns.leave(eshopId);
      },
      crowded() {
        const at = now();
        // Of many that find the same at one moment, the first speaks for all.
        if (webhook.closedUntil <= at) webhook.closedUntil = at + options.closedMs;
        return webhook.closedUntil - at;
      },
    };
  }

  /** How much more may be claimed of what has been used lately. */
  function roomIn(known: ReadonlyMap<number, Usage>, limitOf: (key: number, usage: Usage) => number) {
    const at = now();
    const room = new Map<number, number>();
    for (const [key, usage] of known) {
      const { underWay, limit, closedUntil, endedAt, nextAt } = usage;
      const waiting = usage.waiting + usage.queue.length;
      if (closedUntil > at || nextAt > at + claimAheadMs) room.set(key, 0);
      else if (underWay + waiting > 0 || limit < firstLimit || at - endedAt < options.calmMs) {
        const ahead = limitOf(key, usage) * Math.max(1, claimAheadMs / Math.max(1, paceOf(usage, at)));
        room.set(key, Math.max(0, Math.floor(ahead) - underWay - waiting));
      }
    }
    return room;
  }

  return {
    async acquire({ eshopId, webhookId, url }, signal) {
      const webhook = usageIn(webhooks, webhookId);
      const eshop = usageIn(eshops, eshopId);
      const host = hostOf(url);
      const waitMs = waitOf(webhook, eshop, turns.limitOf(eshopId), host, now());
      if (waitMs !== null) return waitMs;
      const giveUp = new AbortController();
      const abort = () => giveUp.abort();
      const timer = setTimeout(abort, permitWaitMs);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      eshop.waiting += 1;
      open += 1;
      try {
        if (await enter(webhook, eshopId, giveUp.signal)) return permitFor(webhook, eshopId, host);
        if (signal?.aborted === true) return undefined;
        return comeAgain(eshop, turns.limitOf(eshopId), now());
      } finally {
        open -= 1;
        eshop.waiting -= 1;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },
    open: () => open,
    room: () => ({
      eshop: Math.max(1, Math.floor(turns.limitOf(''))),
      webhook: firstLimit,
      eshops: roomIn(eshops, (eshopId) => turns.limitOf(eshopId)),
      webhooks: roomIn(webhooks, (_, { limit }) => Math.floor(limit)),
    }),
  };
}

/** How long a place is taken, in milliseconds: no less than nothing has ended by now. */
function paceOf({ meanMs, underWay, endedAt }: Usage, at: number): number {
  return underWay > 0 ? Math.max(meanMs, at - endedAt) : meanMs;
}

/** As the column `webhooks.host` has it. */
function hostOf(url: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
}
