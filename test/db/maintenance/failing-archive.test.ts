/** An archive of the write-ahead log that fails keeps the log until the disk is full. */
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/connection/pool.ts';
import { readVacuumBlockers } from '../../../src/db/maintenance/vacuum-blockers.ts';
import { keeperOfDeadRows } from '../../../src/domain/database-session.ts';
import { postgresPrograms } from '../../../src/embedded/postgres-cluster.ts';
import { databaseOn } from '../../support/database/other-postgres.ts';

test('it is named from its failure to its next success', async () => {
  const programs = dirname((await postgresPrograms()).pg_ctl);
  const sql = createPool(await databaseOn(programs, ['-c archive_mode=on']), 1);
  onTestFinished(() => sql.end({ timeout: 5 }));
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
