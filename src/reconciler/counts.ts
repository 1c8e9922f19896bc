/** Counts repairs by kind, and sums them up in a sentence. */
import type { Repair } from './repair.ts';
import type { Action, Reason, TrackedKind } from './verdict.ts';

type Counted = Pick<Repair, 'kind' | 'action' | 'reason'>;

interface Count extends Counted {
  readonly count: number;
}

export function countsOf(repairs: readonly Counted[]): Count[] {
  const counts = new Map<string, Count>();
  for (const { kind, action, reason } of repairs) {
    const key = `${kind} ${action} ${reason}`;
    counts.set(key, { kind, action, reason, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

const kinds: Record<TrackedKind, readonly [one: string, many: string]> = {
  delivery: ['delivery', 'deliveries'],
  mail: ['deactivation mail', 'deactivation mails'],
  release: ['pre-order', 'pre-orders'],
  recovery: ['recovery', 'recoveries'],
};
export const actions: Record<Action, string> = {
  startedAgain: 'started again',
  closed: 'closed as canceled by an operator',
  woken: 'woken',
};
export const reasons: Record<Reason, string> = {
  missing: 'no longer in Temporal',
  ended: 'its workflow had ended',
  terminated: 'terminated in Temporal',
  canceled: 'canceled in Temporal',
  asleep: 'asleep past its due time',
  stuck: 'could not go on',
  stalled: 'stood still at work',
};

/** @example '50 deliveries started again (no longer in Temporal), 3 pre-orders started again (…)' */
export function summary(counts: readonly Count[]): string {
  return counts
    .map(({ kind, action, reason, count }) => {
      const [one, many] = kinds[kind];
      return `${count} ${count === 1 ? one : many} ${actions[action]} (${reasons[reason]})`;
    })
    .join(', ');
}
