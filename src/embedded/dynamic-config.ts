/**
 * The settings, beyond the defaults, of a Temporal server that Waybill brings. `temporal-dynamic-config.yaml` has
 * the same for the server of `docker-compose.temporal.yml`.
 */

/** Temporal's dynamic configuration: key → JSON value. */
export const DYNAMIC_CONFIG: Readonly<Record<string, string | number | boolean>> = {
  // How often timers are checked; the default of a second would make every shorter wait a second long.
  'history.timerProcessorMaxTimeShift': '1ms',
  // A queue of timers that is read this often within a second counts as stuck, and its timers of that second go to
  // a slow reader (docs/decisions/0024). 0: none counts as stuck.
  'history.queueReaderStuckCriticalAttempts': 0,
  // The first attempt starts on the worker that scheduled it, without passing through the task queue. Older
  // servers, such as 1.29, need the setting.
  'system.enableActivityEagerExecution': true,
  // Waiting tasks are dispatched by priority, and then from each e-shop in turn (workflows/priorities.ts).
  'matching.enableFairness': true,
  // Waiting tasks are written into one partition instead of four, so that turns are taken in the whole task queue:
  // each partition takes its own turns.
  'matching.numTaskqueueWritePartitions': 1,
  // Tasks are read from that partition alone: each poll of the three empty ones would cost the server time.
  'matching.numTaskqueueReadPartitions': 1,
};
