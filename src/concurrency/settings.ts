/**
 * The numbers of the scheduler that are weighed against each other, in one value; tests and the bench replace parts of it. Each has a
 * comment on what it bounds and what is worse on either side. Numbers of one file alone, such as the length of a lease, are there.
 */

/** The default numbers of one worker. */
export const schedulerDefaults = {
  /** Attempts under way at once in a worker, of all kinds. Fewer: hanging receivers leave no place. More: memory and sockets. */
  attempts: 200,
  /** The first limit of a webhook about which nothing is known. Fewer: a prompt one begins slowly. More: a hanging one holds more places. */
  firstLimit: 20,
  /** An attempt that took longer and was not accepted halves its webhook's limit, ms. Less: slow failures count as hanging. */
  hungMs: 2_000,
  /** Attempts that can begin within this time wait in the worker, the others in the database, ms. Less: idle places. More: unfair waits. */
  claimAheadMs: 500,

  /** Deliveries in hand, except those that wait for a permit or a slow receiver. Fewer: idle workers. More: others wait behind them. */
  dispatchWindow: 16,
  /**
   * How long a workflow waits to be started with the result of the first attempt, ms. Less: more workflows need a signal with it. More:
   * a slow receiver holds a place of the dispatch window until then, and its delivery is not in Temporal.
   */
  startAfterMs: 200,
  /** While a start has no answer after this long, ms, first attempts go on without Temporal. Less: a busy moment looks like an outage. */
  silentMs: 1_000,
  /** Background calls of each loop, and starts of slow receivers' workflows, under way at once. Fewer: these lag. More: fresh starts wait. */
  backgroundConcurrency: 4,
  /**
   * Background calls of each loop before it pauses for `tickMs`. Fewer: changes and owed workflows lag. More: fresh deliveries wait for
   * the workflows that these wake.
   */
  backgroundPerTick: 16,
  /** Between two claims for batches or background work, ms. Less: batches of few deliveries cost Temporal more. More: latency in a burst. */
  tickMs: 150,
  /** Deliveries of a batch; twice as many are open in the worker's batches. Fewer: less throughput. More: one workflow holds much when its worker dies. */
  batchSize: 500,
  /**
   * In a burst, an e-shop with at most this many deliveries in a claim has them attempted one by one. Fewer: small e-shops wait for the
   * batches of others. More: a burst costs Temporal more workflows.
   */
  fewOfEshop: 4,
  /** Batches begin when a delivery has waited this long behind others, ms. Less: a hiccup looks like a burst. More: latency. */
  burstAfterMs: 300,
  /**
   * Batches end when no more than two dispatch windows were claimed within this, ms, and a crowd when no claim has put more into a batch.
   * Less: a pause ends a burst. More: latency after it.
   */
  idleAfterMs: 2_000,

  /** After this long without a claim a class no longer waits for those before it, ms. Less: an import slows fresh ones. More: it starves. */
  patienceMs: 15_000,

  /** The polling interval behind LISTEN, ms. While Temporal or the database is away: a quarter of it at first, growing to five times. */
  pollMs: 1_000,
};

/** The numbers of one worker. */
export type SchedulerOptions = Readonly<typeof schedulerDefaults>;
