/**
 * What a Temporal server that Waybill brings is set to beyond its defaults. `temporal-dynamic-config.yaml` says the
 * same to the server of `docker-compose.temporal.yml`.
 */

/** Temporal's dynamic configuration: key → value, as JSON has it. */
export const DYNAMIC_CONFIG: Readonly<Record<string, string | number | boolean>> = {
  // Timers are looked at this often; the default of a second would make every shorter wait a second long.
  'history.timerProcessorMaxTimeShift': '1ms',
  // Read so often within one second, a queue of timers counts as stuck, and those of that second go to a slow reader
  // (docs/decisions/0024). 0: none counts as stuck.
  'history.queueReaderStuckCriticalAttempts': 0,
  // The first attempt starts on the worker that scheduled it, without a way through the task queue. Older
  // servers, such as 1.29, have to be told.
  'system.enableActivityEagerExecution': true,
  // What waits in a task queue is taken by priority, and then from each e-shop in turn (workflows/priorities.ts).
  'matching.enableFairness': true,
  // What waits is written into one partition of four, so that the turns are those of the whole task queue: each partition
  // takes turns of its own.
  'matching.numTaskqueueWritePartitions': 1,
  // And read from it alone: asking the three that are always empty costs the server with every question.
  'matching.numTaskqueueReadPartitions': 1,
  // Bytes of one search attribute, 2 KiB by default: a batch is found by the entity of each of its 500 deliveries. As much
  // as Temporal takes of all attributes together.
  'frontend.searchAttributesSizeOfValueLimit': 40_960,
};
