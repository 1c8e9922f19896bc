/** The state of a Waybill, and what of it needs somebody. */

import type { Settings } from '../config/variables.ts';
import { databaseTime } from '../db/clock.ts';
import {
  type DatabaseOverview,
  type MailOverview,
  type OpenOverview,
  type OutboxOverview,
  readDatabase,
  readMails,
  readOpen,
  readOutbox,
} from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { listRecoveriesUnderWay } from '../db/recoveries/recoveries.ts';
import { countAstray, DEFAULT, listPartitions, type Partition } from '../db/retention/partitions.ts';
import type { RecoveryStatus } from '../domain/recovery-progress.ts';
import { counted } from '../domain/words.ts';
import { UserError } from '../lib/user-error.ts';
import { withDatabase } from './open-database.ts';
import { formatTime } from './policy-table.ts';
import { recoveryStatus } from './recovery-record.ts';

/** The partitions that events, deliveries and attempts lie in. */
export interface PartitionStatus {
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
export type DatabaseStatus =
  | { readonly problem: string }
  | (DatabaseOverview & {
      readonly problem: null;
      readonly outbox: OutboxOverview;
      readonly open: OpenOverview;
      readonly mails: MailOverview;
      readonly recoveries: readonly RecoveryStatus[];
      readonly partitions: PartitionStatus;
    });

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
  const { outbox, mails, partitions } = database;
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

const DAY_MS = 24 * 3_600_000;

/** Of the table that is furthest behind. */
function partitionStatus(partitions: readonly Partition[], now: Date, astray: number): PartitionStatus {
  const weeks = partitions.filter(({ week }) => week !== DEFAULT);
  const ends = new Map<string, number>();
  for (const { table, until } of weeks) {
    ends.set(table, Math.max(ends.get(table) ?? 0, until?.getTime() ?? 0));
  }
  const until = new Date(ends.size === 0 ? now : Math.min(...ends.values()));
  const since = weeks[0]?.from ?? null;
  return { since, until, daysAhead: (until.getTime() - now.getTime()) / DAY_MS, astray };
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

/** What does not. */
export async function readStorage(sql: Pool) {
  return {
    ...(await readDatabase(sql)),
    partitions: partitionStatus(await listPartitions(sql), await databaseTime(sql), await countAstray(sql)),
  };
}

async function askDatabase(sql: Pool): Promise<DatabaseStatus> {
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
