/** The state of a Waybill, and what of it needs somebody. */

import type { Settings } from '../config/variables.ts';
import { databaseTime } from '../db/clock.ts';
import { type ClockStep, lastClockStep } from '../db/future-times.ts';
import { mailFolder } from '../db/mail-folder.ts';
import { readDatabase, readMails, readOpen, readOutbox } from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { listRecoveriesUnderWay } from '../db/recoveries/recoveries.ts';
import { countAstray, readPartitions } from '../db/retention/partitions.ts';
import { counted } from '../domain/words.ts';
import { UserError } from '../lib/user-error.ts';
import { withDatabase } from './open-database.ts';
import { formatTime } from './policy-table.ts';
import { recoveryStatus } from './recovery-record.ts';

/** The partitions that events, deliveries and attempts lie in. */
interface PartitionStatus {
  /** What is older has been dropped; null where everything is still there. */
  readonly since: Date | null;
  /** Up to here there are partitions. */
  readonly until: Date;
  /** In days. */
  readonly daysAhead: number;
  /** Rows that belong to no week there is. */
  readonly astray: number;
}

/** What the database says; the `problem` alone where it cannot be used. */
export type DatabaseStatus = { readonly problem: string } | Awaited<ReturnType<typeof askDatabase>>;

/** What Temporal says; the `problem` alone where it cannot be used. */
export type TemporalStatus =
  | { readonly problem: string }
  | {
      readonly problem: null;
      readonly address: string;
      readonly namespace: string;
      readonly taskQueue: string;
      /** Identities of the workers that live. */
      readonly workers: readonly string[];
    };

export interface Status {
  readonly database: DatabaseStatus;
  readonly temporal: TemporalStatus;
}

/**
 * How long an entry of the outbox may wait while nothing is dispatched, in seconds: a refused start is tried again
 * after half a minute.
 */
export const OUTBOX_LATE_SECONDS = 60;
/** A mail that is owed for so long was refused again and again, in seconds. Retries are a few minutes apart. */
export const MAIL_LATE_SECONDS = 3_600;
/** Four weeks are made ahead, every hour: with less than this left nobody makes them. */
export const MIN_DAYS_AHEAD = 14;
const DAY_SECONDS = 24 * 3_600;
/** For how long a step of the database's clock is told, in milliseconds. */
const CLOCK_STEP_MS = 3_600_000;

/** What needs somebody, each in a sentence that says where to look; nothing where all is well. */
export function needsOf({ database, temporal }: Status): string[] {
  return [...needsOfDatabase(database), ...needsOfTemporal(temporal)];
}

function needsOfTemporal(temporal: TemporalStatus): string[] {
  if (temporal.problem !== null)
    return [`${temporal.problem} Events are still accepted, and delivered once it is back.`];
  if (temporal.workers.length > 0) return [];
  return [
    `No worker is polling the task queue ${temporal.taskQueue} of the namespace ${temporal.namespace}: start a process with ROLE=worker or ROLE=all.`,
  ];
}

