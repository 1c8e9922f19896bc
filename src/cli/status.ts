/** The state of an instance, and its problems that need attention. */
import type { Client } from '@temporalio/client';
import type { Settings } from '../config/variables.ts';
import { databaseTime } from '../db/clock.ts';
import { hasRoom } from '../db/connection/disk.ts';
import type { Pool } from '../db/connection/pool.ts';
import { readChangeLoop } from '../db/console/change-loop.ts';
import { type ClockStep, lastClockStep } from '../db/maintenance/future-times.ts';
import { readCursorBlocker } from '../db/maintenance/low-water-mark.ts';
import { readVacuumBlockers } from '../db/maintenance/vacuum-blockers.ts';
import { type NoticesOverview, readNotices } from '../db/notices/overview.ts';
import { queueClasses, readOverdue } from '../db/overdue.ts';
import { countWindowsLost, readDatabase, readIncidents, readOpen, readOutbox } from '../db/overview.ts';
import { listRecoveriesUnderWay } from '../db/recoveries/recoveries.ts';
import { countOutOfRange, readPartitions } from '../db/retention/partitions.ts';
import { mailFolder } from '../db/settings.ts';
import { keeperOfDeadRows, openTransaction } from '../domain/database-session.ts';
import { duration } from '../domain/duration.ts';
import { counted, oneLine } from '../domain/text.ts';
import { isDatabaseError } from '../lib/database-away.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import type { TemporalTarget } from '../temporal/target.ts';
import { instanceOf, withDatabase } from './open-database.ts';
import { recoveryStatus } from './recovery-record.ts';

/** The state of the database; only the `problem` if it cannot be used. */
export type DatabaseStatus = { readonly problem: string } | Awaited<ReturnType<typeof askDatabase>>;

/** The state of Temporal; only the `problem` if it cannot be used. */
export type TemporalStatus = Awaited<ReturnType<typeof askTemporal>> | ReturnType<typeof statusProblem>;

export interface Status {
  readonly database: DatabaseStatus;
  /** Null if Temporal was not asked, or has not answered yet. */
  readonly temporal: TemporalStatus | null;
}

/**
 * How long a change may wait to be signaled, in seconds. Too low: a change that Temporal refuses a few times, once
 * per lease of 5 s, counts as late. Too high: workflows follow an old webhook for longer before anybody looks.
 */
export const CHANGE_LATE_SECONDS = 60;
/** How long an attempt in Temporal may be due, in seconds: workers take it within moments, unless all are busy. */
export const ATTEMPT_LATE_SECONDS = 300;
/** How long deliveries of a class may be due in the queue while no worker asks for any, in seconds. */
export const QUEUE_LATE_SECONDS = 300;
/** How long an open transaction may hold cursors and recoveries up: Waybill's take a moment, an import's a few. */
export const HELD_UP_LATE_SECONDS = 300;
/** A mail not sent for this long has been refused repeatedly, in seconds. Retries are a few minutes apart. */
export const MAIL_LATE_SECONDS = 3_600;
/** Every hour, partitions are created four weeks ahead. If fewer days than this are left, that has stopped. */
export const MIN_DAYS_AHEAD = 14;
const DAY_SECONDS = 24 * 3_600;
/** How long a step of the database's clock is reported, in milliseconds. */
const CLOCK_STEP_MS = 3_600_000;

/** The remedy for each cause that keeps dead rows or old write-ahead log. */
const REMEDIES = {
  archive: "fix its archive_command; Postgres' own log says why it fails",
  session: 'end it in its program',
  prepared: 'end it in its program, or with rollback prepared',
  slot: 'drop it unless its reader will return, or catch up',
};

/** The problems that a status may report. Monitoring matches these names, so each must keep its meaning. */
export const problemIds = [
  'database',
  'temporal',
  'noWorker',
  'unpolled',
  'diskFull',
  'windowsLost',
  'attemptsLate',
  'queueLate',
  'changesLate',
  'cursorsHeldUp',
  'deadRowsKept',
  'mailsLate',
  'mailsRefused',
  'clockStep',
  'partitionsEnd',
  'outOfRange',
] as const;

type Problems = Generator<readonly [id: (typeof problemIds)[number], message: string], void>;

/** Problems that need attention, each in a sentence that says where to look; empty if there are none. */
export function problemsOf({ database, temporal }: Status) {
  const found = [
    ...problemsOfDatabase(database),
    ...(temporal === null ? [] : problemsOfTemporal(temporal, database.problem === null)),
  ];
  return found.map(([id, message]) => ({ id, message }));
}

/** Only the sentences of the problems. */
export const messagesOf = (status: Status) => problemsOf(status).map(({ message }) => message);

const WITHOUT_TEMPORAL =
  'Events are still accepted, and attempts made from the queue. Retries that Temporal has planned wait until it is back.';

