/**
 * Scenes to show in the console: receivers that fail, and their deliveries. Each scene is an additional webhook for
 * its kind, at a receiver with a particular problem; the counts of the day leave them out.
 */
import type { EventType } from '../src/domain/event-types.ts';

/** How the receiver of a scene treats one request. */
export interface ReceiverBehavior {
  /** The status with which it refuses; if absent, the request is verified and accepted. */
  readonly refuses?: number;
  /** Its delay before the answer, in milliseconds. */
  readonly afterMs?: number;
}

/** A webhook with a problem. */
export interface Scene {
  readonly name: 'down' | 'slow' | 'gone' | 'missed' | 'waiting';
  readonly kind: EventType;
  /** Its title, in the console and in the summary. */
  readonly title: string;
  /** Whether its webhook is active during the day. */
  readonly active: boolean;
  /** @param attempt of the delivery, from 1 */
  conduct(attempt: number): ReceiverBehavior;
}

/** Long enough to be seen in a chart, and far from the time-out of an attempt. */
const SLOW_MS = 3_000;

/** All of them; no two of the same kind of event. */
export const scenes: readonly Scene[] = [
  {
    name: 'down',
    kind: 'CREATE_PRODUCT',
    title: 'the receiver was down and came back',
    active: true,
    conduct: (attempt) => (attempt <= 2 ? { refuses: 503 } : {}),
  },
  {
    name: 'slow',
    kind: 'CREATE_RECEIVING',
    title: `the receiver is slow: it takes ${SLOW_MS / 1_000} seconds`,
    active: true,
    conduct: () => ({ afterMs: SLOW_MS }),
  },
  {
    name: 'gone',
    kind: 'CREATE_ORDER',
    title: 'the receiver answered 410 Gone: deactivated, with an e-mail',
    active: true,
    conduct: () => ({ refuses: 410 }),
  },
  {
    name: 'missed',
    kind: 'UPDATE_ORDER',
    title: 'the webhook was inactive: what it missed was recovered',
    active: false,
    conduct: () => ({}),
  },
  {
    name: 'waiting',
    kind: 'UPDATE_RECEIVING_STATUS',
    title: 'the receiver is down: deactivated by hand, deliveries wait',
    active: true,
    conduct: () => ({ refuses: 503 }),
  },
];
