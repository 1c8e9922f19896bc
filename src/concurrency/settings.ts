/**
 * The numbers of dispatch that are weighed against each other: one value, which tests and the bench replace in part. Beside each stands
 * what it bounds and what is worse on either side. Numbers that concern one file alone, such as the length of a lease, stand there.
 */

/** The numbers of one worker. */
export interface SchedulerOptions {
  /** Attempts under way at once in a worker, whatever makes them. Fewer: hanging receivers leave no place. More: memory and sockets. */
  readonly attempts: number;
  /** Attempts of a webhook about which nothing is known. Fewer: a prompt one begins slowly. More: a hanging one holds more places. */
  readonly firstLimit: number;
  /** An attempt that took longer and was not accepted halves its webhook's limit, ms. Less: slow failures count as hanging. */
  readonly hungMs: number;
  /** How much waits for places in the worker instead of in the database: what begins within this, ms. Less: idle places. More: unfair waits. */
  readonly claimAheadMs: number;

  /** Deliveries in hand, but for those that wait for a permit or for a slow receiver. Fewer: idle workers. More: others wait behind them. */
  readonly window: number;
  /**
   * How long a workflow waits to be started with the result of the first attempt, ms. Less: more workflows have to be told it. More: a
   * slow receiver holds a place of the window until then, and its delivery is not in Temporal.
   */
  readonly startAfterMs: number;
  /** Temporal has answered none of its starts for this long, ms: first attempts go on without it. Less: a busy moment looks like that. */
  readonly silentMs: number;
  /** Starts of workflows under way at once, of each class in the background and of slow receivers. Fewer: they lag. More: fresh starts wait. */
  readonly backgroundConcurrency: number;
  /** Between two claims for batches, or of background work, ms. Less: batches of few deliveries cost Temporal more. More: latency in a burst. */
  readonly tickMs: number;
  /** Deliveries of a batch; twice as many are open in the worker's batches. Fewer: less throughput. More: one workflow holds much when its worker dies. */
  readonly batchSize: number;
  /**
   * Deliveries of an e-shop that are attempted one by one in a burst as well, if a claim has no more of it. Fewer: who sends little
   * waits for the batches of the others. More: a burst costs Temporal a workflow for each.
   */
  readonly fewOfEshop: number;
  /** Batches begin when a delivery has waited this long behind others, ms. Less: a hiccup looks like a burst. More: latency. */
  readonly burstAfterMs: number;
  /** They end when no more than two windows were claimed within this, ms. */
  readonly idleAfterMs: number;

  /** Overloaded: the slowest start of the last second took more than so many times the quickest, and more than the floor, ms. */
  readonly overloadFactor: number;
  readonly overloadFloorMs: number;
  /** Background calls per second: from the least to the most within ten seconds without overload. Overloaded: half with each second. */
  readonly budgetLeast: number;
  readonly budgetMost: number;
  /** What is not fresh gets a claim at least this often, ms, however much fresh waits. */
  readonly patienceMs: number;

  /** The net under LISTEN, ms. While Temporal or the database is away: a quarter of it at first, five times as long in the end. */
  readonly pollMs: number;
}

export const schedulerDefaults: SchedulerOptions = {
  attempts: 200,
  firstLimit: 20,
  hungMs: 2_000,
  claimAheadMs: 500,

  window: 16,
  startAfterMs: 200,
  silentMs: 1_000,
  backgroundConcurrency: 4,
  tickMs: 150,
  batchSize: 500,
  fewOfEshop: 4,
  burstAfterMs: 300,
  idleAfterMs: 2_000,

  overloadFactor: 4,
  overloadFloorMs: 60,
  budgetLeast: 12,
  budgetMost: 48,
  patienceMs: 15_000,

  pollMs: 1_000,
};
