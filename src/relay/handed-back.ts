/**
 * Starts the workflows of what batches handed back, apart from everything else: a start costs far more than an attempt in
 * a batch, and hardly any of them is due at once.
 */
import { claimHandedBack, countOverdue } from '../db/outbox/handed-back.ts';
import type { HandedBackStarter } from '../temporal/dispatcher.ts';
import { type HandBackPace, leastOf, MOST_WHILE_FELT, pauseAfter } from './hand-back-pace.ts';
import type { Next } from './loop.ts';
import { type StartDeps, startAll } from './start-all.ts';

/** What this takes. */
export interface HandedBackDeps extends StartDeps {
  readonly handedBack: HandedBackStarter;
}

/** Calls to Temporal under way at once. */
const CONCURRENCY = 4;

/**
 * Starts some of them, by turns, those due first.
 * @throws what Temporal or the database threw when it is away; what was claimed is released
 */
export async function dispatchHandedBack(deps: HandedBackDeps, pace: HandBackPace): Promise<Next> {
  const before = performance.now();
  const size = pace.next();
  const limit = size < MOST_WHILE_FELT ? Math.max(size, leastOf(await countOverdue(deps.sql))) : size;
  const deliveries = await claimHandedBack(deps.sql, limit);
  await startAll(deps, deliveries, {
    concurrency: CONCURRENCY,
    startOne: (delivery) => deps.handedBack.startHandedBack(delivery),
    onStarted: pace.observe,
  });
  return deliveries.length === 0 ? 'idle' : pauseAfter(performance.now() - before);
}
