/**
 * Starts the workflows of what batches handed back, apart from everything else: a start costs far more than an attempt in
 * a batch, and hardly any of them is due at once.
 * @module
 */
import { claimHandedBack } from '../db/outbox/handed-back.ts';
import type { HandedBackStarter } from '../temporal/dispatcher.ts';
import { type PassOnDeps, startAll } from './deliveries.ts';
import type { Next } from './loop.ts';

/** What this takes. */
export interface HandedBackDeps extends PassOnDeps {
  readonly handedBack: HandedBackStarter;
}

/** While batches are made: so many per claim, and one claim in so many milliseconds. What is healthy goes first. */
const RUSH_LIMIT = 5;
const RUSH_PAUSE_MS = 1_000;
/** Otherwise: so many per claim, and calls to Temporal under way at once. */
const LIMIT = 50;
const CONCURRENCY = 5;

/**
 * Starts some of them, those due first.
 * @param rushing whether batches are being made
 * @throws what Temporal or the database threw when it is away; what was claimed is released
 */
export async function dispatchHandedBack(deps: HandedBackDeps, rushing: () => boolean): Promise<Next> {
  const limit = rushing() ? RUSH_LIMIT : LIMIT;
  const deliveries = await claimHandedBack(deps.sql, limit);
  await startAll(deps, deliveries, {
    concurrency: CONCURRENCY,
    startOne: (delivery) => deps.handedBack.startHandedBack(delivery),
  });
  if (deliveries.length < limit) return 'idle';
  return rushing() ? RUSH_PAUSE_MS : 'more';
}
