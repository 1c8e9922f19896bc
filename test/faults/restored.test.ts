/** The drill of docs/handbook/backup.md: all is lost, and Waybill continues with a backup of Postgres and its key. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEshopWithUsers } from '../../src/app/accounts.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { migrate } from '../../src/db/migrate.ts';
import { products } from '../../src/db/records/products.ts';
import { createRecord } from '../../src/db/records/write.ts';
import { transaction } from '../../src/db/transaction.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import { sampleProduct } from '../../src/domain/product/schema.ts';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { type ApiClient, login } from '../support/api/client.ts';
import { fireEvent, loseMany } from '../support/api/recoveries.ts';
import { type BackupMethod, byCopy, byDump } from '../support/database/postgres-backup.ts';
import { startProgram } from '../support/programs/program.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { nightly } from '../support/runner/nightly.ts';
import { freePort } from '../support/servers/ports.ts';
import { createReceiver, type Receiver } from '../support/servers/receiver.ts';
import { repaired } from '../support/temporal/repairs.ts';
import { until } from '../support/until.ts';

/** Events that a webhook lost; its recovery begins with 20, and continues once these are accepted. */
const LOST = 30;

const later = (ms: number) => new Date(Date.now() + ms).toISOString();
const keyOf = ({ headers }: Receiver['requests'][number]) =>
  `${headers['x-service-delivery']} ${headers['x-service-attempt']}`;

type Cleanup = (stop: () => Promise<void>) => void;

async function dataDir(onEnd: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-restored-'));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function emptyTemporal(onEnd: Cleanup) {
  const temporal = await startTemporal({ binary: await findTemporal({ report: () => {} }), ui: false });
  onEnd(() => temporal.stop());
  return temporal;
}

/** A receiver with its own webhook. */
async function subscribe(shop: ApiClient, onEnd: Cleanup, webhookType: EventType, status: number) {
  const receiver = await createReceiver({ status });
  onEnd(() => receiver.close());
  const webhook = { url: receiver.url, webhookType, active: true, method: 'POST' };
  const { data } = await shop.request('POST', '/webhooks', webhook);
  return { receiver, webhookId: data.id as number, type: webhookType };
}

/** The dump takes another minute. */
const tried = nightly ? [byCopy, byDump] : [byCopy];
const ways = tried.filter((way): way is BackupMethod => way !== undefined);

