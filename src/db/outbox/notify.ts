/**
 * Wakes relays after a COMMIT. Sent outside the transaction, since NOTIFY inside one makes commits wait for each
 * other, and at most one per 20 ms and process. A lost one costs at most a poll interval.
 */
import type { Pool } from '../pool.ts';

/** The channel relays listen on. The payload names what waits for them: {@link relayWork}, separated by spaces. */
export const OUTBOX_CHANNEL = 'waybill_outbox';
const MIN_INTERVAL_MS = 20;

/** What a transaction leaves for the relays to pass on. */
export const relayWork = ['deliveries', 'webhooks', 'releases', 'recoveries', 'recovered'] as const;
/** A kind of such work. */
export type RelayWork = (typeof relayWork)[number];

/** The work that a notification names. */
export function workNamed(payload: string): readonly RelayWork[] {
  const names = payload.split(' ');
  return relayWork.filter((work) => names.includes(work));
}

/** The channel on which relays hear whose imports are under way: ids of e-shops, each at most twice per second and process. */
export const IMPORT_CHANNEL = 'waybill_import';
const IMPORT_INTERVAL_MS = 500;

/** Wakes relays. */
export interface Notifier {
  /** Call after a COMMIT that left work for the relays. Returns at once; never throws. */
  notify(work: Iterable<RelayWork>): void;
  /** Much is being imported by this e-shop: call it with every transaction. Returns at once; never throws. */
  importing(eshopId: number): void;
  /** Sends what waits, and waits until it is sent. */
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
  let last = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  const waiting = new Set<RelayWork>();
  /** When the relays were last told of an import, by e-shop. */
  const toldAt = new Map<number, number>();

  function send(): void {
    timer = undefined;
    last = performance.now();
    sending = sql.notify(OUTBOX_CHANNEL, [...waiting].join(' ')).catch(() => {});
    waiting.clear();
  }

  return {
    notify(work) {
      for (const one of work) waiting.add(one);
      if (timer !== undefined) return;
      const wait = last + MIN_INTERVAL_MS - performance.now();
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
