/** Webhooks' history is deleted with the events that it explains; what a kept event, record or mail needs stays. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { withOutcomes } from '../../../src/api/event-outcomes.ts';
import { resealAll } from '../../../src/app/key-rotation.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { MAX_DELETED_WEBHOOKS } from '../../../src/db/event-log.ts';
import { decideWarnings } from '../../../src/db/incidents/decide.ts';
import { pagedDelete } from '../../../src/db/retention/pages.ts';
import { eraseSecrets, removeHistory } from '../../../src/db/retention/webhook-history.ts';
import { findWebhook } from '../../../src/db/webhooks/webhooks.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import { createKeys } from '../../../src/secrets/keys.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { insertDelivery, newIdAt } from '../../support/database/weeks.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';

const MINUTE = 60_000;
const DAY = 24 * 3_600_000;
/** Events before this time are deleted. */
const before = new Date(Date.now() - 37 * DAY);
const fromLimit = (ms: number) => new Date(before.getTime() + ms);
const types = ['CREATE_ORDER', 'CREATE_PRODUCT'] as const satisfies EventType[];

let database: TestDatabase;
let eshopId: number;
beforeEach(async () => {
  database = await databaseOfTest();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
});

async function clean() {
  const erased = await eraseSecrets(database.sql, before);
  return { erased, ...(await removeHistory(database.sql, before, pagedDelete(database.sql))) };
}
const count = async (table: string) => (await database.sql`select from ${database.sql(table)}`).length;

interface Version {
  readonly at: Date;
  readonly active: boolean;
  readonly generation?: number;
  readonly type?: EventType;
  readonly deleted?: boolean;
  readonly reason?: 'user' | 'gone' | 'retriesExhausted';
}

/** A webhook with these versions; the last one is its present state. */
async function webhookOf(versions: readonly Version[]): Promise<number> {
  const { sql } = database;
  const id = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const last = versions.at(-1);
  if (last === undefined) throw new Error('a webhook has a version');
  await sql`
    update webhooks set registered_at = ${versions[0]?.at ?? null}, active = ${last.active}, generation = ${last.generation ?? 1},
      webhook_type = ${last.type ?? 'CREATE_ORDER'}, deleted_at = ${last.deleted === true ? last.at : null}
    where id = ${id}`;
  await sql`delete from webhook_versions where webhook_id = ${id}`;
  for (const { at, active, generation = 1, type = 'CREATE_ORDER', deleted = false, reason } of versions) {
    await sql`
      insert into webhook_versions (webhook_id, eshop_id, at, webhook_type, url, active, deleted, generation)
      values (${id}, ${eshopId}, ${at}, ${type}, 'https://shop.example/hook', ${active}, ${deleted}, ${generation})`;
    if (reason === undefined) continue;
    await sql`
      insert into deactivations (webhook_id, generation, reason, at, delivery_id, last_error)
      values (${id}, ${generation}, ${reason}, ${at}, ${reason === 'user' ? null : newIdAt(at)}, 'HTTP 500')`;
  }
  return id;
}

