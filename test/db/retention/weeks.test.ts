/** Old data is dropped a week at a time; needed data stays; the coming weeks are made ahead. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { counted } from '../../../src/db/connection/pool.ts';
import { countAllDeliveries, listAllDeliveries } from '../../../src/db/deliveries/all-deliveries.ts';
import { compensate } from '../../../src/db/deliveries/compensation.ts';
import { findDelivery } from '../../../src/db/deliveries/delivery-log.ts';
import { findDeactivationMail, readDeactivation } from '../../../src/db/notices/notice.ts';
import { recordNoticeSent } from '../../../src/db/notices/outcome.ts';
import { redeliver } from '../../../src/db/outbox/redeliver.ts';
import { removeEvents } from '../../../src/db/retention/old-rows.ts';
import { pagedDelete } from '../../../src/db/retention/pages.ts';
import { dropPartition, listPartitions, partitionedTables } from '../../../src/db/retention/partitions.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { deleteWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { weekName } from '../../../src/domain/weeks.ts';
import { makeAhead, retain } from '../../../src/retention/retain.ts';
import { summary } from '../../../src/retention/summary.ts';
import { emptyTables } from '../../support/database/database.ts';
import { insertShop } from '../../support/database/events.ts';
import { untilBlocked } from '../../support/database/lock-waits.ts';
import { firstWeek, insertDelivery, remakeWeeks, weeksAfter } from '../../support/database/weeks.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

const DAY = 24 * 3_600_000;
const retentionMs = 30 * DAY;

const { sql } = await databaseOfFile();
/** The end of the first partition, a Monday. */
const monday = await firstWeek(sql);
/** The time at which everything in the first partition is just old enough. */
const later = new Date(monday.getTime() + retentionMs);
let eshopId: number;
let webhookId: number;
beforeEach(async () => {
  ({ eshopId, webhookId } = await insertShop(sql));
});
afterEach(async () => {
  await remakeWeeks(sql, monday);
  await emptyTables(sql);
});

type How = Partial<Parameters<typeof insertDelivery>[1]>;
const insert = (at: Date, how: How = {}) => insertDelivery(sql, { eshopId, webhookId, at, ...how });
const daysBefore = (time: Date, days = 1) => new Date(time.getTime() - days * DAY);

async function weeksOf(table: string): Promise<string[]> {
  const partitions = await listPartitions(sql);
  return partitions.filter((partition) => partition.table === table).map(({ week }) => week);
}

/** The week of a row: the end of its partition's name. */
async function weekWith(table: (typeof partitionedTables)[number], id: string): Promise<string | undefined> {
  const key = sql(table === 'attempts' ? 'delivery_id' : 'id');
  const [row] = await sql<{ name: string }[]>`
    select tableoid::regclass::text as name from ${sql(table)} where ${key} = ${id}`;
  return row?.name.slice(table.length + 1);
}

const run = (now: Date) => retain(sql, { retentionMs, now });
const names = (partitions: readonly { partition: string }[]) => partitions.map(({ partition }) => partition);
const firstPartitions = ['deliveries_first', 'attempts_first', 'events_first'];

describe('weeks made ahead', () => {
  test('after the migrations there are the first week, the next one, and an empty default', async () => {
    for (const table of partitionedTables) {
      expect(await weeksOf(table)).toEqual(['first', weekName(monday), 'default']);
    }
    const { id, eventId } = await insert(new Date());
    expect(await weekWith('deliveries', id)).toBe('first');
    expect(await weekWith('events', eventId)).toBe('first');
  });

  // Here, since the partitions of the migrations are still those with which it is compared.
  test('a partition made later has every index of the earlier ones', async () => {
    await makeAhead(sql, { now: weeksAfter(monday, 1) });
    const indexes = (table: string) => sql<{ definition: string }[]>`
      select regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', '') as definition from pg_index
      where indrelid = ${table}::regclass and indisvalid order by 1`;

    const newest = `deliveries_${weekName(weeksAfter(monday, 5))}`;
    expect(await indexes(newest)).toEqual(await indexes('deliveries_first'));
    expect((await indexes(newest)).length).toBeGreaterThan(4);
  });

  test('four weeks are ready beyond the present one, for each table; a second run makes none', async () => {
    const now = new Date(weeksAfter(monday, 2).getTime() + 3 * DAY);

    const { made } = await makeAhead(sql, { now });

    expect(made).toEqual([2, 3, 4, 5, 6].map((weeks) => weekName(weeksAfter(monday, weeks))));
    expect(await makeAhead(sql, { now })).toEqual({ made: [], postponed: [] });
    const { id, eventId } = await insert(weeksAfter(monday, 6));
    const newest = weekName(weeksAfter(monday, 6));
    expect(await weekWith('deliveries', id)).toBe(newest);
    expect(await weekWith('attempts', id)).toBe(newest);
    expect(await weekWith('events', eventId)).toBe(newest);
  });

  test('an instance that was down beyond its prepared weeks continues with the present one', async () => {
    const now = weeksAfter(monday, 20);
    await makeAhead(sql, { now });

    expect((await weeksOf('events')).slice(-6)).toEqual([
      ...[20, 21, 22, 23, 24].map((weeks) => weekName(weeksAfter(monday, weeks))),
      'default',
    ]);
  });
});