describe.each(ways)('from $name', (way) => {
  test('an empty installation continues all open deliveries, and reports its repairs', async ({
    onTestFinished: onEnd,
  }) => {
    const before = await way.start();
    onEnd(() => before.destroy());
    await migrate(before.url);
    const sql = createPool(before.url, 4);
    onEnd(() => sql.end({ timeout: 5 }));
    const credentials = await createEshopWithUsers(sql, { name: 'Shop', email: 'shop@example.test' });
    const { eshopId } = credentials;
    await transaction(sql, (tx) =>
      createRecord(tx, products, eshopId, 'shop', { ...sampleProduct, sku: 'MUG-BLUE' }),
    );
    const temporal = await emptyTemporal(onEnd);
    const common = {
      SECRET_KEY: randomBytes(32).toString('base64'),
      RETRY_INITIAL_INTERVAL: '5s',
      RETRY_COEFFICIENT: '1',
      RETRY_MAX: '1000',
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    };
    const env = {
      ...common,
      DATABASE_URL: before.url,
      TEMPORAL_ADDRESS: temporal.address,
      DATA_DIR: await dataDir(onEnd),
      // No server listens there.
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    };
    const program = await startProgram(env);
    onEnd(() => program.kill());
    const shop = await login(program.url, credentials);
    const ask = (...args: string[]) => triedWaybill(args, env);
    const stateOf = async (id: string) => (await shop.request('GET', `/deliveries/${id}`)).data?.state;
    const become = (id: string, state: string) =>
      until(`${id} ${state}`, async () => (await stateOf(id)) === state);
    /** A delivery with one attempt made. */
    const fire = async ({ receiver, type, webhookId }: Awaited<ReturnType<typeof subscribe>>) => {
      await fireEvent({ sql, eshopId }, `of ${type}`, type);
      await receiver.waitFor(1);
      const { data } = await shop.request('GET', `/webhooks/${webhookId}/deliveries`);
      return data[0].id as string;
    };

    const failing = await subscribe(shop, onEnd, 'CREATE_ORDER', 503);
    const inactive = await subscribe(shop, onEnd, 'UPDATE_ORDER', 503);
    const held = await subscribe(shop, onEnd, 'CREATE_PRODUCT', 503);
    const recovered = await subscribe(shop, onEnd, 'CREATE_RETURN', 503);
    const gone = await subscribe(shop, onEnd, 'UPDATE_RETURN', 410);
    const repeated = await subscribe(shop, onEnd, 'CREATE_RECEIVING', 503);
    const released = await subscribe(shop, onEnd, 'UPDATE_ORDER_STATUS', 200);

    const failingId = await fire(failing);
    await become(failingId, 'retrying');
    const inactiveId = await fire(inactive);
    await become(inactiveId, 'retrying');
    await ask('webhooks', 'deactivate', String(inactive.webhookId));
    await become(inactiveId, 'held');
    const heldId = await fire(held);
    await become(heldId, 'retrying');
    expect(await ask('deliveries', 'hold', heldId, '--by', 'anna')).toMatchObject({ code: 0 });
    await become(heldId, 'held');
    await loseMany({ sql, eshopId, webhookId: recovered.webhookId }, LOST);
    const recovery = await ask(
      'recover',
      String(recovered.webhookId),
      '--since',
      later(-3_600_000),
      '--json',
    );
    const { recoveryId } = JSON.parse(recovery.printed);
    await until(
      'the recovery to be under way',
      async () =>
        (await sql`select from deliveries where recovery_id = ${recoveryId} and state = 'retrying'`).length >=
        20,
    );
    await become(await fire(gone), 'failed');
    const repeatedId = await fire(repeated);
    await become(repeatedId, 'retrying');
    const preOrder = { status: 'preOrder', releaseAt: later(86_400_000) };
    expect(await shop.createOrder('P-1', preOrder)).toMatchObject({ statusCode: 200 });
    // Rows in the outbox of the backup are dispatched normally and need no repair.
    await until(
      'Temporal to know of the pre-order',
      async () => (await sql`select from changes_to_signal`).length === 0,
    );

    const untilThen = [failing, inactive, held, recovered, gone, repeated].map(({ receiver }) => ({
      receiver,
      requests: receiver.requests.length,
    }));
    const backup = await before.backUp();

    // Later events are lost, and later deliveries will be made again.
    repeated.receiver.respond({ status: 200 });
    await become(repeatedId, 'delivered');
    await fireEvent({ sql, eshopId }, 'after the backup', 'UPDATE_ORDER_STATUS');
    await released.receiver.waitFor(1);
    await program.kill();
    await temporal.stop();
    await sql.end({ timeout: 5 });
    await before.destroy();
    released.receiver.clear();

    const after = await backup.restore();
    onEnd(() => after.destroy());
    const another = await emptyTemporal(onEnd);
    const envAfter = {
      ...common,
      DATABASE_URL: after.url,
      TEMPORAL_ADDRESS: another.address,
      DATA_DIR: await dataDir(onEnd),
    };
    await expect(
      startProgram({ ...envAfter, SECRET_KEY: randomBytes(32).toString('base64') }),
    ).rejects.toThrow('SECRET_KEY is not the one that this database was created with.');
    const expected = [
      'delivery startedAgain missing',
      'mail startedAgain missing',
      'recovery startedAgain missing',
      'release startedAgain missing',
    ];
    const sqlAfter = createPool(after.url, 4);
    onEnd(() => sqlAfter.end({ timeout: 5 }));
    // The others are in the queue, and are dispatched from there.
    const open =
      await sqlAfter`select from deliveries where finished_at is null and dispatched_at is not null`;
    const planned = await triedWaybill(['reconcile', '--dry-run', '--json'], envAfter);
    expect(planned.error).toBeUndefined();
    const { repairs } = JSON.parse(planned.printed);
    expect(tally(repairs)).toEqual({
      [expected[0] ?? '']: open.length,
      [expected[1] ?? '']: 1,
      [expected[2] ?? '']: 1,
      [expected[3] ?? '']: 1,
    });

    for (const { receiver } of [failing, inactive, held, recovered]) receiver.respond({ status: 200 });
    const restored = await startProgram(envAfter);
    onEnd(() => restored.kill());
    await until('all of it to be repaired', async () =>
      expected.every((repair) => repair in repaired(restored.output())),
    );

    const shopAfter = await login(restored.url, credentials);
    const becomeAfter = (id: string, state: string) =>
      until(
        `${id} ${state}`,
        async () => (await shopAfter.request('GET', `/deliveries/${id}`)).data?.state === state,
      );
    await becomeAfter(failingId, 'delivered');
    await becomeAfter(repeatedId, 'delivered');
    await becomeAfter(heldId, 'held');
    await becomeAfter(inactiveId, 'held');
    expect(await triedWaybill(['deliveries', 'resume', heldId], envAfter)).toMatchObject({ code: 0 });
    await triedWaybill(['webhooks', 'activate', String(inactive.webhookId)], envAfter);
    await becomeAfter(heldId, 'delivered');
    await becomeAfter(inactiveId, 'delivered');
    await until(
      'the end of the recovery',
      async () => (await sqlAfter`select from recoveries where state = 'completed'`).length === 1,
    );
    const ends = await sqlAfter`select state from deliveries where recovery_id = ${recoveryId}`;
    expect(ends.map(({ state }) => state)).toEqual(Array.from({ length: LOST }, () => 'delivered'));
    const mails = async () =>
      (await readdir(join(envAfter.DATA_DIR, 'mail')).catch(() => [])).filter((name) =>
        name.endsWith('.eml'),
      );
    await until('the mail', async () => (await mails()).length > 0);
    const texts = await Promise.all(
      (await mails()).map((name) => readFile(join(envAfter.DATA_DIR, 'mail', name), 'utf8')),
    );
    expect(texts.filter((text) => text.includes(gone.receiver.url))).toHaveLength(1);
    await shopAfter.request('PATCH', '/orders/P-1', { releaseAt: later(2_000) });
    await released.receiver.waitFor(({ text }) => text.includes('"P-1"'));
    expect((await sqlAfter`select from events where entity_id = 'after the backup'`).length).toBe(0);

    // At least once: an attempt is repeated only if the backup does not know of it.
    for (const { receiver, requests } of untilThen) {
      const keys = receiver.requests.map(keyOf);
      const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
      const unknown = keys.slice(requests);
      expect(twice.filter((key) => !unknown.includes(key))).toEqual([]);
      expect(new Set(twice).size).toBe(twice.length);
    }
    const repeats = repeated.receiver.requests.filter(
      ({ headers }) => headers['x-service-delivery'] === repeatedId,
    );
    expect(repeats.length).toBeGreaterThan(2);

    await until('nobody to be needed', async () => (await triedWaybill(['status'], envAfter)).code === 0);
    expect((await triedWaybill(['reconcile'], envAfter)).printed).toMatch(/ checked: nothing to repair\.$/);
    expect(repaired(restored.output())).toEqual(tally(repairs));
  });
});

/** How often each kind of record is repaired for each reason. */
function tally(repairs: readonly { kind: string; action: string; reason: string }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { kind, action, reason } of repairs) {
    const key = `${kind} ${action} ${reason}`;
    sums[key] = (sums[key] ?? 0) + 1;
  }
  return sums;
}