/** The explanations of events of each type at these times. */
async function explanations(times: readonly Date[]): Promise<unknown> {
  const events = times.flatMap((at) =>
    types.map((type) => ({
      id: `${newIdAt(at).slice(0, 13)}-7000-8000-000000000000`,
      type,
      entityId: '1',
      sequence: 1,
      origin: 'service' as const,
      changed: null,
      test: false,
    })),
  );
  return await withOutcomes(database.sql, eshopId, events);
}

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** A webhook's life around a time: created, activated, deactivated, of another type, sometimes deleted. */
function lifeAround(time: Date, next: () => number): Version[] {
  const versions: Version[] = [];
  let generation = 1;
  let active = next() < 0.5;
  let type: EventType = 'CREATE_ORDER';
  const step = () => (next() < 0.3 ? 5_000 : next() < 0.6 ? 40 * MINUTE : 2 * DAY) * (0.5 + next());
  let at = time.getTime() - 12 * DAY * next();
  versions.push({ at: new Date(at), active, type });
  for (let changes = Math.floor(next() * 12); changes > 0; changes -= 1) {
    at += step();
    const was = active;
    if (next() < 0.2) type = type === 'CREATE_ORDER' ? 'CREATE_PRODUCT' : 'CREATE_ORDER';
    else active = next() < 0.7 ? !active : active;
    if (active && !was) generation += 1;
    const reasons = ['user', 'gone', 'retriesExhausted'] as const;
    const reason = was && !active ? reasons[Math.floor(next() * 3)] : undefined;
    versions.push({
      at: new Date(at),
      active,
      type,
      generation,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  if (next() < 0.3) versions.push({ at: new Date(at + step()), active, type, generation, deleted: true });
  return versions;
}

describe('versions', () => {
  test('are deleted once replaced before the limit, and the present one stays', async () => {
    const webhookId = await webhookOf([
      { at: fromLimit(-9 * DAY), active: true },
      { at: fromLimit(-8 * DAY), active: false, reason: 'user' },
      { at: fromLimit(-7 * DAY), active: true, generation: 2 },
      { at: fromLimit(DAY), active: false, generation: 2, reason: 'gone' },
    ]);

    expect(await clean()).toEqual({ rows: 3, erased: 0, webhooks: 0 });

    expect(await database.sql`select active, generation from webhook_versions order by at`).toEqual([
      { active: true, generation: 2 },
      { active: false, generation: 2 },
    ]);
    expect(await findWebhook(database.sql, eshopId, webhookId)).toMatchObject({ deactivationReason: 'gone' });
  });

  test('the reasons of a webhook created inactive, and of one deactivated long ago, stay', async () => {
    await webhookOf([
      { at: fromLimit(-9 * DAY), active: false },
      { at: fromLimit(-8 * DAY), active: false },
    ]);
    await webhookOf([
      { at: fromLimit(-9 * DAY), active: true },
      { at: fromLimit(-8 * DAY), active: false, reason: 'retriesExhausted' },
      { at: fromLimit(-7 * DAY), active: false, generation: 2 },
    ]);
    const said = await explanations([fromLimit(DAY)]);
    expect(JSON.stringify(said)).toMatch(/createdInactive.*retriesExhausted/);

    await clean();

    expect(await explanations([fromLimit(DAY)])).toEqual(said);
  });

  test('an event kept beyond its time keeps the state of its e-shop at that time', async () => {
    const { sql } = database;
    const webhookId = await webhookOf([
      { at: fromLimit(-9 * DAY), active: true },
      { at: fromLimit(-8 * DAY), active: false, reason: 'user' },
      { at: fromLimit(-6 * DAY), active: true, generation: 2 },
    ]);
    const held = await insertDelivery(sql, { eshopId, webhookId, at: fromLimit(-7 * DAY), state: 'pending' });
    const said = await explanations([fromLimit(-7 * DAY)]);
    expect(JSON.stringify(said)).toContain('deactivatedByUser');

    await clean();
    expect(await explanations([fromLimit(-7 * DAY)])).toEqual(said);
    expect(await count('webhook_versions')).toBe(3);

    await sql`delete from deliveries where id = ${held.id}`;
    await sql`delete from events where id = ${held.eventId}`;
    await clean();
    expect(await count('webhook_versions')).toBe(1);
  });

  test('a change just before the oldest kept event is still the one reported', async () => {
    await webhookOf([
      { at: fromLimit(-DAY), active: true },
      { at: fromLimit(-8_000), active: false, reason: 'user' },
      { at: fromLimit(-4_000), active: true, generation: 2 },
    ]);
    await insertDelivery(database.sql, { eshopId, webhookId: 0, at: before });
    const said = await explanations([before]);
    expect(JSON.stringify(said)).toContain(`was changed at ${fromLimit(-8_000).toISOString()}`);

    await clean();

    expect(await explanations([before])).toEqual(said);
  });

  test.each([1, 2, 3, 4])('the removal does not change how kept events are explained (%i)', async (seed) => {
    const { sql } = database;
    const next = numbers(seed);
    for (let webhooks = 0; webhooks < 15; webhooks += 1) await webhookOf(lifeAround(before, next));
    // For half of the seeds the e-shop's oldest event is kept beyond its time.
    const oldest = fromLimit(seed % 2 === 0 ? 0 : -3 * DAY);
    await insertDelivery(sql, { eshopId, webhookId: 0, at: oldest, state: 'pending' });
    const times = Array.from(
      { length: 150 },
      (_, index) => new Date(oldest.getTime() + index * 0.1 * DAY * next()),
    );
    // Also times close to changes.
    const changes = await sql<{ at: Date }[]>`select at from webhook_versions where at >= ${oldest} limit 60`;
    times.push(
      ...changes.flatMap(({ at }) =>
        [-9_000, 0, 9_000].map((ms) => new Date(Math.max(at.getTime() + ms, oldest.getTime()))),
      ),
    );
    const said = await explanations(times);
    const rows = await count('webhook_versions');

    const removed = await clean();

    expect(removed.rows).toBeGreaterThan(10);
    expect(await count('webhook_versions')).toBeLessThan(rows);
    expect(await explanations(times)).toEqual(said);
    expect((await clean()).rows).toBe(0);
  });
});

describe('deactivations and warnings', () => {
  type Settled = { outcome?: 'sent' | 'dropped' | 'givenUp'; settled_at?: Date };
  test('stay while their mail is pending or their delivery is kept, and go once given up', async () => {
    const { sql } = database;
    const webhookId = await webhookOf([{ at: fromLimit(-9 * DAY), active: true, generation: 9 }]);
    const kept = await insertDelivery(sql, { eshopId, webhookId, at: fromLimit(-9 * DAY), state: 'failed' });
    const at = fromLimit(-8 * DAY);
    const insert = async (generation: number, mail: Settled, of?: string) => {
      const delivery_id = of ?? newIdAt(at);
      const row = { webhook_id: webhookId, generation, at, delivery_id };
      await sql`insert into deactivations ${sql({ ...row, reason: 'gone' })}`;
      const notice = { ...row, ...mail, eshop_id: eshopId, kind: 'deactivated', recipient: 'email' };
      await sql`insert into notices ${sql(notice)}`;
    };
    await insert(1, {});
    await insert(2, { outcome: 'givenUp', settled_at: at });
    await insert(3, { outcome: 'sent', settled_at: at }, kept.id);
    await insert(4, { outcome: 'sent', settled_at: fromLimit(DAY) });
    await insert(5, { outcome: 'sent', settled_at: at });
    await insert(6, { outcome: 'sent', settled_at: at });

    // Four notices, and two deactivations.
    expect(await clean()).toMatchObject({ rows: 6 });

    const left = await sql<
      { generation: number }[]
    >`select generation from deactivations order by generation`;
    expect(left.map(({ generation }) => generation)).toEqual([1, 3, 4, 6]);
    expect(await findWebhook(sql, eshopId, webhookId)).toMatchObject({ deactivatedAt: at });
  });

  test('an incident that lasts for months gets no second warning', async () => {
    const { sql } = database;
    const webhookId = await webhookOf([{ at: fromLimit(-90 * DAY), active: true, generation: 2 }]);
    await sql`
      insert into failures (webhook_id, generation, failures, since, until)
      values (${webhookId}, 2, 9, ${fromLimit(-20 * DAY)}, now())`;
    const warn = (generation: number, days: number, row: Settled) => {
      const notice = {
        eshop_id: eshopId,
        webhook_id: webhookId,
        kind: 'warning',
        recipient: 'email',
        generation,
      };
      return sql`insert into notices ${sql({ ...notice, at: fromLimit(days * DAY), ...row })}`;
    };
    await warn(1, -60, { outcome: 'sent', settled_at: fromLimit(-60 * DAY) });
    await warn(2, -30, { outcome: 'sent', settled_at: fromLimit(-30 * DAY) });
    await warn(2, -19, { outcome: 'sent', settled_at: fromLimit(-19 * DAY) });
    await warn(2, -18, { outcome: 'dropped', settled_at: fromLimit(-18 * DAY) });
    await warn(1, -60, {});
    const decide = () => decideWarnings(sql, { leadMs: DAY, patienceMs: DAY / 4 });
    expect(await decide()).toBe(0);

    expect(await clean()).toMatchObject({ rows: 3 });

    expect(await decide()).toBe(0);
    expect(await sql`select generation, outcome is null as pending from notices order by at`).toEqual([
      { generation: 1, pending: true },
      { generation: 2, pending: false },
    ]);
  });
});

describe('deleted webhooks', () => {
  const deletedOn = (day: number) =>
    webhookOf([
      { at: fromLimit(-90 * DAY), active: true },
      { at: fromLimit(day * DAY), active: true, deleted: true },
    ]);
  const secretsOf = async (id: number) => {
    const [row] = await database.sql<{ secret: Buffer }[]>`select secret from webhooks where id = ${id}`;
    return row?.secret.toString();
  };

  test('lose their secrets once no delivery is open, and do not block a new master key', async () => {
    const { sql } = database;
    const [old, busy, young, live] = [
      await deletedOn(-1),
      await deletedOn(-1),
      await deletedOn(1),
      await webhookOf([{ at: fromLimit(-90 * DAY), active: true }]),
    ];
    await sql`update webhooks set previous_secret = 'earlier', previous_secret_until = now()`;
    const open = await insertDelivery(sql, {
      eshopId,
      webhookId: busy,
      at: fromLimit(DAY),
      state: 'pending',
    });

    expect(await clean()).toMatchObject({ erased: 1 });

    expect(await Promise.all([old, busy, young, live].map(secretsOf))).toEqual([
      '',
      'sealed',
      'sealed',
      'sealed',
    ]);
    expect(await sql`select previous_secret from webhooks where id = ${old}`).toEqual([
      { previousSecret: null },
    ]);
    const keys = createKeys(Buffer.alloc(32, 1));
    // The secrets of deleted webhooks do not hold up a rotation.
    expect((await resealAll(sql, keys)).unreadable).toEqual([live]);

    await sql`update deliveries set state = 'canceled' where id = ${open.id}`;
    expect(await clean()).toMatchObject({ erased: 1 });
    expect(await clean()).toMatchObject({ erased: 0 });
  });

  test('the last ten of a type stay as explanations; older ones go once nothing refers to them', async () => {
    const { sql } = database;
    const old: number[] = [];
    for (let day = -80; day < -80 + 8; day += 1) old.push(await deletedOn(day));
    for (let day = -60; day < -60 + MAX_DELETED_WEBHOOKS; day += 1) await deletedOn(day);
    const other = await webhookOf([
      { at: fromLimit(-90 * DAY), active: true, type: 'CREATE_PRODUCT' },
      { at: fromLimit(-89 * DAY), active: true },
      { at: fromLimit(-88 * DAY), active: true, deleted: true },
    ]);
    const times = [fromLimit(DAY)];
    const said = await explanations(times);
    const [free, delivered, again, recovered, formed, deactivated, failed, changed] = old;
    const at = fromLimit(DAY);
    const { id } = await insertDelivery(sql, { eshopId, webhookId: delivered ?? 0, at });
    await sql`
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
      values (${id}, ${id}, ${eshopId}, ${again ?? 0}, '1')`;
    await sql`
      insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, state, finished_at)
      values (${randomUUID()}, ${eshopId}, ${recovered ?? 0}, ${at}, ${at}, '{failed}', 1, 'completed', ${at})`;
    await sql`
      insert into former_request_settings (webhook_id, until, url, method, payload_version)
      values (${formed ?? 0}, ${at}, 'https://shop.example', 'POST', 'v2')`;
    await sql`
      insert into deactivations (webhook_id, generation, reason, at, delivery_id)
      values (${deactivated ?? 0}, 1, 'gone', ${fromLimit(-85 * DAY)}, ${id})`;
    await sql`
      insert into failures (webhook_id, generation, failures, since, until) values (${failed ?? 0}, 1, 1, ${at}, ${at})`;
    await sql`insert into changes_to_signal (kind, eshop_id, webhook_id) values ('webhookChanged', ${eshopId}, ${changed ?? 0})`;

    expect(await clean()).toMatchObject({ webhooks: 1 });

    const left = await sql<{ id: number }[]>`select id from webhooks order by id`;
    expect(left.map((row) => row.id)).not.toContain(free);
    expect(left).toHaveLength(old.length - 1 + MAX_DELETED_WEBHOOKS + 1);
    expect(await sql`select from webhook_versions where webhook_id = ${free ?? 0}`).toHaveLength(0);
    expect(left.map((row) => row.id)).toContain(other);

    for (const table of [
      'deliveries',
      'redeliveries',
      'recoveries',
      'former_request_settings',
      'failures',
      'changes_to_signal',
      'events',
    ])
      await sql`delete from ${sql(table)}`;
    expect(await clean()).toMatchObject({ webhooks: old.length - 1 });
    expect(await explanations(times)).toEqual(said);
    expect(await clean()).toEqual({ rows: 0, erased: 0, webhooks: 0 });
  });
});
