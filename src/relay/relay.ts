/**
 * The relay: outbox → Temporal. LISTEN wakes it, polling is the guarantee.
 * @module
 */
import { OUTBOX_CHANNEL } from '../db/outbox/notify.ts';
import { dispatchChanges } from './changes.ts';
import { dispatchDeliveries, type PassOnDeps } from './deliveries.ts';

/** What the relay receives. */
export interface RelayOptions extends PassOnDeps {
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
/** Waits between rounds while Temporal or the database is away, in milliseconds. */
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;

/** Starts relaying at once. */
export function startRelay(options: RelayOptions): Relay {
  const { sql, log } = options;
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

  async function relayDeliveries(): Promise<boolean> {
    const { taken, more } = await dispatchDeliveries(options);
    if (taken) options.onTemporal('up');
    return more;
  }

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      try {
        const [moreDeliveries, moreChanges] = await Promise.all([
          relayDeliveries(),
          dispatchChanges(options),
        ]);
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
