/**
 * How many attempts may be under way at once: of one webhook, to one host, of one e-shop. The limit of a webhook
 * adapts to its receiver: a slow receiver fills the webhook's own limit, but only part of its host's and its
 * e-shop's. The limits are in the memory of one worker.
 *
 * Module concurrency, which imports nothing. Begin: `settings.ts` has the numbers, `starts.ts` tells light load from
 * a burst, `turns.ts` is the fair queue.
 */
import { createCounts } from './counts.ts';
import type { SchedulerOptions } from './settings.ts';
import { createTurns, type Turns } from './turns.ts';

/** The webhook that an attempt is for. */
export interface Destination {
  readonly eshopId: number;
  readonly webhookId: number;
  /** The host in the webhook's URL; null if the URL has none. */
  readonly receiverHost: string | null;
}

/** A request that says something about its receiver. */
export interface MadeRequest {
  /** Whether the receiver accepted it. */
  readonly accepted: boolean;
  /** How long it took, in milliseconds, until its response was read. */
  readonly ms: number;
}

/** The right to make one attempt. */
export interface Permit {
  /** @param request null if the attempt says nothing about the receiver */
  release(request: MadeRequest | null): void;
  /**
   * Call this before `release` when too many lookups of the e-shop are under way, most likely of names that no server
   * answers for. The webhook is closed for a while. Its host is not closed, since other e-shops may use it too.
   */
  lookupsFull(): Wait;
}

/** No permit is given now. */
export interface Wait {
  /** In how many milliseconds to ask again. */
  readonly ms: number;
  /** Whether the receiver or its host has as many attempts as it may have. If not, others take the places. */
  readonly ofReceiver: boolean;
}

/** How many more deliveries may be claimed of each listed webhook and e-shop, and of any other. */
export interface Quotas {
  readonly eshop: number;
  readonly webhook: number;
  readonly eshops: ReadonlyMap<number, number>;
  readonly webhooks: ReadonlyMap<number, number>;
}

/** The limits of one worker. */
export type Limits = ReturnType<typeof createLimits>;

/**
 * The bounds of the time after which a caller without a permit asks again, in milliseconds. Too low: useless tries.
 * Too high: a receiver that has recovered is noticed late.
 */
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 300_000;
/**
 * The share of all places that webhooks which have hung lately may fill together, whatever their number. Too low:
 * receivers that are slow for a while wait. Too high: many receivers that hang together leave no place for others.
 */
const HANGING_SHARE = 1 / 2;
/**
 * How long a webhook that has hung and finds no place in this share is left alone, in milliseconds. Too low: useless
 * claims. Too high: a receiver that has recovered waits.
 */
const HANGING_AGAIN_MS = 10_000;
/** The most webhooks or e-shops remembered: beyond it, those without open attempts are forgotten and start over. */
const REMEMBERED = 10_000;

