/**
 * The numbers of dispatch that are weighed against each other: one value, which tests and the bench replace in part. Beside each stands
 * what it bounds and what is worse on either side. Numbers that concern one file alone, such as the length of a lease, stand there.
 */

/** The numbers of one worker where nothing replaces them. */
export const schedulerDefaults = {
  /** Attempts under way at once in a worker, whatever makes them. Fewer: hanging receivers leave no place. More: memory and sockets. */
  attempts: 200,
  /** Attempts of a webhook about which nothing is known. Fewer: a prompt one begins slowly. More: a hanging one holds more places. */
  firstLimit: 20,
  /** An attempt that took longer and was not accepted halves its webhook's limit, ms. Less: slow failures count as hanging. */
  hungMs: 2_000,
  /** How much waits for places in the worker instead of in the database: what begins within this, ms. Less: idle places. More: unfair waits. */
  claimAheadMs: 500,

  /** Deliveries in hand, but for those that wait for a permit or for a slow receiver. Fewer: idle workers. More: others wait behind them. */
  window: 16,
  /**
   * How long a workflow waits to be started with the result of the first attempt, ms. Less: more workflows have to be told it. More: a
   * slow receiver holds a place of the window until then, and its delivery is not in Temporal.
   */
  startAfterMs: 200,
  /** Temporal has answered none of its starts for this long, ms: first attempts go on without it. Less: a busy moment looks like that. */
  silentMs: 1_000,
  /** Starts of workflows under way at once, of each class in the background and of slow receivers. Fewer: they lag. More: fresh starts wait. */
  backgroundConcurrency: 4,
  /** Between two claims for batches, or of background work, ms. Less: batches of few deliveries cost Temporal more. More: latency in a burst. */
  tickMs: 150,
  /** Deliveries of a batch; twice as many are open in the worker's batches. Fewer: less throughput. More: one workflow holds much when its worker dies. */
  batchSize: 500,
  /**
   * Deliveries of an e-shop that are attempted one by one in a burst as well, if a claim has no more of it. Fewer: who sends little
   * waits for the batches of the others. More: a burst costs Temporal a workflow for each.
   */
  fewOfEshop: 4,
  /** Batches begin when a delivery has waited this long behind others, ms. Less: a hiccup looks like a burst. More: latency. */
  burstAfterMs: 300,
  /** They end when no more than two windows were claimed within this, ms. */
  idleAfterMs: 2_000,

  /** Overloaded: the slowest start of the last second took more than so many times the quickest, and more than the floor, ms. */
  overloadFactor: 4,
  overloadFloorMs: 60,
  /** Background calls per second: from the least to the most within ten seconds without overload. Overloaded: half with each second. */
  budgetLeast: 12,
  budgetMost: 48,
  /** What is not fresh gets a claim at least this often, ms, however much fresh waits. */
  patienceMs: 15_000,

  /** The net under LISTEN, ms. While Temporal or the database is away: a quarter of it at first, five times as long in the end. */
  pollMs: 1_000,
};

/** The numbers of one worker. */
export type SchedulerOptions = Readonly<typeof schedulerDefaults>;
