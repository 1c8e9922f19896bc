/**
 * Wakes relays after a COMMIT. Sent outside the transaction, since NOTIFY inside one makes commits wait for each
 * other, and at most one per 20 ms and process. A lost one costs at most a poll interval.
 * @module
 */
import type { Pool } from '../pool.ts';

/** The channel relays listen on. */
export const OUTBOX_CHANNEL = 'waybill_outbox';
const MIN_INTERVAL_MS = 20;

/** The channel on which relays hear whose imports are under way: ids of e-shops, each at most twice per second and process. */
export const IMPORT_CHANNEL = 'waybill_import';
const IMPORT_INTERVAL_MS = 500;

/** Wakes relays. */
export interface Notifier {
  /** Call after a COMMIT that wrote deliveries or outbox rows. Returns at once; never throws. */
  notify(): void;
  /** Much is being imported by this e-shop: call it with every transaction. Returns at once; never throws. */
  importing(eshopId: number): void;
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
  /** When the relays were last told of an import, by e-shop. */
  const toldAt = new Map<number, number>();

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
    importing(eshopId) {
      const now = performance.now();
      for (const [id, at] of toldAt) if (now - at > IMPORT_INTERVAL_MS) toldAt.delete(id);
      if (toldAt.has(eshopId)) return;
      toldAt.set(eshopId, now);
      void sql.notify(IMPORT_CHANNEL, String(eshopId)).catch(() => {});
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
