/**
 * Wakes relays after a COMMIT: the relay of this process at once, other relays by NOTIFY. A process sends NOTIFY at
 * most once per 20 ms, and outside the transaction: inside, it would make commits wait for each other. A lost
 * notification delays work by a poll interval at most.
 */
import { randomUUID } from 'node:crypto';
import type postgres from 'postgres';
import type { FinalState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { QueuedDelivery } from './outbox.ts';

/**
 * The channel that relays listen on. The payload is the names of the waiting work, {@link relayWork}, and the id of
 * the sender, separated by spaces.
 */
export const OUTBOX_CHANNEL = 'waybill_outbox';
const MIN_INTERVAL_MS = 20;

/** The classes of deliveries that wait for an attempt. */
export const attemptClasses = ['fresh', 'retry', 'bulk', 'recovered'] as const;

/** The kinds of work that a transaction leaves for the relays. */
export const relayWork = [...attemptClasses, 'undelivered', 'webhooks', 'releases', 'recoveries'] as const;
export type RelayWork = (typeof relayWork)[number];

export function workNamed(payload: string): readonly RelayWork[] {
  const names = payload.split(' ');
  return relayWork.filter((work) => names.includes(work));
}

export interface LocalRelay {
  wake(work: RelayWork): void;
  /** Whether it would make the first attempts of a few new deliveries at once, because no others are waiting. */
  hasRoom(): boolean;
  /** Starts the attempts of deliveries that were written as claimed. Returns at once; never throws. */
  start(claimed: readonly QueuedDelivery[]): void;
  /** Called for each delivery of an event of this type that this process has ended without a workflow. */
  ended(eventType: EventType, as: FinalState): void;
}

/** Called after a write that creates deliveries. @param bytes of their bodies, roughly */
type OnOutgoing = (eshopId: number, bytes: number) => void;

export type Notifier = ReturnType<typeof createNotifier>;

/** Wakes relays. @param sql connections to the database that the relays listen on */
export function createNotifier(sql: postgres.Sql) {
  const id = randomUUID();
  let last = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  const waiting = new Set<RelayWork>();
  let relay: LocalRelay | undefined;
  let isListening = false;
  let hearOutgoing: OnOutgoing = () => {};

  function send(): void {
    timer = undefined;
    last = performance.now();
    for (const work of waiting) relay?.wake(work);
    // A lost notification costs a poll: each loop looks once a second.
    sending = sql.notify(OUTBOX_CHANNEL, [...waiting, id].join(' ')).catch(() => {});
    waiting.clear();
  }

  function wake(work: Iterable<RelayWork>): void {
    for (const item of work) waiting.add(item);
    if (timer !== undefined || waiting.size === 0) return;
    const wait = last + MIN_INTERVAL_MS - performance.now();
    if (wait <= 0) send();
    else timer = setTimeout(send, wait);
  }

  return {
    /**
     * Call this after a COMMIT that left work for the relays. Returns at once; never throws.
     * @param claimed the deliveries that it wrote as claimed, since this process had room. If its relay has stopped
     * since, they wait until their lease ends.
     */
    notify(work: Iterable<RelayWork>, claimed: readonly QueuedDelivery[] = []): void {
      if (claimed.length > 0) relay?.start(claimed);
      wake(work);
    },
    /** Whether new deliveries may be written as claimed by this process, whose relay makes the first attempts. */
    hasRoom: () => relay?.hasRoom() === true,
    /** Attaches the relay of this process, which is woken at once. @returns a function that detaches it */
    attach(attached: LocalRelay): () => void {
      relay = attached;
      return () => {
        if (relay === attached) relay = undefined;
      };
    },
    /** Call this after deliveries of events of these types have ended without a workflow. */
    ended(eventTypes: readonly EventType[], as: FinalState): void {
      for (const eventType of eventTypes) relay?.ended(eventType, as);
    },
    /** Sets the function that is called with the approximate size of the bodies to be sent. */
    onOutgoing(listener: OnOutgoing): void {
      hearOutgoing = listener;
    },
    /** Call this after a COMMIT that created deliveries. */
    outgoing(eshopId: number, bytes: number): void {
      if (bytes > 0) hearOutgoing(eshopId, bytes);
    },
    /**
     * Wakes the attached relay when another process notifies. Subscribes once: the library subscribes again after
     * each reconnect, and could then no longer end the subscription of one relay.
     * @param sessions connections that no pooler shares
     * @throws the error of the database when it is unavailable
     */
    async listen(sessions: postgres.Sql): Promise<void> {
      if (isListening) return;
      isListening = true;
      await sessions.listen(OUTBOX_CHANNEL, (payload) => {
        if (payload.split(' ').includes(id)) return;
        for (const work of workNamed(payload)) relay?.wake(work);
      });
    },
    /** Sends the pending notification, if any, and waits until it is sent. */
    async close(): Promise<void> {
      if (timer !== undefined) {
        clearTimeout(timer);
        send();
      }
      await sending;
    },
  };
}
