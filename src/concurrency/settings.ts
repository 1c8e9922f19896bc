/**
 * The numbers of the scheduler that are weighed against each other, in one value; tests and the bench replace parts
 * of it. Each has a comment on what it bounds and what is worse on either side. Numbers of one file alone, such as
 * the length of a lease, are there.
 */

/** The default numbers of one worker. */
export const schedulerDefaults = {
  /**
   * Attempts under way at once in a worker, of all kinds. Fewer: hanging receivers leave no place. More: memory and
   * sockets.
   */
  attempts: 200,
  /**
   * The first limit of a webhook about which nothing is known. Fewer: a prompt one begins slowly. More: a hanging
   * one holds more places.
   */
  firstLimit: 20,
  /**
   * An attempt that took longer and was not accepted halves its webhook's limit. Less: slow failures count as
   * hanging.
   */
  hungMs: 2_000,
  /**
   * Attempts that can begin within this time wait in the worker, the others in the database. Less: idle places.
   * More: unfair waits.
   */
  claimAheadMs: 500,

  /**
   * Fresh deliveries in flight, except those that wait for a permit or a slow receiver; other classes have a share
   * as many. Fewer: small statements, idle workers. More: others wait behind them.
   */
  inFlight: 128,
  /**
   * Room for at least this many before the next claim, unless nothing is in flight. Less: many small claims. More:
   * idle workers.
   */
  worthAClaim: 32,
  /**
   * A request under way for this long is a slow receiver's. Less: more in flight than meant. More: it holds the
   * place of others.
   */
  slowMs: 200,
  /**
   * Workflows that are started at once, with the result of an attempt, under way at the same time. Fewer: more of
   * them follow later. More: they take processor time from attempts.
   */
  startsUnderWay: 16,
  /**
   * Attempts from the queue within a second up to which workflows are started at once. Fewer: in a calm, they
   * follow later. More: in a burst they take the processor time of attempts; one costs some 25 ms of it.
   */
  calmPerSecond: 32,
  /**
   * While a start has no answer after this long, no workflow is started at once. Less: a busy moment looks like an
   * outage.
   */
  silentMs: 1_000,
  /** Background calls of each loop under way at once. Fewer: these lag. More: fresh deliveries wait. */
  backgroundConcurrency: 4,
  /**
   * Background calls of each loop before it pauses for `tickMs`. Fewer: changes and pending workflows lag. More:
   * fresh deliveries wait for the workflows that these wake.
   */
  backgroundPerTick: 16,
  /** Between two claims of background work, ms. Less: fresh deliveries wait. More: background work lags. */
  tickMs: 150,
  /**
   * A webhook or e-shop is remembered as being in use for this long after an attempt. Less: a pause resets what was
   * learned.
   */
  idleAfterMs: 2_000,

  /**
   * After this long without a claim a class no longer waits for those before it. Less: an import slows fresh ones.
   * More: it starves.
   */
  patienceMs: 15_000,

  /**
   * The polling interval behind LISTEN. While Temporal or the database is away: a quarter of it at first, growing
   * to five times.
   */
  pollMs: 1_000,
};

/** The numbers of one worker. */
export type SchedulerOptions = Readonly<typeof schedulerDefaults>;
