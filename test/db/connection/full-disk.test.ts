/**
 * A database short of something (SQLSTATE class 53): a full disk is named in answers, readiness, status and commands
 * until a new file can be written; and no process is unready because others have all connections.
 */
import { randomBytes } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { watchDisk } from '../../../src/db/connection/disk.ts';
import { databaseAnswers } from '../../../src/db/connection/health.ts';
import { createPool, type Pool } from '../../../src/db/connection/pool.ts';
import { createTestApi, type TestApi } from '../../support/api/api.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';
import { triedWaybill } from '../../support/programs/waybill-command.ts';
import { until } from '../../support/until.ts';

/** Inserts into `webhooks` and `users`, and new tables, fail as on a full disk. @returns how to end it */
async function fillDisk(sql: Pool): Promise<() => Promise<void>> {
  const raise = `begin raise exception 'could not extend file "base/1/1": No space left on device' using errcode = 'disk_full'; end`;
  await sql.unsafe(`
    create function no_room() returns trigger language plpgsql as $$${raise}$$;
    create function no_room_for_tables() returns event_trigger language plpgsql as $$${raise}$$;
    create trigger no_room before insert on webhooks for each row execute function no_room();
    create trigger no_room before insert on users for each row execute function no_room();
    create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE AS') execute function no_room_for_tables()`);
  const empty = async () => {
    await sql.unsafe(
      'drop event trigger if exists no_room; drop function if exists no_room, no_room_for_tables cascade',
    );
  };
  onTestFinished(empty);
  return empty;
}

async function apiWithWatch() {
  let isFull = () => false;
  const api = await createTestApi({ isDiskFull: () => isFull() });
  onTestFinished(() => api.drop());
  const changes: boolean[] = [];
  const disk = watchDisk({
    pools: [api.sql],
    sql: api.deps.healthSql,
    onChange: (full) => changes.push(full),
    intervalMs: 20,
  });
  onTestFinished(() => disk.stop());
  isFull = disk.isFull;
  return { api, changes };
}

const createWebhook = (api: TestApi) =>
  api.shop('POST', '/v21/webhooks', {
    url: 'https://shop.example/hook',
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });

test('responses and readiness report a full disk; with free space the instance is ready again', async () => {
  const { api, changes } = await apiWithWatch();
  const empty = await fillDisk(api.sql);
  expect((await api.anonymous('GET', '/readyz')).status).toBe(200);

  const refused = await createWebhook(api);

  expect(refused.status).toBe(503);
  expect(refused.body.message).toMatch(/^The database's disk is full\. Try again shortly \(request \S+\)\.$/);
  const ready = await api.anonymous('GET', '/readyz');
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.text)).toMatchObject({
    database: 'full',
    message: "The database's disk is full.",
  });
  expect(changes).toEqual([true]);

  await empty();
  await until('readiness', async () => (await api.anonymous('GET', '/readyz')).status === 200);
  expect(changes).toEqual([true, false]);
  expect((await createWebhook(api)).status).toBe(200);
});

test('status and commands name a full disk in one sentence', async () => {
  const { sql, url } = await databaseOfTest();
  const waybill = (...words: string[]) =>
    triedWaybill(words, { DATABASE_URL: url, TEMPORAL_ADDRESS: inject('temporalAddress') });
  const empty = await fillDisk(sql);

  expect((await waybill('status')).error).toMatch(
    /^The database's disk is full: writes fail until there is room\.$/m,
  );
  expect((await waybill('eshop', 'create', '--name', 'Shop', '--email', 'shop@example.test')).error).toBe(
    'The database\'s disk is full: could not extend file "base/1/1": No space left on device.',
  );
  await empty();
  expect((await waybill('status')).error).not.toContain('disk');
});

test('a process is ready although other sessions use all connections', async () => {
  const { sql, url } = await databaseOfTest();
  const role = `crowded_${randomBytes(4).toString('hex')}`;
  await sql.unsafe(`create role ${role} login password 'secret' connection limit 1`);
  onTestFinished(async () => {
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  });
  const crowded = Object.assign(new URL(url), { username: role, password: 'secret' }).href;
  const working = createPool(crowded, 1);
  const health = createPool(crowded, 1);
  onTestFinished(() => working.end({ timeout: 5 }));
  onTestFinished(() => health.end({ timeout: 5 }));
  await working`select 1`;

  expect(await databaseAnswers(health)).toBe(false);
  expect(await databaseAnswers(health, working)).toBe(true);
  const { error } = await triedWaybill(['status'], { DATABASE_URL: crowded });
  expect(error).toMatch(/^The database accepts no more connections: too many connections for role/);
});
