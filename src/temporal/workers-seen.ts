/** The workers that poll Temporal for work. */
import type { Client } from '@temporalio/client';
import { type PolledKind, polledKinds, readPollers } from './pollers.ts';

/**
 * A living worker has polled within this time, in milliseconds: a poll lasts a minute. Temporal lists workers for
 * five minutes after their end.
 */
const ASKED_WITHIN_MS = 90_000;

export interface WorkersSeen {
  /** The living workers by their identities, process and machine: `4711@host`. */
  readonly workers: readonly string[];
  /** What none of them polls for. */
  readonly unpolled: readonly PolledKind[];
}

/** The living workers of an installation. */
export async function workersSeen(client: Client, taskQueue: string): Promise<WorkersSeen> {
  const pollers = await readPollers(client, taskQueue);
  const since = Date.now() - ASKED_WITHIN_MS;
  const living = (kind: PolledKind) => pollers[kind].filter(({ seconds }) => seconds * 1_000 >= since);
  return {
    workers: [...new Set(polledKinds.flatMap(living).map(({ identity }) => identity))].sort(),
    unpolled: polledKinds.filter((kind) => living(kind).length === 0),
  };
}
