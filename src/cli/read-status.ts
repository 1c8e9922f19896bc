/**
 * Asks the database and Temporal how things are. What cannot be reached is said, and does not keep the other from answering.
 */
import type { Settings } from '../config/variables.ts';
import { databaseTime } from '../db/clock.ts';
import { readDatabase, readMails, readOpen, readOutbox } from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { listRecoveriesUnderWay } from '../db/recoveries/recoveries.ts';
import { countAstray, DEFAULT, listPartitions, type Partition } from '../db/retention/partitions.ts';
import { UserError } from '../lib/user-error.ts';
import { withDatabase } from './open-database.ts';
import { recoveryStatus } from './recovery-record.ts';
import type { DatabaseStatus, PartitionStatus, Status, TemporalStatus } from './status.ts';

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

/** Asks both. */
export async function readStatus(settings: Settings): Promise<Status> {
  const [database, temporal] = await Promise.all([
    withDatabase(settings, askDatabase).catch(problemOf),
    askTemporal(settings).catch(problemOf),
  ]);
  return { database, temporal };
}
