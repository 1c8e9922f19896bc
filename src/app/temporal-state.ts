/** Whether this process can use Temporal, judged by the answers to its calls and by its workers' polls. */
import type { Logger } from 'pino';
import { onceAMinute } from '../lib/once-a-minute.ts';
import { type PolledKind, polledKinds } from '../temporal/pollers.ts';

/**
 * How long no call of the relay may have failed before an answered question counts too, in milliseconds: Temporal may
 * answer questions while it starts no workflows. Too low: up between two failed calls. Too high: down for longer
 * after another worker has done the failed work.
 */
const QUIET_MS = 30_000;
/**
 * How long an accepted poll counts, in milliseconds: an idle worker polls once a minute. Too low: idle workers are
 * down. Too high: refused polls show later.
 */
const POLLED_MS = 90_000;

interface TemporalStateOptions {
  /** Called when Temporal goes down, with the reason and the error of a call, and when it is up again, with null. */
  readonly onChange?: (why: string | null, error?: unknown) => void;
  /** In milliseconds, on a clock that does not jump. */
  readonly now?: () => number;
}

export function createTemporalState({ onChange, now = () => performance.now() }: TemporalStateOptions = {}) {
  let answers: 'up' | 'down' | 'unknown' = 'unknown';
  let reached = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  const polledAt = new Map<PolledKind, number>();
  /** Whether the last change reported was to down. */
  let isDown = false;

  /** Why it is down; null if it is not. */
  function problem(): string | null {
    if (answers === 'down') return 'a call to Temporal failed, or it cannot be reached';
    if (answers === 'unknown') return null;
    const since = now() - POLLED_MS;
    const missing = polledKinds.filter((kind) => (polledAt.get(kind) ?? Number.NEGATIVE_INFINITY) < since);
    return missing.length === 0 ? null : `Temporal accepts no poll for ${missing.join(', ')}`;
  }

  /** The passing of time changes the state too, so it is checked at every question and every answer. */
  function look(): string | null {
    const why = problem();
    if ((why !== null) !== isDown) {
      isDown = why !== null;
      onChange?.(why, answers === 'down' ? failure : undefined);
    }
    return why;
  }

  /** @param error the one that shows that it is down */
  function set(to: 'up' | 'down', error?: unknown): void {
    answers = to;
    if (to === 'down') {
      failedAt = now();
      failure = error;
    } else {
      // Its first polls are still on their way.
      if (!reached) for (const kind of polledKinds) polledAt.set(kind, now());
      reached = true;
    }
    look();
  }

  return {
    get: () => (look() === null ? answers : 'down'),
    hasReached: () => reached,
    set,
    /** A question was answered. Else a process whose failed work others did would stay down until its next call. */
    questionAnswered() {
      if (now() - failedAt > QUIET_MS) set('up');
      else look();
    },
    /** Temporal has accepted polls of this process for these kinds of work. */
    polled(kinds: readonly PolledKind[]) {
      for (const kind of kinds) polledAt.set(kind, now());
      look();
    },
    /** A worker has failed: nothing counts as up until polls of the next one have been accepted. */
    workerFailed() {
      polledAt.clear();
      look();
    },
  };
}

/** Logs each change: once a minute for each reason, since one call may fail while others succeed. */
export function logChanges(log: Logger): (why: string | null, error?: unknown) => void {
  const lines = onceAMinute();
  return (why, err) => {
    const leftOut = lines(why ?? '');
    if (leftOut === null) return;
    const more = leftOut === 0 ? {} : { leftOut };
    if (why === null) log.info(more, 'Temporal can be used again');
    else log.warn({ why, err, ...more }, 'Temporal cannot be used');
  };
}
