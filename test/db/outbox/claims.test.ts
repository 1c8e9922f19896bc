/** What a claim takes: deliveries of one class, by turns of e-shop and webhook, within its quotas, under a lease. */
import { beforeEach, expect, test } from 'vitest';
import type { Quotas } from '../../../src/concurrency/limits.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { closeDelivery } from '../../../src/db/deliveries/deliveries.ts';
import { type ClaimLimits, claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS, type DeliveryClass, LEASE_SECONDS } from '../../../src/db/outbox/outbox.ts';
import { giveBack, markDispatched } from '../../../src/db/outbox/release.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

/** Two e-shops, each with a webhook. */
let busy: Waiting;
let neighbor: Waiting;
const { sql } = await databaseOfFile();
beforeEach(async () => {
  await sql`truncate deliveries, attempts`;
  busy = await createWaiting();
  neighbor = await createWaiting();
});

interface Waiting {
  readonly eshopId: number;
  readonly webhookId: number;
}

async function createWaiting(ofEshop?: number): Promise<Waiting> {
  const eshopId = ofEshop ?? (await createEshop(sql, { name: 'Shop', email: 'shop@example.test' })).eshopId;
  return { eshopId, webhookId: await insertWebhook(sql, eshopId, 'CREATE_ORDER') };
}