describe('dropping weeks', () => {
  test('a week is dropped once all of it is older than the retention; younger rows stay', async () => {
    const old = await insert(daysBefore(monday));
    const young = await insert(monday);

    expect((await run(new Date(later.getTime() - 1))).dropped).toEqual([]);
    expect(await findDelivery(sql, eshopId, old.id)).not.toBeNull();
    const { dropped, kept } = await run(later);

    expect(names(dropped)).toEqual(firstPartitions);
    expect(kept).toEqual([]);
    expect(await findDelivery(sql, eshopId, old.id)).toBeNull();
    expect(await weekWith('events', old.eventId)).toBeUndefined();
    expect(await weekWith('attempts', old.id)).toBeUndefined();
    expect(await findDelivery(sql, eshopId, young.id)).not.toBeNull();
    expect(await weekWith('attempts', young.id)).toBeDefined();
  });

  test('a dry run lists the partitions and changes nothing', async () => {
    const { id } = await insert(daysBefore(monday));

    const { dropped, made } = await retain(sql, { retentionMs, now: later, dryRun: true });

    expect(names(dropped)).toEqual(firstPartitions);
    expect(made.length).toBeGreaterThan(0);
    expect(await weekWith('deliveries', id)).toBe('first');
    expect(await weeksOf('events')).toHaveLength(3);
  });

  test('pages of the delivery log continue across weeks, and end at the retention', async () => {
    await makeAhead(sql, { now: weeksAfter(monday, 1) });
    const ids: string[] = [];
    for (let day = 0; day < 21; day += 1) ids.push((await insert(daysBefore(monday, day - 14))).id);
    const newestFirst = ids.toSorted().reverse();
    const pages = async () => {
      const seen: string[] = [];
      for (let offset = 0; ; offset += 4) {
        const rows = await listAllDeliveries(sql, eshopId, { webhookId }, { limit: 4, offset });
        seen.push(...rows.map(({ id }) => id));
        if (seen.length === (await counted(countAllDeliveries(sql, eshopId, { webhookId })))) return seen;
      }
    };

    expect(await pages()).toEqual(newestFirst);
    await run(later);
    const left = await pages();
    expect(left.length).toBeLessThan(21);
    expect(left).toEqual(newestFirst.slice(0, left.length));
  });
});

