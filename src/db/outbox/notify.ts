/**
 * Wakes relays after a COMMIT. Sent outside the transaction, since NOTIFY inside one makes commits wait for each
 * other, and at most one per 20 ms and process. A lost one costs at most a poll interval.
 * @module
 */
import type { Pool } from '../pool.ts';

/** The channel relays listen on. */
export const OUTBOX_CHANNEL = 'waybill_outbox';
const MIN_INTERVAL_MS = 20;

/** Wakes relays. */
export interface Notifier {
  /** Call after a COMMIT that wrote deliveries or outbox rows. Returns at once; never throws. */
  notify(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

const notifiers = new WeakMap<Pool, Notifier>();

/** The notifier of a pool, whose database the relays listen on: one, whoever asks. */
export function notifierOf(sql: Pool): Notifier {
  const notifier = notifiers.get(sql) ?? createNotifier(sql);
  notifiers.set(sql, notifier);
  return notifier;
}

function createNotifier(sql: Pool): Notifier {
  let last = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();

  function send(): void {
    timer = undefined;
    last = Date.now();
    sending = sql.notify(OUTBOX_CHANNEL, '').catch(() => {});
  }

  return {
    notify() {
      if (timer !== undefined) return;
      const wait = last + MIN_INTERVAL_MS - Date.now();
      if (wait <= 0) send();
      else timer = setTimeout(send, wait);
    },
    async close() {
      if (timer !== undefined) {
        clearTimeout(timer);
        send();
      }
      await sending;
    },
  };
}