function needsOfDatabase(database: DatabaseStatus): string[] {
  if (database.problem !== null) return [database.problem];
  const { outbox, mails, partitions, clockStep } = database;
  const needs: string[] = [];
  if (isLate(outbox.oldestSeconds, OUTBOX_LATE_SECONDS) && !outbox.moving) {
    const waiting = counted(outbox.fresh + outbox.handedBack, 'delivery', 'deliveries');
    needs.push(
      `Nothing is leaving the outbox: ${waiting} waiting, the oldest for ${formatTime(outbox.oldestSeconds * 1_000)}. See the workers' log for the reason.`,
    );
  }
  if (isLate(outbox.oldestChangeSeconds, OUTBOX_LATE_SECONDS)) {
    needs.push(
      `${counted(outbox.changes, 'change')} of webhooks or pre-orders ${outbox.changes === 1 ? 'has' : 'have'} not been passed on, the oldest for ${formatTime(outbox.oldestChangeSeconds * 1_000)}. See the workers' log for the reason.`,
    );
  }
  if (isLate(mails.oldestSeconds, MAIL_LATE_SECONDS)) {
    needs.push(
      `${counted(mails.owed, 'mail')} about deactivated webhooks not sent, the oldest waiting for ${formatTime(mails.oldestSeconds * 1_000)}: check SMTP_URL and the mail server.`,
    );
  }
  if (mails.refusedLately > 0) {
    needs.push(
      `${counted(mails.refusedLately, 'mail')} given up in the last day because the mail server refused ${mails.refusedLately === 1 ? 'it' : 'them'}: the e-shop does not know that its webhook is inactive.`,
    );
  }
  if (clockStep !== null) {
    needs.push(
      `The clock of the database was set ${clockStep.ms < 0 ? 'back' : 'ahead'} by ${formatTime(Math.abs(clockStep.ms))}, noticed at ${clockStep.at.toISOString()}: check its time synchronization.`,
    );
  }
  if (partitions.daysAhead < MIN_DAYS_AHEAD) {
    needs.push(
      `Partitions exist only for the next ${counted(Math.max(0, Math.floor(partitions.daysAhead)), 'day')}. Run waybill retention, and check that its schedule is not paused.`,
    );
  }
  if (partitions.astray > 0) {
    needs.push(
      `${counted(partitions.astray, 'row')} outside all partitions: check the clocks of the machines.`,
    );
  }
  return needs;
}

function isLate(seconds: number | null, bound: number): seconds is number {
  return seconds !== null && seconds > bound;
}

/** What changes from one second to the next: cheap, whatever is stored. */
export async function readWork(sql: Pool) {
  return {
    outbox: await readOutbox(sql),
    open: await readOpen(sql),
    mails: await readMails(sql),
    recoveries: (await listRecoveriesUnderWay(sql)).map(recoveryStatus),
  };
}

async function partitionStatus(sql: Pool): Promise<PartitionStatus> {
  const { since, until, aheadSeconds } = await readPartitions(sql);
  return { since, until, daysAhead: aheadSeconds / DAY_SECONDS, astray: await countAstray(sql) };
}

async function recentClockStep(sql: Pool): Promise<ClockStep | null> {
  const step = await lastClockStep(sql);
  const now = await databaseTime(sql);
  return step === null || Math.abs(now.getTime() - step.at.getTime()) > CLOCK_STEP_MS ? null : step;
}

/** What does not. */
export async function readStorage(sql: Pool) {
  return {
    ...(await readDatabase(sql)),
    partitions: await partitionStatus(sql),
    /** Where workers put mails that nobody gets; null where a mail server has them. */
    mailFolder: await mailFolder(sql),
    /** Of the last hour; null where there was none. */
    clockStep: await recentClockStep(sql),
  };
}

/** Both. */
export async function askDatabase(sql: Pool) {
  return { problem: null, ...(await readStorage(sql)), ...(await readWork(sql)) };
}

/** Asks Temporal who works. @throws UserError where it cannot be used */
export async function askTemporal(settings: Settings): Promise<TemporalStatus> {
  // Loading the client takes longer than the questions.
  const { withTemporal } = await import('./open-temporal.ts');
  const { workersSeen } = await import('../temporal/workers-seen.ts');
  return await withTemporal(settings, async (client, { address, namespace, taskQueue }) => {
    const workers = await workersSeen(client, taskQueue).catch((error: unknown) => {
      const words = error instanceof Error ? error.message : String(error);
      throw new UserError(`Temporal at ${address} does not answer: ${words}.`);
    });
    return { problem: null, address, namespace, taskQueue, workers };
  });
}

/** What is said by an error that is meant for people; any other is thrown on. */
export function problemOf(error: unknown): { problem: string } {
  if (error instanceof UserError) return { problem: error.message };
  throw error;
}

export async function readStatus(settings: Settings): Promise<Status> {
  const [database, temporal] = await Promise.all([
    withDatabase(settings, askDatabase).catch(problemOf),
    askTemporal(settings).catch(problemOf),
  ]);
  return { database, temporal };
}
