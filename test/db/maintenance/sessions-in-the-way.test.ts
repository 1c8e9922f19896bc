/** Others' sessions that hold something up are named: a real second session, even where this user sees little. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askDatabase, messagesOf } from '../../../src/cli/status.ts';
import { databaseRows, statusTable } from '../../../src/cli/status-command.ts';
import { createPool, type Pool } from '../../../src/db/connection/pool.ts';
import {
  BLOCKER_AGE_SECONDS,
  lowWaterMark,
  readCursorBlocker,
} from '../../../src/db/maintenance/low-water-mark.ts';
import { readVacuumBlockers } from '../../../src/db/maintenance/vacuum-blockers.ts';
import { beginRecovery, readRecovery } from '../../../src/db/recoveries/recoveries.ts';
import { stepRecovery } from '../../../src/db/recoveries/step.ts';
import { schemaStep } from '../../../src/db/retention/schema-step.ts';
import { keeperOfDeadRows } from '../../../src/domain/database-session.ts';
import { timeOf } from '../../../src/domain/id-time.ts';
import { operatorsRecoveryReason, recoveryReason } from '../../../src/domain/recovery.ts';
import { readDatabaseMetrics } from '../../../src/metrics/database-metrics.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { makeAhead } from '../../../src/retention/retain.ts';
import { insertShop } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { sampleOf, samplesOf } from '../../support/metrics.ts';

const database = await databaseOfFile();
const { sql } = database;
// As the program does at its start: on a Monday the schema alone reaches 13 days ahead, which `status` would name.
await makeAhead(sql);

/** Another program's session, with an open transaction that has run this statement. */
async function openTransaction(
  statement: string,
  isolation = 'read committed',
  application_name = 'legacy import',
) {
  const other = postgres(database.url, { max: 1, onnotice: () => {}, connection: { application_name } });
  const tx = await other.reserve();
  await tx.unsafe(`begin isolation level ${isolation}`);
  await tx.unsafe(statement);
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  let open = true;
  const end = async () => {
    if (!open) return;
    open = false;
    await tx.unsafe('rollback');
    tx.release();
    await other.end();
  };
  onTestFinished(end);
  return { pid: row?.pid ?? 0, end };
}

/** A pool of a user that may not see into other users' sessions. */
async function limitedPool() {
  const role = `r_${randomBytes(4).toString('hex')}`;
  await sql.unsafe(`create role ${role} login password '${role}'`);
  const url = new URL(database.url);
  url.username = role;
  url.password = role;
  const limited = createPool(url.href, 1);
  onTestFinished(async () => {
    await limited.end({ timeout: 5 });
    await sql.unsafe(`drop role ${role}`);
  });
  return limited;
}

const WRITES = "insert into settings (name, value) values ('of another program', '')";
/** The mark itself is a millisecond; what is shown waits for the transaction to be old enough. */
const untilAwaited = async (sql: Pool) => {
  await expect
    .poll(() => readCursorBlocker(sql), { timeout: 4 * BLOCKER_AGE_SECONDS * 1_000 })
    .not.toBeNull();
  return await readCursorBlocker(sql);
};

