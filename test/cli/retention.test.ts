/** `waybill retention`: the scheduled retention, run by hand. */
import { expect, it } from 'vitest';
import { databaseOfFile } from '../support/lifetimes.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';

const database = await databaseOfFile();
for (const table of ['events', 'deliveries', 'attempts']) {
  await database.sql.unsafe(`
    alter table ${table} detach partition ${table}_first;
    alter table ${table} attach partition ${table}_first for values from (minvalue) to ('01900000-0000-0000-0000-000000000000')`);
}

const waybill = (...args: string[]) => runWaybill(['retention', ...args], { DATABASE_URL: database.url });

it('a dry run lists the partitions, a run drops them, and a second one finds nothing', async () => {
  const would = await waybill('--dry-run');
  expect(would).toMatch(
    /^retention: .*dropped 3 partitions .*deliveries_first.*Nothing was changed \(dry run\)\.$/,
  );
  expect(JSON.parse(await waybill('--json'))).toMatchObject({
    dryRun: false,
    dropped: ['deliveries_first', 'attempts_first', 'events_first'].map((partition) => ({ partition })),
  });
  expect(await waybill()).toBe('retention: nothing to do.');
});
