/**
 * The numbers of the scheduler that have to be weighed against each other, in one value; tests and the bench replace
 * parts of it. The comment of each number says what it bounds, and what gets worse if it is too low or too high. A
 * number that concerns one file only, such as the length of a lease, is in that file.
 */

/** The default numbers of one worker. */
export const schedulerDefaults = {
  /**
   * Attempts under way at once in a worker, of all kinds. Too low: hanging receivers leave no place. Too high: more
   * memory and sockets.
   */
  attempts: 200,
  /**
   * The first limit of a webhook about which nothing is known. Too low: a prompt receiver begins slowly. Too high: a
   * hanging receiver holds more places.
   */
  firstLimit: 20,
  /**
   * An attempt that took longer than this, in milliseconds, or than half of the time-out, halves the limit of its
   * webhook if it was not accepted. If it was accepted, it raises the limit at most to `firstLimit`. Too low: slow
   * failures count as hanging. Too high: a hanging or slow receiver keeps its places longer.
   */
  hungMs: 2_000,
  /**
   * An attempt that can begin within this time, in milliseconds, waits for its place in the worker; any other waits
   * in the database. Too low: idle places. Too high: unfair waits.
   */
  claimAheadMs: 500,

  /**
   * The most fresh deliveries in flight, except those that wait for a permit or for a slow receiver; each other class
   * may have a share of this number. Too low: small statements, idle workers. Too high: other classes wait behind
   * them.
   */
  inFlight: 128,
  /**
   * The room that a class needs for its next claim, in deliveries, unless none of it is in flight. Too low: many
   * small claims. Too high: idle workers.
   */
  worthAClaim: 32,
  /**
   * A request that is under way for this long, in milliseconds, counts as slow, and fills no place. Too low: more
   * deliveries are in flight than intended. Too high: the request keeps a place from other deliveries.
   */
  slowMs: 200,
  /**
   * With this many starts of workflows under way, no further one is made at once with the result of an attempt.
   * Too low: more workflows follow later. Too high: the starts take processor time from attempts.
   */
  startsUnderWay: 16,
  /**
   * More attempts from the queue within a second than this are a burst: no workflow is started at once. Too low:
   * workflows follow later even under light load. Too high: in a burst the starts take processor time from attempts;
   * each takes some 25 ms.
   */
  calmPerSecond: 32,
  /**
   * While a start has been without an answer for longer than this, in milliseconds, no workflow is started at once.
   * Too low: a busy moment looks like an outage. Too high: more starts wait for a Temporal that is unavailable.
   */
  silentMs: 1_000,
  /** The most concurrent background calls of a loop. Too low: their work lags. Too high: fresh deliveries wait. */
  backgroundConcurrency: 4,
  /**
   * The most background calls that a loop makes before it pauses for `tickMs`. Too low: changes and unstarted
   * workflows lag. Too high: fresh deliveries wait for the workflows that the calls wake.
   */
  backgroundPerTick: 16,
  /** The pause between claims of background work, in ms. Too low: fresh deliveries wait. Too high: the work lags. */
  tickMs: 150,
  /**
   * For this long after an attempt, in milliseconds, a webhook or e-shop counts as in use. Too low: a short pause
   * resets the learned limits.
   */
  idleAfterMs: 2_000,

  /**
   * After this long without a claim, in milliseconds, a class no longer waits for the classes before it. Too low: an
   * import slows fresh deliveries down. Too high: the import starves.
   */
  patienceMs: 15_000,

  /**
   * The time between two searches for deliveries that missed their turn in the order of their record, in
   * milliseconds. Too low: useless searches. Too high: such deliveries, and those behind them, wait longer.
   */
  settleMs: 5_000,
  /**
   * The polling interval that backs LISTEN up, in milliseconds. While Temporal or the database is unavailable, a loop
   * tries again after a quarter of it, and less and less often, up to five times as long.
   */
  pollMs: 1_000,
  /**
   * The time between two claims while a receiver has as many deliveries as it may have at once, in milliseconds.
   * Too low: claims that get nothing. Too high: a long queue for one receiver waits although it has room again.
   */
  roomPollMs: 100,
};

/**
 * The numbers of a worker with this time-out for attempts: an attempt that times out counts as hanging.
 * @param attemptTimeoutMs in milliseconds
 */
export function settingsFor(
  attemptTimeoutMs: number,
  replaced: Partial<SchedulerOptions> = {},
): SchedulerOptions {
  const hungMs = Math.min(schedulerDefaults.hungMs, attemptTimeoutMs / 2);
  return { ...schedulerDefaults, hungMs, ...replaced };
}

/** The numbers of one worker. */
export type SchedulerOptions = Readonly<typeof schedulerDefaults>;
