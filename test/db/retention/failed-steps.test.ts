/** A step of the retention that fails stops no other, and is logged and counted; the run fails. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createRetentionActivities } from '../../../activities/retention.ts';
import { listPartitions } from '../../../src/db/retention/partitions.ts';
import { deleteWebhook } from '../../../src/db/webhooks/change.ts';
import { weekName } from '../../../src/domain/weeks.ts';
import { retain } from '../../../src/retention/retain.ts';
import { RetentionFailed } from '../../../src/retention/steps.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { insertShop, insertWebhook } from '../../support/database/events.ts';
import { firstWeek, insertDelivery, weeksAfter } from '../../support/database/weeks.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';

const DAY = 24 * 3_600_000;
const retentionMs = 30 * DAY;

let database: TestDatabase;
let monday: Date;
beforeEach(async () => {
  database = await databaseOfTest();
  const { sql } = database;
  const { eshopId, webhookId } = await insertShop(sql);
  const deleted = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await deleteWebhook(sql, eshopId, deleted);
  monday = await firstWeek(sql);
  await insertDelivery(sql, { eshopId, webhookId, at: new Date(monday.getTime() - DAY) });
  await sql`insert into import_keys (eshop_id, key, fingerprint, created_at) values (${eshopId}, '1', '', '2020-01-01')`;
  await sql`insert into former_request_settings (webhook_id, until, url, method, payload_version)
    values (${webhookId}, '2020-01-01', 'https://shop.example', 'POST', 'v2')`;
});

/** Makes these fail: the second week ahead, the drop of deliveries, the removal of keys. */
async function breakSome(): Promise<string> {
  const { sql } = database;
  const week = weekName(weeksAfter(monday, 7));
  // A table has a type of its name.
  await sql.unsafe(`
    create type attempts_${week} as enum ();
    create view report as select * from deliveries_first;
    create function fail() returns trigger language plpgsql as $$ begin raise 'somebody keeps this'; end $$;
    create trigger kept before delete on import_keys for each row execute function fail()`);
  return week;
}

async function repair(week: string): Promise<void> {
  await database.sql.unsafe(`drop type attempts_${week}; drop view report; drop trigger kept on import_keys`);
}

const retained = (now: Date) => retain(database.sql, { retentionMs, now });
const later = () => weeksAfter(monday, 6);

test('later steps still run, the run fails with all reasons, and the next run does the rest', async () => {
  const { sql } = database;
  const week = await breakSome();

  const error = await retained(later()).catch((thrown: unknown) => thrown);

  if (!(error instanceof RetentionFailed)) throw error;
  expect(error.done.failed).toEqual(['weeks ahead', 'deliveries_first', 'import_keys']);
  expect(error.message).toMatch(
    /^Steps of the retention failed, .+: weeks ahead \(.*already exists\); deliveries_first \(cannot drop .*\); import_keys \(somebody keeps this\)\.$/,
  );
  expect(error.done.made).toEqual([weekName(later())]);
  const dropped = error.done.dropped.map(({ partition }) => partition);
  expect(dropped.slice(0, 2)).toEqual(['attempts_first', 'events_first']);
  expect(error.done.forgotten).toMatchObject({ importKeys: 0, erased: 1 });
  expect(await sql`select from former_request_settings`).toEqual([]);
  const partitions = await listPartitions(sql);
  expect(partitions.filter((each) => each.week === week)).toEqual([]);

  await repair(week);
  const done = await retained(later());

  expect(done).toMatchObject({ failed: [], forgotten: { importKeys: 1 } });
  expect(done.made).toContain(week);
  expect(done.dropped.map(({ partition }) => partition)).toContain('deliveries_first');
});

test('the activity logs and counts each failed step, reports the rest, and fails', async () => {
  const { sql } = database;
  await breakSome();
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  let counted = 0;
  const { retain: run } = createRetentionActivities({
    sql,
    retentionMs,
    log,
    onRetentionFailure: () => {
      counted += 1;
    },
  });

  const running = new MockActivityEnvironment().run(run, { dryRun: false });

  await expect(running).rejects.toThrow('import_keys (somebody keeps this)');
  expect(counted).toBe(1);
  expect(logged).toMatchObject([
    { msg: 'a step of the retention failed', step: 'import_keys', level: 50 },
    { msg: expect.stringMatching(/^retention: made .*; 1 step failed: import_keys\.$/), level: 40 },
  ]);
});
