/**
 * Every number that decides what is attempted when: one value, which tests and the bench replace in part. Beside each stands what
 * it bounds and what is worse on either side.
 */

/** The numbers of one worker. */
export interface SchedulerOptions {
  /** Attempts under way at once in a worker, whatever makes them. Fewer: hanging receivers leave no place. More: memory and sockets. */
  readonly attempts: number;
  /** The share of the free places that one e-shop may take. 1: one e-shop can take all of them. Less: it cannot use an idle worker. */
  readonly eshopShare: number;
  /** Attempts of a webhook about which nothing is known. Fewer: a prompt one begins slowly. More: a hanging one holds more places. */
  readonly firstLimit: number;
  /** Attempts to one host at once, beyond the first of each webhook. Fewer: e-shops on one host feel each other. More: no bound. */
  readonly hostLimit: number;
  /** An attempt that took longer and was not accepted halves its webhook's limit, ms. Less: slow failures count as hanging. */
  readonly hungMs: number;
  /** How much waits for places in the worker instead of in the database: what begins within this, ms. Less: idle places. More: unfair waits. */
  readonly claimAheadMs: number;
  /** An attempt that has waited so long for a place goes back to the queue, ms. Less: needless rounds. More: it blocks nothing but memory. */
  readonly permitWaitMs: number;
  /** How long a webhook stays closed whose name lookups were too many, ms. */
  readonly closedMs: number;

  /** Workflows started one by one and not begun. Fewer: idle workers where calls are slow. More: others wait in Temporal's queue. */
  readonly window: number;
  /** Calls to Temporal under way at once: of fresh deliveries, and of each kind of background work. */
  readonly concurrency: number;
  readonly backgroundConcurrency: number;
  /** Between two claims for batches, ms. Less: batches of few deliveries cost Temporal more. More: latency in a rush. */
  readonly tickMs: number;
  /** Deliveries of a batch. Fewer: less throughput. More: one workflow holds much when its worker dies. */
  readonly batchSize: number;
  /** The same of what is not fresh, while overloaded. Fewer: an import is delivered late. More: it is felt by others. */
  readonly modestBatchSize: number;
  /** Deliveries in the worker's batches, attempted or waiting for a place. */
  readonly openInBatches: number;
  /** Batches begin when a delivery has waited this long behind others, ms. Less: a hiccup looks like a rush. More: latency. */
  readonly rushAfterMs: number;
  /** They end when no more than this was claimed within so many ms. */
  readonly calmDeliveries: number;
  readonly calmMs: number;

  /** Overloaded: the slowest start of the last second took more than so many times the quickest, and more than the floor, ms. */
  readonly overloadFactor: number;
  readonly overloadFloorMs: number;
  /** Background calls per second: at least, at most, and how many more after each second without overload. Overloaded: half. */
  readonly budgetLeast: number;
  readonly budgetMost: number;
  readonly budgetStep: number;
  /** Between two rounds of background work, ms. */
  readonly backgroundMs: number;
  /** What is not fresh gets a claim at least this often, ms, however much fresh waits. */
  readonly patienceMs: number;

  /** The net under LISTEN, ms, and the waits while Temporal or the database is away. */
  readonly pollMs: number;
  readonly backoffMs: { readonly first: number; readonly longest: number };
}

export const schedulerDefaults: SchedulerOptions = {
  attempts: 200,
  eshopShare: 0.5,
  firstLimit: 20,
  hostLimit: 100,
  hungMs: 2_000,
  claimAheadMs: 500,
  permitWaitMs: 2_000,
  closedMs: 5_000,

  window: 16,
  concurrency: 16,
  backgroundConcurrency: 4,
  tickMs: 150,
  batchSize: 500,
  modestBatchSize: 100,
  openInBatches: 1_000,
  rushAfterMs: 300,
  calmDeliveries: 30,
  calmMs: 2_000,

  overloadFactor: 4,
  overloadFloorMs: 60,
  budgetLeast: 12,
  budgetMost: 48,
  budgetStep: 4,
  backgroundMs: 250,
  patienceMs: 15_000,

  pollMs: 1_000,
  backoffMs: { first: 250, longest: 5_000 },
};
