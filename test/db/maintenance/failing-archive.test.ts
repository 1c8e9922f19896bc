/** What keeps log or dead rows only on a server that is set up for it: a failing archive, prepared transactions. */
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/connection/pool.ts';
import { readVacuumBlockers } from '../../../src/db/maintenance/vacuum-blockers.ts';
import { keeperOfDeadRows } from '../../../src/domain/database-session.ts';
import { postgresPrograms } from '../../../src/embedded/postgres-cluster.ts';
import { databaseOn } from '../../support/database/other-postgres.ts';

/** On a server of its own, with this setting. */
async function poolWith(setting: string) {
  const programs = dirname((await postgresPrograms()).pg_ctl);
  const sql = createPool(await databaseOn(programs, [`-c ${setting}`]), 1);
  onTestFinished(() => sql.end({ timeout: 5 }));
  return sql;
}

test('a failing archive is reported from its failure to its next success', async () => {
  const sql = await poolWith('archive_mode=on');
  const archiveBy = async (command: string) => {
    await sql.unsafe(`alter system set archive_command = '${command}'`);
    await sql`select pg_reload_conf()`;
    await sql`select pg_logical_emit_message(false, 'waybill', 'some log')`;
    await sql`select pg_switch_wal()`;
  };
  const named = async () => (await readVacuumBlockers(sql)).map(keeperOfDeadRows);
  const eventually = { timeout: 30_000, interval: 200 };

  expect(await named()).toEqual([]);
  await archiveBy('false');
  const archive = 'the failing archive of the write-ahead log (last success: ';
  await expect.poll(named, eventually).toEqual([`${archive}never)`]);
  await archiveBy('true');
  await expect.poll(named, eventually).toEqual([]);
  await archiveBy('false');
  await expect.poll(named, eventually).toEqual([expect.stringMatching(/last success: 2.*Z\)$/)]);
});

test('a prepared transaction is reported until it ends', async () => {
  const sql = await poolWith('max_prepared_transactions=1');
  const named = async (seconds?: number) =>
    (await readVacuumBlockers(sql, seconds === undefined ? {} : { seconds })).map(keeperOfDeadRows);
  await sql.unsafe(`begin; create table t (id int); prepare transaction 'of an import'`);
  expect(await named()).toEqual([]);
  expect(await named(0)).toEqual([
    expect.stringMatching(/^the prepared transaction of an import, open since 2.*Z$/),
  ]);
  await sql.unsafe(`rollback prepared 'of an import'`);
  expect(await named(0)).toEqual([]);
});
