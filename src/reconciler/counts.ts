/** Repairs, counted and put into a sentence. */
import type { Repair } from './repair.ts';
import type { Action, Kind, Reason } from './verdict.ts';

export interface Count {
  readonly kind: Kind;
  readonly action: Action;
  readonly reason: Reason;
  readonly count: number;
}

export interface Counts {
  add(repair: Pick<Repair, 'kind' | 'action' | 'reason'>): void;
  /** Only what is above zero. */
  read(): Count[];
}

export function createCounts(): Counts {
  const counts = new Map<string, Count>();
  return {
    add({ kind, action, reason }) {
      const key = `${kind} ${action} ${reason}`;
      counts.set(key, { kind, action, reason, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    read: () => [...counts.values()],
  };
}

const kinds: Record<Kind, readonly [one: string, many: string]> = {
  delivery: ['delivery', 'deliveries'],
  batch: ['batch', 'batches'],
  mail: ['deactivation mail', 'deactivation mails'],
  release: ['pre-order', 'pre-orders'],
  recovery: ['recovery', 'recoveries'],
};
export const actions: Record<Action, string> = {
  startedAgain: 'started again',
  closed: 'closed as canceled by an operator',
  handedBack: 'handed back to the outbox',
  woken: 'woken',
};
export const reasons: Record<Reason, string> = {
  missing: 'no longer in Temporal',
  ended: 'its workflow had ended',
  terminated: 'terminated in Temporal',
  canceled: 'canceled in Temporal',
  asleep: 'asleep past its due time',
  stuck: 'could not go on',
};

/** @example '50 deliveries started again (no longer in Temporal), 3 pre-orders started again (…)' */
export function sentence(counts: readonly Count[]): string {
  return counts
    .map(({ kind, action, reason, count }) => {
      const [one, many] = kinds[kind];
      return `${count} ${count === 1 ? one : many} ${actions[action]} (${reasons[reason]})`;
    })
    .join(', ');
}