function* problemsOfTemporal(temporal: TemporalStatus, accepting: boolean): Problems {
  if (temporal.problem !== null) {
    const reassures = temporal.away && accepting;
    const reassurance = reassures ? ` ${WITHOUT_TEMPORAL}` : '';
    yield ['temporal', `${temporal.problem}${reassurance}`];
  } else if (temporal.workers.length === 0)
    yield [
      'noWorker',
      `No worker is polling the task queue ${temporal.taskQueue} of the namespace ${temporal.namespace}: start a process with ROLE=worker or ROLE=all.`,
    ];
  else if (temporal.unpolled.length > 0)
    yield [
      'unpolled',
      `No worker polls Temporal for ${temporal.unpolled.join(' and ')}: the workers' log says why. Restart them: nothing is lost.`,
    ];
}

function* problemsOfDatabase(database: DatabaseStatus): Problems {
  if (database.problem !== null) return yield ['database', database.problem];
  const { outbox, overdue, windowsLost, mails, heldUpBy, partitions, clockStep } = database;
  if (database.diskFull) yield ['diskFull', "The database's disk is full: writes fail until there is room."];
  if (windowsLost > 0)
    yield [
      'windowsLost',
      `${counted(windowsLost, 'delivery', 'deliveries')} expired in the last day because of a failure of Waybill itself: waybill deliveries list --window-lost names them, and the workers' log the reason.`,
    ];
  if (isLate(overdue.attemptSeconds, ATTEMPT_LATE_SECONDS))
    yield [
      'attemptsLate',
      `Attempts scheduled in Temporal are not starting; the oldest is overdue by ${duration(overdue.attemptSeconds * 1_000)}. Check that workers are polling; their log says why they fail.`,
    ];
  for (const waiting of queueClasses) {
    const seconds = overdue.queue[waiting];
    const lastClaimSeconds = overdue.lastClaims[waiting] ?? Number.POSITIVE_INFINITY;
    if (seconds <= QUEUE_LATE_SECONDS || lastClaimSeconds <= QUEUE_LATE_SECONDS) continue;
    yield [
      'queueLate',
      `No worker takes the deliveries of the class ${waiting} from the queue, the first due for ${duration(seconds * 1_000)}: the workers' log says why. Restart them: nothing is lost.`,
    ];
  }
  if (isLate(outbox.oldestChangeSeconds, CHANGE_LATE_SECONDS))
    yield [
      'changesLate',
      `${counted(outbox.changes, 'change')} to webhooks or pre-orders ${outbox.changes === 1 ? 'has' : 'have'} not been signaled to Temporal, the oldest for ${duration(outbox.oldestChangeSeconds * 1_000)}. See the workers' log for the reason.`,
    ];
  if (heldUpBy !== null && heldUpBy.seconds > HELD_UP_LATE_SECONDS)
    yield [
      'cursorsHeldUp',
      `Cursors and recoveries are waiting for ${openTransaction(heldUpBy)}: end it in its program, or run select pg_terminate_backend(${heldUpBy.pid}).`,
    ];
  for (const keeper of database.deadRowsKeptBy) {
    yield [
      'deadRowsKept',
      `The disk fills because dead rows or old write-ahead log are kept for ${keeperOfDeadRows(keeper)}: ${REMEDIES[keeper.kind]}.`,
    ];
  }
  if (isLate(mails.oldestSeconds, MAIL_LATE_SECONDS)) {
    const error = mails.lastError === null ? '' : `; ${mails.lastError}`;
    yield [
      'mailsLate',
      `${counted(mails.pending, 'mail to e-shops has', 'mails to e-shops have')} not been sent, the oldest waiting for ${duration(mails.oldestSeconds * 1_000)}, to ${eshopText(mails.oldestOf)}${error}: check SMTP_URL and the mail server.`,
    ];
  }
  if (mails.givenUp > 0) {
    const isOne = mails.givenUp === 1;
    yield [
      'mailsRefused',
      `${counted(mails.givenUp, 'mail was', 'mails were')} given up in the last day because the mail server refused ${isOne ? 'it' : 'them'}, ${isOne ? '' : 'the last one '}to ${eshopText(mails.givenUpOf)}, which does not know about it: correct its address with waybill eshop update, and ${isOne ? 'it is' : 'they are'} sent again.${isOne ? '' : " The lines of the workers' log with the alarm mailRefused name the others."}`,
    ];
  }
  if (clockStep !== null)
    yield [
      'clockStep',
      `The clock of the database was set ${clockStep.ms < 0 ? 'back' : 'ahead'} by ${duration(Math.abs(clockStep.ms))}, noticed at ${clockStep.at.toISOString()}: check its time synchronization.`,
    ];
  if (partitions.daysAhead < MIN_DAYS_AHEAD)
    yield [
      'partitionsEnd',
      `Partitions exist only for the next ${counted(Math.max(0, Math.floor(partitions.daysAhead)), 'day')}. Run waybill retention, and check that its schedule is not paused.`,
    ];
  if (partitions.outOfRange > 0)
    yield [
      'outOfRange',
      `${counted(partitions.outOfRange, 'row is', 'rows are')} outside all partitions: check the clocks of the machines.`,
    ];
}

