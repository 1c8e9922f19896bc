/** The classes of waiting deliveries, and which goes first. */
import type { Urgency } from '../temporal/dispatcher.ts';
import type { FirstAttemptsSetting } from './mode.ts';

/** The classes of deliveries that can be claimed, as in `CLASS`; each has a loop of its name. */
export const classNames = ['fresh', 'retry', 'workflow', 'bulk', 'recovered'] as const;
export type ClassName = (typeof classNames)[number];

/** How a class is dispatched. */
interface ClassRules {
  /** This class is claimed only when nothing is left of these, or after waiting long enough. */
  readonly after: readonly ClassName[];
  /** Whether its single workflows are background calls. If not, first attempts are made here, within the dispatch window. */
  readonly background: boolean;
  /** Whether it goes in batches, where batches are allowed: always, never, in a burst, or as the setting says. */
  readonly mode: FirstAttemptsSetting | 'setting';
  /** The urgency of its workflows. */
  readonly urgency: Urgency;
  /** How long before the attempt is due its single workflow is started, in milliseconds. */
  readonly aheadMs: number;
  /** The share of each quota that it may fill; null: its workflows make no attempt at once. */
  readonly share: number | null;
}

export const deliveryClasses: Readonly<Record<ClassName, ClassRules>> = {
  fresh: {
    after: [],
    background: false,
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
    share: 1,
  },
  retry: {
    after: [],
    background: true,
    mode: 'auto',
    urgency: 'retry',
    // More than the time between two claims.
    aheadMs: 2_000,
    share: 1,
  },
  workflow: {
    after: [],
    background: true,
    mode: 'each',
    urgency: 'retry',
    aheadMs: 0,
    share: null,
  },
  bulk: {
    after: ['fresh'],
    background: false,
    mode: 'setting',
    urgency: 'fresh',
    aheadMs: 0,
    share: 1,
  },
  recovered: {
    after: ['fresh', 'bulk'],
    background: true,
    mode: 'batch',
    urgency: 'recovery',
    aheadMs: 0,
    // The other half is left to fresh deliveries.
    share: 0.5,
  },
};

/** Tracks which classes have deliveries left to claim, and which class may be claimed now. */
export interface Precedence {
  /** After a claim. */
  claimed(name: ClassName, more: boolean): void;
  /** It had no room to claim: deliveries may be waiting, and it has not had its turn. */
  full(name: ClassName): void;
  /** Whether nothing is left of the classes before it, or it has waited long enough. */
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
  const servedAt = new Map<ClassName, number>(classNames.map((name) => [name, now()]));
  return {
    claimed(name, more) {
      left.set(name, more);
      servedAt.set(name, now());
    },
    full: (name) => void left.set(name, true),
    isEmpty: (name) => left.get(name) === false,
    mayClaim(name) {
      // Until a class is first claimed, it may have deliveries waiting.
      const blocked = deliveryClasses[name].after.some((other) => left.get(other) ?? true);
      return !blocked || now() - (servedAt.get(name) ?? 0) > patienceMs;
    },
  };
}
