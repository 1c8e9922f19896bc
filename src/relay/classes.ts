/** The classes of deliveries that wait, and which of them goes first. */
import type { Urgency } from '../temporal/dispatcher.ts';
import type { BackgroundWork } from './budget.ts';
import type { FirstAttempts } from './mode.ts';

/** The classes of deliveries that can be claimed, as `QUEUE` has them; each has a loop of its name. */
export const classNames = ['fresh', 'retry', 'workflow', 'bulk', 'recovered'] as const;
export type ClassName = (typeof classNames)[number];

/** How a class is dispatched. */
interface DeliveryClass {
  /** The classes of which nothing may be left when this one is claimed, but for once in a while. */
  readonly after: readonly ClassName[];
  /** What bounds its own workflows: the window of those in hand, whose first attempts are made here, or a share of the background budget. */
  readonly bound: 'window' | BackgroundWork;
  /** Where batches are allowed at all: always, never or in a burst; or as the setting says. */
  readonly mode: FirstAttempts | 'setting';
  /** When a worker takes its workflows from Temporal. */
  readonly urgency: Urgency;
  /** How long before it is due its own workflow is started, in milliseconds. */
  readonly aheadMs: number;
  /** How much of what begins soon at a receiver it may fill; null: what is started makes no attempt yet. */
  readonly share: number | null;
}

export const deliveryClasses: Readonly<Record<ClassName, DeliveryClass>> = {
  /** Written with its event, or asked for again. */
  fresh: {
    after: [],
    bound: 'window',
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
    share: 1,
  },
  /** Requeued by a batch, or with its workflow owed; the next attempt due within a minute. */
  retry: {
    after: [],
    bound: 'retries',
    mode: 'auto',
    urgency: 'retry',
    // More than passes between two looks.
    aheadMs: 2_000,
    share: 1,
  },
  /** Requeued likewise without one. */
  workflow: {
    after: [],
    bound: 'retries',
    mode: 'each',
    urgency: 'retry',
    aheadMs: 0,
    share: null,
  },
  /** Written by an import. */
  bulk: {
    after: ['fresh'],
    bound: 'window',
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
    share: 1,
  },
  /** Created by a recovery; requeued, it is a retry like any other. */
  recovered: {
    after: ['fresh', 'bulk'],
    bound: 'recovered',
    mode: 'batch',
    urgency: 'recovery',
    aheadMs: 0,
    // Half is left to what is fresh.
    share: 0.5,
  },
};

/** Which classes have something left that could be claimed, and which may be claimed now. */
export interface Precedence {
  /** After a claim. */
  claimed(name: ClassName, more: boolean): void;
  /** It could start nothing, and nobody has looked: something may wait, and it has not had its turn. */
  full(name: ClassName): void;
  /** Whether nothing of those before it is left, or it has waited long enough. */
  mayClaim(name: ClassName): boolean;
  /** Whether its last claim left nothing. */
  isEmpty(name: ClassName): boolean;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createPrecedence(
  patienceMs: number,
  now: () => number = () => performance.now(),
): Precedence {
  const left = new Map<ClassName, boolean>();
  const servedAt = new Map<ClassName, number>();
  return {
    claimed(name, more) {
      left.set(name, more);
      servedAt.set(name, now());
    },
    full: (name) => void left.set(name, true),
    isEmpty: (name) => left.get(name) === false,
    mayClaim(name) {
      // Before its first claim nobody knows what waits of a class.
      const blocked = deliveryClasses[name].after.some((other) => left.get(other) ?? true);
      if (!servedAt.has(name)) servedAt.set(name, now());
      return !blocked || now() - (servedAt.get(name) ?? 0) > patienceMs;
    },
  };
}
