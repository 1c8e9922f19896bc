/**
 * Every series of `GET /metrics`, except Node's and those of Temporal's SDK. All exist in every role, at zero where
 * nothing happens: an absent one cannot be watched. No label names an e-shop, receiver or record: they are unbounded.
 *
 * Module metrics, which imports attempt, db, domain, lib, mail, reconciler, relay. Begin: every series is here.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { alarms } from '../attempt/watch.ts';
import { isOpen, storedStates } from '../domain/delivery-state.ts';
import { type EventType, eventTypes } from '../domain/event-types.ts';

/** From the usual response times of receivers to beyond the longest reasonable time-out of an attempt, in seconds. */
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** From a few milliseconds under light load to a day of outage, in seconds. */
const FIRST_BYTE_BUCKETS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 21_600, 86_400,
];
const PHASE_BUCKETS = [0.001, 0.0025, 0.005, ...FIRST_BYTE_BUCKETS];
const REQUEST_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
/** How often Node measures the delay of its event loop, in milliseconds. */
const EVENT_LOOP_PRECISION_MS = 20;

/** The class of an HTTP status as a label; `none` if no response arrived. */
const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** The meaning of each series. */
const HELP = {
  waybill_info: 'Always 1; the labels say which release runs here, and in which role.',

  waybill_deliveries_total: 'Deliveries that ended, by outcome and event type.',
  waybill_alarms_total:
    'Failures of Waybill itself that an operator has to look at, by the alarm in the log: `windowLost`, a delivery expired; `cannotBePrepared`, it is tried again; `lastAttemptBlocked`, its last chance is.',
  waybill_windows_lost: 'Deliveries that expired within the last day because of a failure of Waybill itself.',
  waybill_attempts_total:
    "Attempts that have a result, by the class of the response's status; `none`: there was no response.",
  waybill_attempts_interrupted_total:
    'Attempts interrupted by a failure of Waybill itself. They do not count, and are repeated.',
  waybill_attempt_duration_seconds:
    'From the beginning of an attempt to the head of the response, or to its failure.',
  waybill_commit_to_first_byte_seconds:
    'From the commit of the event to the first byte of the first request, not counting recoveries and the time for which a webhook was inactive or paused.',
  waybill_commit_to_first_byte_phase_seconds:
    'Where that time goes: `queue`, until a process has claimed the delivery; `prepare`, until its attempt may begin; `begin`, its number; `send`, until the first byte leaves.',
  waybill_attempts_open:
    'Attempts of this worker that are under way or wait for a place, by their receivers: `hanging` lately, or `other`. Those at hanging ones may fill half of the places, and further ones wait. Absent in the role `api`.',
  waybill_deactivations_total:
    'Webhooks deactivated because all retries failed, or because the receiver responded with 410 Gone.',
  waybill_mails_total:
    'Attempts to send a mail, by outcome: sent, failed (and to be retried), or refused by the mail server.',
  waybill_repairs_total:
    'Repairs made by the reconciler, by the workflow concerned, the action and the reason.',
  waybill_relay_passes_total:
    'Passes of the loops of the relay: one for each class of deliveries (`fresh`, `retry`, `bulk`, `recovered`, and `undelivered`, `delivered` for their workflows), and `webhooks`, `releases`, `recoveries`, `orderings`, `warnings`, `notices`; `later`: the next one follows after a pause.',

  waybill_database_up: '1 if the database answered when it was last asked and its disk is not full, else 0.',
  waybill_database_read_age_seconds:
    'How long ago the values from the database were read: the oldest of them.',
  waybill_database_bytes: 'The size of the database on its disk.',
  waybill_dead_rows_keepers:
    'Sessions with an old snapshot, old prepared transactions, replication slots, and a failing archive, which keep dead rows or old write-ahead log, as in `waybill status`.',
  waybill_database_clock_steps_total:
    "Steps of the database's clock that this worker noticed, by direction: `back` or `ahead`.",
  waybill_database_clock_difference_seconds: "The database's clock minus the clock of this worker's machine.",
  waybill_retention_failures_total:
    'Steps of the retention that failed: the next run tries them again, and the log says why.',
  waybill_partitions_ahead_seconds: 'For how long there are partitions for events, deliveries and attempts.',
  waybill_queue_deliveries:
    'Deliveries in the queue: for an attempt (`fresh`, `retry`, `bulk`, `recovered`), for the end of a pause of their webhook (`paused`), or for their workflow (`undelivered`, `delivered`).',
  waybill_deliveries_without_workflow:
    'Deliveries that were accepted and got no workflow, because too many were waiting for one, since the database was created.',
  waybill_queue_oldest_seconds:
    'How long the oldest delivery in the queue has waited, since the activation of its webhook at the earliest, or has been due for a retry or its workflow; 0 if none waits. Not counted: delivered ones, and those that belong to a recovery or a paused webhook, or wait for an older one.',
  waybill_queue_due_seconds:
    'For how long the first delivery of each class has been due in the queue, claimed or not. Those of paused webhooks and of paused recoveries do not count; 0 if none is due.',
  waybill_relay_claimed_timestamp_seconds:
    'When this worker last asked the queue for deliveries of each class, in seconds since 1970; at first, when it started. Absent in the role `api`.',
  waybill_attempts_overdue_seconds:
    'For how long an attempt of a delivery that has its workflow has been due and has not begun. What is held, or waits for a limit, is not due; 0 if none is.',
  waybill_blocked_deliveries:
    'Deliveries that wait for an older one of their record, or for their webhook to be active, where it has an order.',
  waybill_blocked_records: 'Records that have such deliveries.',
  waybill_blocked_oldest_seconds:
    'How long ago the oldest of these deliveries was created; 0 if there is none.',
  waybill_blocked_stuck_seconds:
    'For how long one of these has been seen to wait although no open delivery is before it; 0 if there is none.',
  waybill_changes_waiting: 'Changes to webhooks and pre-orders that are being passed on.',
  waybill_changes_oldest_seconds: 'How long the oldest of these changes has been due; 0 if there is none.',
  waybill_deliveries_open:
    'Open deliveries, by state; `held`: by an operator, or because their webhook is inactive or paused.',
  waybill_webhooks_holding:
    'Webhooks for which deliveries are held: they are inactive or paused, or an operator holds deliveries to them.',
  waybill_incidents:
    'Active webhooks, not paused, that are failing: no attempt has been accepted since one failed.',
  waybill_eshops:
    'E-shops with webhooks that are failing and not paused (`failing`), or that failures have deactivated within the last hour (`deactivated`).',
  waybill_cursors_held_up_seconds:
    'How long the transaction that cursors and recoveries wait for has been open, with the name of its program; 0 if they wait for none.',
  waybill_mails_pending:
    "Mails to e-shops' own addresses that have not been sent, without those deferred beyond the budget of their e-shop.",
  waybill_mails_oldest_seconds: 'How long the oldest of them has been waiting; 0 if there is none.',
  waybill_mails_to_files:
    '1 if workers write mails into files that nobody gets, although they have a database of their own, else 0.',
  waybill_mails_refused:
    'Of such mails, those given up within the last day because the mail server refused them.',

  waybill_database_connections: 'Connections of this process to the database; `busy`: waiting for a result.',
  waybill_database_connections_max: 'The maximum number of connections that this process opens.',
  waybill_temporal_up:
    '1 if the last request to Temporal succeeded and Temporal has accepted polls of this process for workflows, attempts and other steps within the last 90 s, else 0; with the name of the process in `waybill status`. Absent in the role `api`.',

  waybill_log_lines_lost_total:
    'Lines of the log that were dropped: the disk is full, or their reader too slow.',
  waybill_change_loops_total:
    'Records that the API changed 100 times within a minute, each counted at most once a minute: a receiver probably answers its own changes.',
  waybill_request_duration_seconds: 'Requests to the API, from their head to the head of the response.',
} as const;
type Name = keyof typeof HELP;

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: Name, ...labelNames: L[]) =>
    new Counter({ name, help: HELP[name], labelNames, registers });
  const gauge = <L extends string>(name: Name, ...labelNames: L[]) => {
    const created = new Gauge({ name, help: HELP[name], labelNames, registers });
    // An unknown value is not zero.
    if (labelNames.length === 0) created.remove();
    return created;
  };
  const histogram = <L extends string>(name: Name, buckets: number[], ...labelNames: L[]) =>
    new Histogram({ name, help: HELP[name], buckets, labelNames, registers });

  const metrics = {
    registry,
    info: gauge('waybill_info', 'version', 'role'),

    deliveries: counter('waybill_deliveries_total', 'outcome', 'event_type'),
    alarms: counter('waybill_alarms_total', 'alarm'),
    windowsLost: gauge('waybill_windows_lost'),
    attempts: counter('waybill_attempts_total', 'status'),
    interrupted: counter('waybill_attempts_interrupted_total'),
    attemptDuration: histogram('waybill_attempt_duration_seconds', ATTEMPT_BUCKETS),
    firstByte: histogram('waybill_commit_to_first_byte_seconds', FIRST_BYTE_BUCKETS),
    firstBytePhase: histogram('waybill_commit_to_first_byte_phase_seconds', PHASE_BUCKETS, 'phase'),
    attemptsOpen: gauge('waybill_attempts_open', 'receivers'),
    deactivations: counter('waybill_deactivations_total', 'reason'),
    mails: counter('waybill_mails_total', 'outcome'),
    repairs: counter('waybill_repairs_total', 'workflow', 'action', 'reason'),
    passes: counter('waybill_relay_passes_total', 'loop', 'result'),

    databaseUp: gauge('waybill_database_up'),
    databaseReadAge: gauge('waybill_database_read_age_seconds'),
    databaseBytes: gauge('waybill_database_bytes'),
    vacuumBlockers: gauge('waybill_dead_rows_keepers'),
    clockSteps: counter('waybill_database_clock_steps_total', 'direction'),
    clockDifference: gauge('waybill_database_clock_difference_seconds'),
    retentionFailures: counter('waybill_retention_failures_total'),
    partitionsAhead: gauge('waybill_partitions_ahead_seconds'),
    queued: gauge('waybill_queue_deliveries', 'waiting'),
    withoutWorkflow: gauge('waybill_deliveries_without_workflow'),
    queueOldest: gauge('waybill_queue_oldest_seconds'),
    queueDue: gauge('waybill_queue_due_seconds', 'waiting'),
    claimedAt: gauge('waybill_relay_claimed_timestamp_seconds', 'waiting'),
    overdue: gauge('waybill_attempts_overdue_seconds'),
    blocked: gauge('waybill_blocked_deliveries'),
    blockedRecords: gauge('waybill_blocked_records'),
    blockedOldest: gauge('waybill_blocked_oldest_seconds'),
    blockedStuck: gauge('waybill_blocked_stuck_seconds'),
    changes: gauge('waybill_changes_waiting'),
    changesOldest: gauge('waybill_changes_oldest_seconds'),
    open: gauge('waybill_deliveries_open', 'state'),
    holding: gauge('waybill_webhooks_holding'),
    incidents: gauge('waybill_incidents'),
    eshops: gauge('waybill_eshops', 'webhooks'),
    cursorsHeldUp: gauge('waybill_cursors_held_up_seconds', 'application'),
    mailsPending: gauge('waybill_mails_pending'),
    mailsOldest: gauge('waybill_mails_oldest_seconds'),
    mailsToFiles: gauge('waybill_mails_to_files'),
    mailsRefused: gauge('waybill_mails_refused'),

    connections: gauge('waybill_database_connections', 'state'),
    connectionsMost: gauge('waybill_database_connections_max'),
    temporalUp: gauge('waybill_temporal_up', 'worker'),

    logLinesLost: counter('waybill_log_lines_lost_total'),
    changeLoops: counter('waybill_change_loops_total', 'kind'),
    requests: histogram('waybill_request_duration_seconds', REQUEST_BUCKETS, 'method', 'status'),
  } as const;

  for (const type of Object.keys(eventTypes) as EventType[]) {
    for (const outcome of storedStates)
      if (!isOpen(outcome)) metrics.deliveries.inc({ outcome, event_type: type }, 0);
  }
  for (const status of statusClasses) metrics.attempts.inc({ status }, 0);
  for (const reason of ['retriesExhausted', 'gone']) metrics.deactivations.inc({ reason }, 0);
  for (const alarm of alarms) metrics.alarms.inc({ alarm }, 0);
  for (const direction of ['back', 'ahead']) metrics.clockSteps.inc({ direction }, 0);
  for (const { entity: kind, on } of Object.values(eventTypes))
    if (on === 'updated') metrics.changeLoops.inc({ kind }, 0);
  for (const outcome of ['sent', 'failed', 'refused']) metrics.mails.inc({ outcome }, 0);
  return metrics;
}

/** Adds the metrics of the process: processor time, memory, the event loop's delay. Their cost is small and fixed. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
}

export function statusClass(status: number | null) {
  const first = status === null ? 0 : Math.floor(status / 100);
  return statusClasses[first - 2] ?? 'none';
}