describe('an open transaction', () => {
  test('delays cursors and recoveries if it has written, and is reported until it ends', async () => {
    const { eshopId, webhookId } = await insertShop(sql);
    expect(await readCursorBlocker(sql)).toBeNull();
    const { pid, end } = await openTransaction(WRITES);
    const mark = await lowWaterMark(sql);
    const begun = await beginRecovery(sql, {
      eshopId,
      webhookId,
      since: new Date(Date.now() - 3_600_000),
      until: null,
      include: ['failed'],
    });
    await stepRecovery(sql, begun.recoveryId);

    const holdUp = await untilAwaited(sql);
    expect(holdUp).toMatchObject({ pid, application: 'legacy import', since: expect.any(Date) });
    const named = `database process ${pid} (legacy import), whose transaction has been open since ${holdUp?.since?.toISOString()}`;
    expect(await lowWaterMark(sql)).toBe(mark);

    const stopped = await stepRecovery(sql, begun.recoveryId);
    expect(stopped?.recovery).toMatchObject({ state: 'running', exhausted: false });
    const recovery = await readRecovery(sql, begun.recoveryId);
    if (recovery === null) throw new Error('There is no recovery.');
    expect(operatorsRecoveryReason(recovery)).toBe(`Nothing is left to send; its end waits for ${named}.`);
    // Its e-shop learns that it waits, and nothing of other programs.
    expect(recoveryReason(recovery)).toBe(
      'Nothing is left to send; it ends once everything that is still being written is complete.',
    );

    const status = await askDatabase(sql);
    expect(databaseRows(status)).toContainEqual(['Cursors', `wait for ${named}`]);
    expect(statusTable({ database: status, temporal: null })).toContain(`its end waits for ${named}.`);
    expect(messagesOf({ database: status, temporal: null })).toEqual([]);
    const late = {
      ...status,
      heldUpBy: { ...(holdUp ?? { pid, application: null, since: null }), seconds: 301 },
    };
    expect(messagesOf({ database: late, temporal: null })).toEqual([
      `Cursors and recoveries are waiting for ${named}: end it in its program, or run select pg_terminate_backend(${pid}).`,
    ]);

    const metrics = createMetrics();
    const read = readDatabaseMetrics(metrics, sql, async () => true, { cachedMs: 0, readTimeoutMs: 30_000 });
    const heldUpSeconds = async (application: string) => {
      await read();
      const samples = samplesOf(await metrics.registry.metrics());
      return sampleOf(samples, 'waybill_cursors_held_up_seconds', { application });
    };
    expect(await heldUpSeconds('legacy import')).toBeGreaterThan(BLOCKER_AGE_SECONDS);

    await end();
    await expect.poll(() => readCursorBlocker(sql)).toBeNull();
    expect(await heldUpSeconds('')).toBe(0);
    expect(await heldUpSeconds('legacy import')).toBeUndefined();
    await expect
      .poll(async () => {
        await stepRecovery(sql, begun.recoveryId);
        return (await readRecovery(sql, begun.recoveryId))?.state;
      })
      .toBe('completed');
    const after = await readRecovery(sql, begun.recoveryId);
    expect(after === null ? '' : operatorsRecoveryReason(after)).toBeNull();
  });

  test('delays cursors also if it belongs to a Waybill under another user, with a hidden start', async () => {
    const limited = await limitedPool();
    const { pid, end } = await openTransaction(WRITES, 'read committed', 'waybill');
    const [row] = await sql<
      { begun: Date }[]
    >`select xact_start as begun from pg_stat_activity where pid = ${pid}`;
    const begun = row?.begun ?? new Date(0);
    const isPassed = async () => timeOf(await lowWaterMark(limited)) > begun;
    // By now the mark of one that saw nothing would have passed it.
    await expect
      .poll(
        async () => {
          const [now] =
            await sql`select clock_timestamp() > ${begun}::timestamptz + interval '2 seconds' as late`;
          return now?.late;
        },
        { timeout: 10_000 },
      )
      .toBe(true);
    expect(await isPassed()).toBe(false);
    await end();
    await expect.poll(isPassed).toBe(true);
  });

  test('delays nothing if it only reads', async () => {
    await openTransaction('select 1 from settings', 'repeatable read');
    const mark = await lowWaterMark(sql);
    await expect.poll(async () => (await lowWaterMark(sql)) > mark, { timeout: 10_000 }).toBe(true);
    expect(await readCursorBlocker(sql)).toBeNull();
  });
});

