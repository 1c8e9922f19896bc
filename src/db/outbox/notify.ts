/**
 * Wakes relays after a COMMIT. Sent outside the transaction, since NOTIFY inside one makes commits wait for each
 * other, and at most one per 20 ms and process. A lost one costs at most a poll interval.
 */
import type { Pool } from '../pool.ts';

/** The channel relays listen on. The payload names what waits for them: {@link relayWork}, separated by spaces. */
export const OUTBOX_CHANNEL = 'waybill_outbox';
const MIN_INTERVAL_MS = 20;

/** What a transaction leaves for the relays to pass on. */
export const relayWork = ['deliveries', 'bulk', 'webhooks', 'releases', 'recoveries', 'recovered'] as const;
export type RelayWork = (typeof relayWork)[number];

/** The work that a notification names. */
export function workNamed(payload: string): readonly RelayWork[] {
  const names = payload.split(' ');
  return relayWork.filter((work) => names.includes(work));
}

/** Wakes relays. */
export interface Notifier {
  /** Call after a COMMIT that left work for the relays. Returns at once; never throws. */
  notify(work: Iterable<RelayWork>): void;
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
    async close() {
      if (timer !== undefined) {
        clearTimeout(timer);
        send();
      }
      await sending;
    },
  };
}