/** Adds this many waiting deliveries of a webhook behind the others; answers their ids, oldest first. */
async function enqueue(
  { eshopId, webhookId }: Waiting,
  count: number,
  { class: of = CLASS.fresh, dueSeconds = 0 }: { class?: DeliveryClass; dueSeconds?: number } = {},
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, class, due_at)
    select lpad(to_hex((select count(*) from deliveries) + n), 32, '0')::uuid, gen_random_uuid(), ${eshopId}, ${webhookId},
           'CREATE_ORDER', n::text, ${of}, now() + make_interval(secs => ${dueSeconds})
    from generate_series(1, ${count}::int) n
    returning id`;
  return rows.map(({ id }) => id).sort();
}

const claim = (limit: number, more: Partial<ClaimLimits> = {}) =>
  claimDeliveries(sql, { class: CLASS.fresh, limit, ...more });
async function taken(limit: number, more: Partial<ClaimLimits> = {}): Promise<string[]> {
  return (await claim(limit, more)).deliveries.map(({ id }) => id);
}
/** How many deliveries of each a claim takes. */
async function shares(limit: number, of: readonly Waiting[], more: Partial<ClaimLimits> = {}) {
  const { deliveries } = await claim(limit, more);
  return of.map(({ webhookId }) => deliveries.filter((each) => each.webhookId === webhookId).length);
}
const quotasOf = (some: Partial<Quotas>): { quotas: Quotas } => ({
  quotas: { eshop: 1_000, webhook: 1_000, eshops: new Map(), webhooks: new Map(), ...some },
});

test('an e-shop with few deliveries does not wait behind one with many', async () => {
  await enqueue(busy, 1_500, { dueSeconds: -60 });
  await enqueue(neighbor, 3);
  expect(await shares(6, [busy, neighbor])).toEqual([3, 3]);
});

test('a webhook with few deliveries does not wait behind another of its e-shop', async () => {
  const other = await createWaiting(busy.eshopId);
  await enqueue(busy, 1_500, { dueSeconds: -60 });
  await enqueue(other, 3);
  expect(await shares(6, [busy, other])).toEqual([3, 3]);
});

test('an e-shop gains nothing from many webhooks', async () => {
  const many = [busy];
  for (let index = 1; index < 10; index += 1) many.push(await createWaiting(busy.eshopId));
  for (const each of many) await enqueue(each, 10);
  await enqueue(neighbor, 10);
  expect(await shares(10, [neighbor])).toEqual([5]);
});

test('an e-shop with many webhooks does not come first more often', async () => {
  const many = [busy];
  while (many.length < 30) many.push(await createWaiting(busy.eshopId));
  for (const each of many) await enqueue(each, 1);
  await enqueue(neighbor, 100);
  let first = 0;
  for (let round = 0; round < 60; round += 1) {
    const { deliveries } = await claim(1);
    if (deliveries[0]?.eshopId === neighbor.eshopId) first += 1;
    await giveBack(sql, deliveries);
  }
  // At a chance of 1 in 2, fewer than 12 of 60 come once in 10^6; at 1 in 31, more than 11 come once in 10^6.
  expect(first).toBeGreaterThanOrEqual(12);
});

test('the only webhook with waiting deliveries gets a whole claim, in order of due time', async () => {
  const later = await enqueue(busy, 30);
  const first = await enqueue(busy, 30, { dueSeconds: -5 });
  expect(await taken(25)).toEqual(first.slice(0, 25));
  expect(await taken(100)).toEqual([...first.slice(25), ...later]);
});

test('with more webhooks than a claim takes, each is served sooner or later', async () => {
  const all = [busy, neighbor];
  while (all.length < 8) all.push(await createWaiting());
  for (const each of all) await enqueue(each, 200);
  const served = new Set<number>();
  // By lot: the chance that 200 claims all leave out one of eight is 10^-11.
  for (let round = 0; round < 200 && served.size < 8; round += 1) {
    const { deliveries } = await claim(1);
    for (const { webhookId } of deliveries) served.add(webhookId);
  }
  expect(served.size).toBe(8);
});

test.each([
  ['a webhook', { webhook: 5 }, [5, 5]],
  ['an e-shop', { eshop: 4 }, [4, 4]],
  ['either, whichever is lower', { eshop: 3, webhook: 5 }, [3, 3]],
])('a claim takes no more than the quota of %s', async (_, quotas, expected) => {
  for (const each of [busy, neighbor]) await enqueue(each, 20);
  expect(await shares(50, [busy, neighbor], quotasOf(quotas))).toEqual(expected);
});

test('a webhook or e-shop with its own quota gets that one', async () => {
  for (const each of [busy, neighbor]) await enqueue(each, 20);
  const webhooks = new Map([[busy.webhookId, 1]]);
  expect(await shares(50, [busy, neighbor], quotasOf({ webhook: 5, webhooks }))).toEqual([1, 5]);
  const eshops = new Map([[neighbor.eshopId, 0]]);
  expect(await shares(50, [busy, neighbor], quotasOf({ webhook: 5, eshops }))).toEqual([5, 0]);
});

test('the webhooks of an e-shop share its quota', async () => {
  const other = await createWaiting(busy.eshopId);
  for (const each of [busy, other]) await enqueue(each, 20);
  expect(await shares(50, [busy, other], quotasOf({ eshop: 6 }))).toEqual([3, 3]);
});

test('a claim takes only deliveries of its class', async () => {
  const ids = new Map<DeliveryClass, string[]>();
  for (const each of Object.values(CLASS)) ids.set(each, await enqueue(busy, 2, { class: each }));
  await sql`update deliveries set recovery_id = null`;
  for (const each of [CLASS.bulk, CLASS.retry, CLASS.fresh, CLASS.undelivered, CLASS.delivered])
    expect(await taken(50, { class: each })).toEqual(ids.get(each));
});

test('a delivery due later waits for its time', async () => {
  const due = await enqueue(busy, 1, { class: CLASS.retry, dueSeconds: -0.1 });
  await enqueue(busy, 5, { class: CLASS.retry, dueSeconds: 25 });
  expect(await taken(50, { class: CLASS.retry })).toEqual(due);
  expect(await taken(50, { class: CLASS.retry })).toEqual([]);
});

test('deliveries of a paused recovery are not claimed', async () => {
  const ids = await enqueue(busy, 3, { class: CLASS.recovered });
  const [recovery] = await sql<{ id: string }[]>`
      insert into recoveries (id, eshop_id, webhook_id, include, since, until, found, state)
      values (gen_random_uuid(), ${busy.eshopId}, ${busy.webhookId}, '{failed}', now(), now(), 3, 'paused') returning id`;
  await sql`update deliveries set recovery_id = ${recovery?.id ?? null}`;
  expect(await taken(50, { class: CLASS.recovered })).toEqual([]);
  await sql`update recoveries set state = 'running'`;
  expect(await taken(50, { class: CLASS.recovered })).toEqual(ids);
});

const expireLeases = () =>
  sql`update deliveries set claimed_until = now() - interval '1 second' where claimed_until is not null`;

test('a claimed delivery belongs to one process until its lease ends, then gets another token', async () => {
  const ids = await enqueue(busy, 2);
  const before = await claim(50);
  expect(before.deliveries.map(({ id }) => id)).toEqual(ids);
  expect(await taken(50)).toEqual([]);
  const [lease] = await sql<{ seconds: number }[]>`
      select extract(epoch from max(claimed_until) - now())::float8 as seconds from deliveries`;
  expect(lease?.seconds).toBeLessThanOrEqual(LEASE_SECONDS);
  await expireLeases();
  const { deliveries } = await claim(50);
  expect(deliveries.map(({ id }) => id)).toEqual(ids);
  const marks = [...before.deliveries, ...deliveries].map(({ claimId }) => claimId);
  expect(new Set(marks).size).toBe(4);
});

test('a delivery that its workflow closed without an attempt is never claimed again', async () => {
  await enqueue(busy, 1);
  // The process that claimed it died before it noted the start.
  const [id = ''] = await taken(50);
  await closeDelivery(sql, id, 'canceled');
  await expireLeases();
  expect(await taken(50)).toEqual([]);
});

test('a dispatched delivery is never claimed again', async () => {
  const ids = await enqueue(busy, 2);
  await markDispatched(sql, ids);
  expect(await taken(50)).toEqual([]);
});

test('two simultaneous claims take different deliveries, as long as there are enough', async () => {
  await enqueue(busy, 50);
  const first = await sql.reserve();
  await first`begin`;
  const one = await claimDeliveries(first, { class: CLASS.fresh, limit: 10 });
  const two = await taken(10);
  await first`commit`;
  first.release();
  expect(two).toHaveLength(10);
  expect(new Set([...one.deliveries.map(({ id }) => id), ...two]).size).toBe(20);
});

test('a claim says whether there are more deliveries', async () => {
  await enqueue(busy, 20);
  expect(await claim(5)).toMatchObject({ more: true });
  expect(await claim(50)).toMatchObject({ more: false });
  expect(await claim(50)).toEqual({ deliveries: [], more: false });
});

test('a claim says that there are more while other relays are claiming the rest', async () => {
  await enqueue(busy, 10);
  const other = await sql.reserve();
  await other`begin`;
  await claimDeliveries(other, { class: CLASS.fresh, limit: 10 });
  expect(await claim(10)).toEqual({ deliveries: [], more: true });
  await other`commit`;
  other.release();
  expect(await claim(10)).toEqual({ deliveries: [], more: false });
});