describe('vacuum blockers', () => {
  const sooner = { seconds: 0, transactions: 1_000_000, walBytes: 2 ** 40 };

  test('a session with an old snapshot is reported, with its program and start', async () => {
    expect(await readVacuumBlockers(sql)).toEqual([]);
    const { pid, end } = await openTransaction('select 1 from settings', 'repeatable read');
    const [keeper, ...others] = await readVacuumBlockers(sql, sooner);
    expect(others).toEqual([]);
    expect(keeper).toMatchObject({
      kind: 'session',
      pid,
      application: 'legacy import',
      since: expect.any(Date),
    });
    expect(await readVacuumBlockers(sql)).toEqual([]);
    const status = { ...(await askDatabase(sql)), deadRowsKeptBy: keeper === undefined ? [] : [keeper] };
    expect(databaseRows(status)).toContainEqual([
      'Disk',
      expect.stringMatching(
        `^dead rows or old log kept for database process ${pid} \\(legacy import\\), whose transaction has been open since `,
      ),
    ]);
    expect(messagesOf({ database: status, temporal: null })).toEqual([
      expect.stringMatching(
        `^The disk fills because .* database process ${pid} .*: end it in its program\\.$`,
      ),
    ]);
    const metrics = createMetrics();
    const eager = { cachedMs: 0, readTimeoutMs: 30_000, deadRows: sooner };
    const read = readDatabaseMetrics(metrics, sql, async () => true, eager);
    const keepers = async () => {
      await read();
      return sampleOf(samplesOf(await metrics.registry.metrics()), 'waybill_dead_rows_keepers');
    };
    expect(await keepers()).toBe(1);
    await end();
    await expect.poll(() => readVacuumBlockers(sql, sooner)).toEqual([]);
    expect(await keepers()).toBe(0);
  });

  test('a session that this user may not inspect is reported with the known facts', async () => {
    const limited = await limitedPool();
    const { pid } = await openTransaction('select 1 from settings', 'repeatable read');
    await sql`select pg_current_xact_id()`;
    // Its age in transactions alone is known.
    expect(await readVacuumBlockers(limited, { ...sooner, transactions: 1_000_000 })).toEqual([]);
    const seen = await readVacuumBlockers(limited, { ...sooner, transactions: 0 });
    const keeper = seen.find((each) => each.kind === 'session' && each.pid === pid);
    expect(keeper).toMatchObject({ application: 'legacy import', since: null });
    expect(keeper === undefined ? '' : keeperOfDeadRows(keeper)).toMatch(
      `database process ${pid} (legacy import), with a snapshot `,
    );
    expect(await readCursorBlocker(limited)).toBeNull();
  });

  test('an unused replication slot is reported', async () => {
    const name = `s_${randomBytes(4).toString('hex')}`;
    const made = await sql`select pg_create_physical_replication_slot(${name}, true)`.catch(
      (error: Error) => error,
    );
    // A server that writes no log for replication has no slots.
    if (made instanceof Error) return expect(made.message).toMatch(/wal_level|max_replication_slots/);
    onTestFinished(async () => {
      await sql`select pg_drop_replication_slot(${name})`;
    });
    const bounds = { ...sooner, walBytes: -1 };
    const seen = (await readVacuumBlockers(sql, bounds)).find(
      (each) => each.kind === 'slot' && each.name === name,
    );
    // Other tests write to the same log.
    expect(seen === undefined ? '' : keeperOfDeadRows(seen)).toMatch(
      new RegExp(`^the replication slot ${name}, unused, with \\d+\\.\\d GiB of write-ahead log$`),
    );
  });

  test('a replication slot whose reader is behind is reported beyond a bound of its own', async () => {
    const reader = await sql.reserve();
    onTestFinished(() => reader.release());
    const name = `s_${randomBytes(4).toString('hex')}`;
    // A temporary slot is in use by its session.
    const made = await reader`select pg_create_physical_replication_slot(${name}, true, true)`.catch(
      (error: Error) => error,
    );
    if (made instanceof Error) return expect(made.message).toMatch(/wal_level|max_replication_slots/);
    const named = async (inUseWalBytes: number) =>
      (await readVacuumBlockers(sql, { ...sooner, walBytes: -1, inUseWalBytes }))
        .map(keeperOfDeadRows)
        .filter((text) => text.includes(name));
    try {
      expect(await named(2 ** 40)).toEqual([]);
      const text = new RegExp(
        `^the replication slot ${name}, whose reader is behind, with \\d+\\.\\d GiB of write-ahead log$`,
      );
      expect(await named(-1)).toEqual([expect.stringMatching(text)]);
    } finally {
      await reader`select pg_drop_replication_slot(${name})`;
    }
  });
});

test('a retention that had to skip a table names the session that blocked it', async () => {
  const { pid, end } = await openTransaction('lock table events in share update exclusive mode');
  const lock = () => schemaStep(sql, (tx) => tx`lock table only events in share update exclusive mode`, 3);
  await expect(lock()).rejects.toThrow(
    new RegExp(
      `^a table was in use throughout, by database process ${pid} \\(legacy import\\), which has held a lock on events for \\d+ s$`,
    ),
  );
  await end();
  await lock();
});