/** The attempts of one webhook or e-shop, with the limit and the pace that were learned from them. */
interface Usage {
  readonly key: number;
  readonly turns: Turns;
  /** Attempts under way or waiting for a permit. */
  open: number;
  /** For a webhook: the host of its last attempt, and the part of the host's limit that it takes. */
  host: string;
  atHost: number;
  /** For a webhook: its open attempts if it has hung lately, else none. */
  hanging: number;
  /** For a webhook: its limit as it has adapted so far. */
  limit: number;
  /** The duration of its attempts, in milliseconds: a moving mean. */
  meanMs: number;
  /** When the last attempt ended; if no attempt was open then, when the next one was asked for. */
  endedAt: number;
  /** Until when no permit is given. */
  closedUntil: number;
  /** When the next caller that is turned away may ask again. */
  nextAt: number;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createLimits(options: SchedulerOptions, now: () => number = () => performance.now()) {
  const { attempts, firstLimit, hungMs, claimAheadMs } = options;
  /** The greatest limit of a webhook and of a host. A host at its limit still gets one attempt of each webhook. */
  const greatestLimit = Math.max(firstLimit, attempts / 2);
  const webhooks = new Map<number, Usage>();
  const eshops = new Map<number, Usage>();
  const turnsOfWebhooks = createTurns({
    total: Number.POSITIVE_INFINITY,
    perKey: (webhookId) => webhooks.get(Number(webhookId))?.limit ?? firstLimit,
  });
  // An e-shop gets half of the free places, so that the next e-shop gets half of the rest.
  const turnsOfEshops = createTurns({ total: attempts, perKey: (_, free) => free / 2 });
  const hosts = createCounts<string>();
  /** The part of the host's limit that the webhooks of one e-shop take. */
  const ofEshopAtHost = createCounts<string>();
  const unknown = { limit: firstLimit, meanMs: 1_000, closedUntil: 0, nextAt: 0 };
  let open = 0;
  /** The open attempts of all webhooks that have hung lately. */
  let hanging = 0;

  function usageIn(known: Map<number, Usage>, turns: Turns, key: number): Usage {
    const existing = known.get(key);
    if (existing !== undefined) return existing;
    if (known.size >= REMEMBERED)
      for (const [other, usage] of known) if (usage.open === 0) known.delete(other);
    const usage: Usage = { key, turns, open: 0, host: '', atHost: 0, hanging: 0, endedAt: 0, ...unknown };
    known.set(key, usage);
    return usage;
  }

  const limitOf = ({ turns, key }: Usage) => turns.limitOf(key);

  /** After a hang, the limit stays below that of an unknown webhook until enough attempts have been accepted. */
  const hasHung = ({ limit }: Usage) => limit < firstLimit;

  /** The wait before asking again; null if the caller may begin or wait here. */
  function waitOf(webhook: Usage, eshop: Usage, host: string, at: number): Wait | null {
    if (webhook.closedUntil <= at && hasHung(webhook) && hanging >= attempts * HANGING_SHARE)
      webhook.closedUntil = at + HANGING_AGAIN_MS;
    if (webhook.closedUntil > at) return untilOpen(webhook, at);
    if (!beginsSoon(eshop, at)) return comeAgain(eshop, at);
    // A webhook without an open attempt does not wait for its host: another webhook there may hang.
    if (webhook.open === 0) return null;
    // A webhook that has reached its own limit takes no more of its host's.
    const waits = webhook.open >= limitOf(webhook);
    if (waits ? beginsSoon(webhook, at) : hasRoomAt(host, eshop)) return null;
    return comeAgain(webhook, at);
  }

  /** An e-shop may fill the limit of a host; if others use the host too, it gets half of what they leave. */
  function hasRoomAt(host: string, eshop: Usage): boolean {
    const ownCount = ofEshopAtHost.of(atHostOf(eshop, host));
    const available = greatestLimit - (hosts.of(host) - ownCount);
    return ownCount < (available < greatestLimit ? available / 2 : available);
  }

  function beginsSoon(usage: Usage, at: number): boolean {
    const waiting = usage.open - limitOf(usage) + 1;
    return waiting <= 0 || (paceOf(usage, at) * waiting) / limitOf(usage) <= claimAheadMs;
  }

  /**
   * Callers ask again one after another, as fast as places become free; while none becomes free, less and less often.
   */
  function comeAgain(usage: Usage, at: number): Wait {
    usage.nextAt = Math.max(at, usage.nextAt) + usage.meanMs / limitOf(usage);
    const ms = Math.max(SHORTEST_WAIT_MS, usage.nextAt - at, (at - usage.endedAt) / 2);
    return { ms: Math.min(LONGEST_WAIT_MS, ms), ofReceiver: usage.turns === turnsOfWebhooks };
  }

  /**
   * Waits for a place of the webhook, then for the e-shop's turn.
   * @returns the usage whose place did not become free before `signal` aborted; null if both were entered
   */
  async function enter(webhook: Usage, eshop: Usage, signal: AbortSignal): Promise<Usage | null> {
    if (!(await webhook.turns.enter(webhook.key, signal))) return webhook;
    if (await eshop.turns.enter(eshop.key, signal)) return null;
    webhook.turns.leave(webhook.key);
    return eshop;
  }

  /** Counts an attempt from when it asks for its permit, not from when it begins: hundreds may ask at once. */
  function count(webhook: Usage, eshop: Usage, by: 1 | -1): void {
    open += by;
    for (const usage of [webhook, eshop]) {
      if (usage.open === 0) usage.endedAt = now();
      usage.open += by;
    }
    addParts(webhook, eshop, -1);
    webhook.atHost = Math.min(webhook.open, limitOf(webhook));
    webhook.hanging = hasHung(webhook) ? webhook.open : 0;
    addParts(webhook, eshop, 1);
  }

  /** A limit that was learned at another host says nothing about this one. */
  function moveTo(host: string, webhook: Usage, eshop: Usage): void {
    if (webhook.host === host) return;
    addParts(webhook, eshop, -1);
    Object.assign(webhook, unknown, { host });
    addParts(webhook, eshop, 1);
  }

  /** Adds the parts that a webhook takes to what all take, or subtracts them: before they change, and after. */
  function addParts(webhook: Usage, eshop: Usage, by: 1 | -1): void {
    const { host, atHost } = webhook;
    hosts.change(host, by * atHost);
    ofEshopAtHost.change(atHostOf(eshop, host), by * atHost);
    hanging += by * webhook.hanging;
  }

  function permitFor(webhook: Usage, eshop: Usage, host: string): Permit {
    const since = now();
    const usages = [webhook, eshop];
    return {
      release(request) {
        const at = now();
        const said = webhook.host === host ? request : null;
        // The time for which the permit was held does not count: our own database may be slow.
        const slow = said !== null && said.ms >= hungMs;
        const hung = slow && !said.accepted;
        for (const usage of usages) {
          usage.endedAt = at;
          usage.meanMs += (at - since - usage.meanMs) / 8;
          // Places become free as usual: new callers need not wait until callers turned away have asked again.
          if (said !== null && !hung) usage.nextAt = 0;
        }
        // An accepted attempt adds one: while all are accepted, the limit doubles each round. A slow one moves it
        // by one towards the first limit, so that slow receivers do not fill the worker. A hanging one halves it.
        const most = slow ? Math.max(firstLimit, webhook.limit - 1) : greatestLimit;
        if (said?.accepted) webhook.limit = Math.min(most, webhook.limit + 1);
        else if (hung) webhook.limit = Math.max(1, webhook.limit / 2);
        count(webhook, eshop, -1);
        for (const { turns, key } of usages) turns.leave(key);
      },
      lookupsFull() {
        const at = now();
        // If many attempts find the lookups full at once, only the first one closes the webhook.
        if (webhook.closedUntil <= at) webhook.closedUntil = at + hungMs;
        return untilOpen(webhook, at);
      },
    };
  }

  /** How much more may be claimed of recently used webhooks or e-shops. */
  function quotasIn(known: ReadonlyMap<number, Usage>, share: number): ReadonlyMap<number, number> {
    const at = now();
    const quotas = new Map<number, number>();
    for (const [key, usage] of known) {
      if (usage.closedUntil > at || usage.nextAt > at + claimAheadMs) quotas.set(key, 0);
      else if (usage.open > 0 || usage.limit < firstLimit || at - usage.endedAt < options.idleAfterMs) {
        const ahead = limitOf(usage) * Math.max(1, claimAheadMs / Math.max(1, paceOf(usage, at)));
        quotas.set(key, Math.max(0, Math.ceil(share * Math.floor(ahead)) - usage.open));
      }
    }
    return quotas;
  }

  return {
    /**
     * Waits for a permit if one becomes free within a moment. E-shops take turns; within a webhook the first to ask
     * gets the first permit.
     * @returns the permit, or the wait before asking again; undefined if `signal` aborts first
     */
    async acquire(
      { eshopId, webhookId, receiverHost }: Destination,
      signal?: AbortSignal,
    ): Promise<Permit | Wait | undefined> {
      const webhook = usageIn(webhooks, turnsOfWebhooks, webhookId);
      const eshop = usageIn(eshops, turnsOfEshops, eshopId);
      const host = receiverHost ?? '';
      moveTo(host, webhook, eshop);
      const wait = waitOf(webhook, eshop, host, now());
      if (wait !== null) return wait;
      const giveUp = new AbortController();
      const abort = () => giveUp.abort();
      // Gives up after four times as long as a permit was expected to take.
      const timer = setTimeout(abort, 4 * claimAheadMs);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      count(webhook, eshop, 1);
      const full = await enter(webhook, eshop, giveUp.signal);
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      if (full === null) return permitFor(webhook, eshop, host);
      count(webhook, eshop, -1);
      return signal?.aborted === true ? undefined : comeAgain(full, now());
    },
    /** The number of attempts that are under way or wait for a permit. */
    open: (): number => open,
    /** How many of these are at webhooks that have hung lately. */
    hanging: (): number => hanging,
    /** @param share the part of each limit that the caller may fill; the rest is kept for other classes */
    quotas: (share: number): Quotas => ({
      eshop: Math.ceil(share * turnsOfEshops.limitOf('')),
      webhook: Math.ceil(share * firstLimit),
      eshops: quotasIn(eshops, share),
      webhooks: quotasIn(webhooks, share),
    }),
  };
}

/** A webhook is closed only because of what others use: lookups, or the places of all hanging webhooks. */
const untilOpen = ({ closedUntil }: Usage, at: number): Wait => ({ ms: closedUntil - at, ofReceiver: false });

const atHostOf = ({ key }: Usage, host: string): string => `${key} ${host}`;

/** How long a place is taken, in milliseconds: at least the time since an attempt last ended. */
function paceOf({ meanMs, open, endedAt }: Usage, at: number): number {
  return open > 0 ? Math.max(meanMs, at - endedAt) : meanMs;
}
