/**
 * The relay: outbox → Temporal. LISTEN wakes it, polling is the guarantee. Starts are made outside any
 * transaction and are idempotent by workflow id, so that a relay may die anywhere.
 * @module
 */
import type { Logger } from 'pino';
import { OUTBOX_CHANNEL } from '../db/outbox/notify.ts';
import {
  type ClaimedChange,
  claimChanges,
  claimDeliveries,
  markDispatched,
  openDeliveries,
  releaseChange,
  releaseDeliveries,
  removeChange,
} from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { type Dispatcher, isRefusal } from './dispatcher.ts';
import { eachLimited } from './each-limited.ts';

/** What the relay receives. */
export interface RelayOptions {
  readonly sql: Pool;
  readonly dispatcher: Dispatcher;
  readonly log: Logger;
  /** Told after each round whether Temporal took what it was given. */
  readonly onTemporal: (state: 'up' | 'down') => void;
}

/** A running relay. */
export interface Relay {
  /** No new claims; waits for the round under way. */
  stop(): Promise<void>;
}

/** The net under LISTEN, in milliseconds. */
const POLL_INTERVAL_MS = 1_000;
/** Deliveries per claim: large enough to make the claim cheap, small enough for its lease. */
const BATCH = 100;
/** Calls to Temporal under way at once. */
const CONCURRENCY = 25;
/** Waits between rounds while Temporal or the database is away, in milliseconds. */
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;

/** Starts relaying at once. */
export function startRelay(options: RelayOptions): Relay {
  const { sql, dispatcher, log } = options;
  let stopping = false;
  let woken = false;
  let wake: () => void = () => {};
  let backoff = 0;

  const listening = sql
    .listen(OUTBOX_CHANNEL, () => {
      woken = true;
      wake();
    })
    .catch((error: unknown) => {
      // Polling goes on without it.
      log.warn({ err: error }, 'LISTEN failed');
      return undefined;
    });

  async function pause(ms: number, wakeable: boolean): Promise<void> {
    if (stopping || (wakeable && woken)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        if (!wakeable && !stopping) return;
        clearTimeout(timer);
        resolve();
      };
    });
    wake = () => {};
  }

  /** One batch of deliveries. @returns whether there may be more */
  async function relayDeliveries(): Promise<boolean> {
    const claimed = await claimDeliveries(sql, BATCH);
    if (claimed.length === 0) return false;
    const started: string[] = [];
    const failed: string[] = [];
    let failure: unknown;
    await eachLimited(claimed, CONCURRENCY, async (delivery) => {
      // Once Temporal has not answered, the rest of the batch need not wait for its deadline as well.
      if (failure !== undefined) return void failed.push(delivery.id);
      try {
        await dispatcher.startDelivery(delivery);
        started.push(delivery.id);
      } catch (error) {
        if (isRefusal(error)) {
          // It stays leased, and is tried again when the lease ends: it must not stop the others.
          log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
          return;
        }
        failure = error;
        failed.push(delivery.id);
      }
    });
    await markDispatched(sql, started);
    if (failure !== undefined) {
      await releaseDeliveries(sql, failed);
      throw failure;
    }
    options.onTemporal('up');
    return claimed.length === BATCH;
  }

  /** One batch of changes. @returns whether there may be more */
  async function relayChanges(): Promise<boolean> {
    const claimed = await claimChanges(sql, BATCH);
    for (const change of claimed) {
      try {
        await makeKnown(change);
      } catch (error) {
        await releaseChange(sql, change.id);
        throw error;
      }
      await removeChange(sql, change.id);
    }
    return claimed.length === BATCH;
  }

  async function makeKnown(change: ClaimedChange): Promise<void> {
    if (change.kind === 'orderReleaseChanged') {
      await dispatcher.signalReleaseChanged(change.eshopId, change.eshopOrderId);
      return;
    }
    let after: string | null = null;
    for (;;) {
      const page: string[] = await openDeliveries(sql, change.webhookId, after, 500);
      await eachLimited(page, CONCURRENCY, (id) => dispatcher.signalWebhookChanged(id));
      after = page.at(-1) ?? null;
      if (after === null) return;
    }
  }

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      try {
        const [moreDeliveries, moreChanges] = await Promise.all([relayDeliveries(), relayChanges()]);
        backoff = 0;
        if (!moreDeliveries && !moreChanges) await pause(POLL_INTERVAL_MS, true);
      } catch (error) {
        options.onTemporal('down');
        backoff = Math.min(LONGEST_BACKOFF_MS, backoff === 0 ? FIRST_BACKOFF_MS : backoff * 2);
        log.warn({ err: error, retryInMs: backoff }, 'the relay could not pass on what it claimed');
        await pause(backoff, false);
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopping = true;
      wake();
      await running;
      await (await listening)?.unlisten().catch(() => {});
    },
  };
}