describe('keeping rows', () => {
  test('an open delivery keeps its partitions; finished ones beside it go, and the rest once it ends', async () => {
    const at = daysBefore(monday);
    const open = await insert(at, { state: 'retrying' });
    const finished: { id: string; eventId: string }[] = [];
    for (let n = 0; n < 20; n += 1) finished.push(await insert(at));

    const first = await run(later);

    expect(first.dropped).toEqual([]);
    expect(names(first.kept)).toEqual(firstPartitions);
    expect(first.kept.map(({ neededBy }) => neededBy)).toEqual([1, 1, 1]);
    expect(first.removed.deliveries).toBe(20);
    expect(await findDelivery(sql, eshopId, open.id)).toMatchObject({ attempts: [{ number: 1 }] });
    expect(await weekWith('events', open.eventId)).toBe('first');
    for (const { id, eventId } of finished) {
      expect(await weekWith('deliveries', id)).toBeUndefined();
      expect(await weekWith('attempts', id)).toBeUndefined();
      expect(await weekWith('events', eventId)).toBeUndefined();
    }

    await sql`update deliveries set state = 'delivered' where id = ${open.id}`;
    expect(names((await run(later)).dropped)).toEqual(firstPartitions);
  });

  test('a delivery whose deactivation is not mailed stays with its event until it is', async () => {
    const { id, eventId } = await insert(daysBefore(monday), { state: 'retrying' });
    await sql`update deliveries set last_generation = 1 where id = ${id}`;
    const { deactivatedGeneration } = await compensate(sql, id);
    if (deactivatedGeneration === null) throw new Error('the webhook was not deactivated');

    expect(names((await run(later)).kept)).toEqual(firstPartitions);
    expect(await weekWith('events', eventId)).toBe('first');
    expect(await readDeactivation(sql, webhookId, deactivatedGeneration)).toMatchObject({ deliveryId: id });

    const mail = await findDeactivationMail(sql, { webhookId, generation: deactivatedGeneration });
    await recordNoticeSent(sql, mail ?? '');
    expect(names((await run(later)).dropped)).toEqual(firstPartitions);
  });

  test('an event stays as long as a delivery of it is open, however new', async () => {
    const again = await insert(later, { eventAt: daysBefore(monday), state: 'pending' });
    const other = await insert(daysBefore(monday));

    const { dropped, kept, removed } = await run(later);

    expect(names(dropped)).toEqual(['deliveries_first', 'attempts_first']);
    expect(kept).toEqual([{ partition: 'events_first', neededBy: 1 }]);
    expect(removed).toEqual({ deliveries: 0, events: 1 });
    expect(await weekWith('events', again.eventId)).toBe('first');
    expect(await weekWith('events', other.eventId)).toBeUndefined();
  });

  test('an old event that is redelivered while events are being removed is kept', async () => {
    const { id, eventId } = await insert(daysBefore(monday));
    const other = await insert(daysBefore(monday));
    let removing: Promise<number> | undefined;

    const asked = await transaction(sql, async (tx) => {
      const again = await redeliver(tx, eshopId, id);
      removing = removeEvents(sql, { week: 'first', writtenBefore: null });
      await untilBlocked(sql);
      return again;
    });

    expect(asked).toMatchObject({ kind: 'created' });
    expect(await removing).toBe(1);
    expect(await weekWith('events', eventId)).toBe('first');
    expect(await weekWith('events', other.eventId)).toBeUndefined();
  });

  test('recoveries, former settings and redeliveries go with the deliveries they belong to', async () => {
    const week = daysBefore(monday, 8);
    await insert(daysBefore(monday), { eventAt: week });
    const open = await insert(daysBefore(monday), { eventAt: week, state: 'pending' });
    for (const state of ['completed', 'running']) {
      await sql`
        insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, state, finished_at)
        values (${randomUUID()}, ${eshopId}, ${webhookId}, ${week}, ${week}, '{failed}', 1, ${state},
          ${state === 'completed' ? week : null})`;
    }
    for (const at of [week, monday]) {
      await sql`
        insert into former_request_settings (webhook_id, until, url, method, payload_version)
        values (${webhookId}, ${at}, 'https://shop.example', 'POST', 'v2')`;
    }
    await run(later);
    expect(await sql`select from redeliveries`).toHaveLength(2);

    await run(weeksAfter(later, 1));

    expect(await sql`select delivery_id from redeliveries`).toEqual([{ deliveryId: open.id }]);
    expect(await sql`select state from recoveries`).toEqual([{ state: 'running' }]);
    expect(await sql`select until from former_request_settings`).toEqual([{ until: monday }]);
  });

  test('keys of imported lines go after 30 days, however many, whatever the retention', async () => {
    await sql`
      insert into import_keys (eshop_id, key, fingerprint, created_at)
      select ${eshopId}, n::text, '', ${daysBefore(later, 31)} from generate_series(1, 20001) n`;
    await sql`
      insert into import_keys (eshop_id, key, fingerprint, created_at)
      values (${eshopId}, 'young', '', ${daysBefore(later, 29)})`;

    const done = await retain(sql, { retentionMs: DAY, now: later });

    expect(done.forgotten.importKeys).toBe(20_001);
    expect(summary(done)).toContain('forgot 20,001 keys of imported lines');
    expect(await sql`select key from import_keys`).toEqual([{ key: 'young' }]);
  });

  test('a paged delete stops at a short page or a signal, and leaves locked rows to the next run', async () => {
    const keys = (count: number) => sql`
      insert into import_keys (eshop_id, key, fingerprint) select ${eshopId}, n::text, '' from generate_series(1, ${count}) n`;
    const remove = (signal?: AbortSignal) => pagedDelete(sql, signal)('import_keys', sql`true`, 2);
    await keys(5);
    expect(await remove(AbortSignal.abort())).toBe(0);
    await sql.begin(async (tx) => {
      await tx`select from import_keys where key = '3' for update`;
      expect(await remove()).toBe(4);
    });
    expect(await sql`select key from import_keys`).toEqual([{ key: '3' }]);
    expect(await remove()).toBe(1);
  });

  test('the history of webhooks goes with the events it explains, and is counted', async () => {
    await setActive(sql, eshopId, webhookId, false);
    await setActive(sql, eshopId, webhookId, true);
    await deleteWebhook(sql, eshopId, webhookId);
    const long = new Date(Date.now() + retentionMs + 8 * DAY);

    expect((await run(new Date(Date.now() + retentionMs))).forgotten).toMatchObject({ rows: 0, erased: 0 });
    expect((await retain(sql, { retentionMs, now: long, dryRun: true })).forgotten.rows).toBe(0);
    const done = await run(long);

    expect(done.forgotten).toEqual({ importKeys: 0, rows: 4, erased: 1, webhooks: 0 });
    expect(summary(done)).toMatch(/removed 4 rows about .*; erased the secrets of 1 deleted webhook/);
    expect(await sql`select deleted from webhook_versions`).toEqual([{ deleted: true }]);
    expect(await sql`select from deactivations`).toHaveLength(0);
  });

  test('thousands of finished deliveries are removed in batches, and open ones are kept', async () => {
    const rows = (state: string, from: number, to: number) => sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state)
      select lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n), 32, '0')::uuid, ${eshopId}, ${webhookId}, 'CREATE_ORDER', n::text, ${state}
      from generate_series(${from}::int, ${to}::int) n`;
    await rows('delivered', 1, 2_499);
    await rows('retrying', 2_500, 2_500);
    await rows('failed', 2_501, 3_700);
    await rows('pending', 3_701, 3_702);

    const { removed } = await run(later);

    expect(removed.deliveries).toBe(3_699);
    const left = await sql<{ entityId: string }[]>`select entity_id from deliveries order by id`;
    expect(left.map(({ entityId }) => entityId)).toEqual(['2500', '3701', '3702']);
  });
});

describe('during traffic', () => {
  test('a delivery written while its week is dropped is not lost, and nobody waits for the drop', async () => {
    await makeAhead(sql, { now: later });
    let dropping: ReturnType<typeof run> | undefined;
    let late = '';
    await sql.begin(async (tx) => {
      late = (await insertDelivery(tx, { eshopId, webhookId, at: daysBefore(monday), state: 'pending' })).id;
      dropping = run(later);
      await until('the drop to stand in line', async () => {
        const waiting = await sql`
          select from pg_locks where relation = 'deliveries'::regclass and mode = 'AccessExclusiveLock' and not granted`;
        return waiting.length > 0;
      });
      // It soon gives way and lets later statements pass.
      for (let n = 0; n < 10; n += 1) await insert(new Date());
    });

    const done = await dropping;

    expect(done?.dropped).toEqual([]);
    expect(await weekWith('deliveries', late)).toBe('first');
  });

  test('a week that another run has just dropped is not dropped again', async () => {
    await makeAhead(sql, { now: later });
    const [first] = (await listPartitions(sql)).filter(
      ({ table, week }) => table === 'events' && week === 'first',
    );
    if (first === undefined) throw new Error('There is no first week of events.');

    const dropped = await Promise.all([1, 2, 3].map(() => dropPartition(sql, first)));

    expect(dropped.toSorted()).toEqual(['dropped', 'gone', 'gone']);
    expect(await weeksOf('events')).not.toContain('first');
  });

  test('several runs at once each do a part, and none fails', async () => {
    await insert(daysBefore(monday));
    await insert(daysBefore(monday), { state: 'pending', at: monday });

    const runs = await Promise.all([run(later), run(later), run(later)]);

    expect(runs.flatMap(({ dropped }) => names(dropped)).toSorted()).toEqual(firstPartitions.toSorted());
    expect(await weeksOf('events')).toEqual(await weeksOf('deliveries'));
  });
});

describe('the default partition', () => {
  test('takes rows of a clock weeks ahead, and gives them back once their week is made', async () => {
    const ahead = weeksAfter(monday, 5);
    const { id, eventId } = await insert(ahead, { writtenAt: new Date(), state: 'pending' });
    expect(await weekWith('deliveries', id)).toBe('default');

    const early = await retain(sql, { retentionMs });
    expect(early.outOfRange).toBe(3);
    const done = await run(weeksAfter(monday, 2));

    expect(done.made).toContain(weekName(ahead));
    expect(done.outOfRange).toBe(0);
    expect(await weekWith('deliveries', id)).toBe(weekName(ahead));
    expect(await weekWith('attempts', id)).toBe(weekName(ahead));
    expect(await weekWith('events', eventId)).toBe(weekName(ahead));
  });

  test('rows that no week will take go once written long enough ago, unless open', async () => {
    const farOff = new Date('2199-01-01');
    const finished = await insert(farOff, { writtenAt: daysBefore(later, 31) });
    const open = await insert(farOff, { writtenAt: daysBefore(later, 31), state: 'retrying' });
    const young = await insert(farOff, { writtenAt: daysBefore(later, 29) });

    const { removed } = await run(later);

    expect(removed).toEqual({ deliveries: 1, events: 1 });
    expect(await weekWith('deliveries', finished.id)).toBeUndefined();
    expect(await weekWith('attempts', finished.id)).toBeUndefined();
    expect(await weekWith('events', finished.eventId)).toBeUndefined();
    for (const { id, eventId } of [open, young]) {
      expect(await weekWith('deliveries', id)).toBe('default');
      expect(await weekWith('attempts', id)).toBe('default');
      expect(await weekWith('events', eventId)).toBe('default');
    }
  });
});
