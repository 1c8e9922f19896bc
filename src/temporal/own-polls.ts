/** Whether Temporal accepts the polls of this process. */
import type { Client } from '@temporalio/client';
import { type PolledKind, polledKinds, readPollers } from './pollers.ts';

/**
 * @param identity of the workers, by which Temporal lists them
 * @returns a function that resolves to the kinds of which Temporal has accepted a poll since it was last called; to
 * all if it does not say, for the question may be forbidden where polls are not
 */
export function ownPolls(
  client: Client,
  taskQueue: string,
  identity: string,
): () => Promise<readonly PolledKind[]> {
  const last = new Map<PolledKind, string>();
  return async () => {
    const pollers = await readPollers(client, taskQueue).catch(() => null);
    if (pollers === null) return polledKinds;
    return polledKinds.filter((kind) => {
      const own = pollers[kind].find((each) => each.identity === identity);
      if (own === undefined) return false;
      // By Temporal's clock, which may differ from this one.
      const polledAt = `${own.seconds}.${own.nanos}`;
      if (polledAt === last.get(kind)) return false;
      last.set(kind, polledAt);
      return true;
    });
  };
}