/** "e-shop 7 (Tea Ltd)" */
export function eshopText(eshop: NoticesOverview['oldestOf']): string {
  return eshop === null ? 'an e-shop' : `e-shop ${eshop.id} (${oneLine(eshop.name)})`;
}

function isLate(seconds: number | null, bound: number): seconds is number {
  return seconds !== null && seconds > bound;
}

/** Values that change every second: cheap to read, however much is stored. */
async function readWork(sql: Pool) {
  return {
    outbox: await readOutbox(sql),
    open: await readOpen(sql),
    overdue: await readOverdue(sql),
    /** Active webhooks that have accepted nothing since an attempt failed. */
    failing: (await readIncidents(sql)).webhooks,
    /** Deliveries that expired within the last day because of a failure of Waybill itself. */
    windowsLost: await countWindowsLost(sql),
    ...(await readNotices(sql)),
    /** The open transaction that blocks cursors and recoveries; null if there is none. */
    heldUpBy: await readCursorBlocker(sql),
    recoveries: (await listRecoveriesUnderWay(sql)).map(recoveryStatus),
  };
}

/** The partitions of events, deliveries and attempts. */
async function partitionStatus(sql: Pool) {
  const { since, until, aheadSeconds } = await readPartitions(sql);
  const daysAhead = aheadSeconds / DAY_SECONDS;
  /** Rows outside of all weeks. */
  const outOfRange = await countOutOfRange(sql);
  return { since, until, daysAhead, outOfRange };
}

async function recentClockStep(sql: Pool): Promise<ClockStep | null> {
  const step = await lastClockStep(sql);
  const now = await databaseTime(sql);
  return step === null || Math.abs(now.getTime() - step.at.getTime()) > CLOCK_STEP_MS ? null : step;
}

/** Values that change slowly. */
export async function readStorage(sql: Pool) {
  return {
    ...(await readDatabase(sql)),
    partitions: await partitionStatus(sql),
    /** The folder of mails that are not sent; null if there is a mail server. */
    mailFolder: await mailFolder(sql),
    diskFull: !(await hasRoom(sql)),
    /** What keeps dead rows from being removed. */
    deadRowsKeptBy: await readVacuumBlockers(sql),
    /** A step of the clock within the last hour; null if there was none. */
    clockStep: await recentClockStep(sql),
    /** The record that is changed most often; null if none is in a loop. */
    changeLoop: await readChangeLoop(sql),
  };
}

/** All values. @param storage reads the values that change slowly; default: reads them now */
export async function askDatabase(sql: Pool, storage = () => readStorage(sql)) {
  return { problem: null, ...(await storage()), ...(await readWork(sql)) };
}

/** Asks Temporal for its workers and for paused workflows. @throws UserError if the configuration leads to none */
export async function askTemporal(settings: Settings) {
  // Loading the client takes longer than the calls.
  const { TemporalAway, withTemporal } = await import('./open-temporal.ts');
  const { workersSeen } = await import('../temporal/pollers.ts');
  const { pausedWorkflows } = await import('../temporal/paused.ts');
  const { isRateLimited } = await import('../temporal/rejection.ts');
  try {
    const ask = async (client: Client, { address, namespace, taskQueue }: TemporalTarget) => {
      const seen = await workersSeen(client, taskQueue).catch((error: unknown) => {
        if (isRateLimited(error)) throw error;
        throw new TemporalAway(`Temporal at ${address} does not answer: ${reasonOf(error)}.`);
      });
      const paused = await pausedWorkflows(client, taskQueue);
      return { problem: null, address, namespace, taskQueue, ...seen, paused };
    };
    return await withTemporal(settings, ask, { namesLimits: true });
  } catch (error) {
    // The server may come back by itself; any other error is a wrong configuration.
    if (error instanceof TemporalAway) return { problem: error.message, away: true };
    throw error;
  }
}

/** The message of a UserError, or of a failure of the database; any other error is rethrown. */
export function statusProblem(error: unknown): { problem: string; away?: true } {
  if (error instanceof UserError || isDatabaseError(error)) return { problem: error.message };
  throw error;
}

/** Whether nothing is configured and no instance has run in `DATA_DIR`; the database's problem already says so. */
async function isNowhere(settings: Settings): Promise<boolean> {
  if (settings.DATABASE_URL !== undefined || settings.TEMPORAL_ADDRESS !== undefined) return false;
  return (await instanceOf(settings)).databaseUrl === undefined;
}

export async function readStatus(settings: Settings): Promise<Status> {
  const [database, temporal] = await Promise.all([
    withDatabase(settings, (sql) => askDatabase(sql)).catch(statusProblem),
    isNowhere(settings).then((nowhere) => (nowhere ? null : askTemporal(settings).catch(statusProblem))),
  ]);
  return { database, temporal };
}
