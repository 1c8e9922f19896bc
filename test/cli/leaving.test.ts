/** `waybill eshop erase-customer` and `delete` on a real database, worker and Temporal. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { createEshopWithUsers } from '../../src/app/accounts.ts';
import { ensureSigningKey, replaceSigningKey } from '../../src/db/accounts/signing-keys.ts';
import { enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import { createInserter } from '../../src/db/records/insert.ts';
import { orders } from '../../src/db/records/orders.ts';
import { products } from '../../src/db/records/products.ts';
import { readRecord } from '../../src/db/records/read.ts';
import { receivings } from '../../src/db/records/receivings.ts';
import { returns } from '../../src/db/records/returns.ts';
import { createMovement } from '../../src/db/records/stock-movements.ts';
import { recordUnchanged } from '../../src/db/records/unchanged.ts';
import { create } from '../../src/db/records/write.ts';
import { transaction } from '../../src/db/transaction.ts';
import { orderRecordSchema, sampleOrder } from '../../src/domain/order/record.ts';
import type { OrderRecord } from '../../src/domain/order/schema.ts';
import { nulledFields } from '../../src/domain/personal-data.ts';
import { sampleProduct } from '../../src/domain/product/schema.ts';
import { sampleReceiving } from '../../src/domain/receiving/schema.ts';
import { sampleReturn } from '../../src/domain/return/schema.ts';
import { sampleStockMovement } from '../../src/domain/stock/movement.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { addAddress, setNoticeUrl } from '../support/api/notices.ts';
import { folderOfFile } from '../support/ends.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { pauseWorkflow } from '../support/temporal/pause.ts';
import { workflowIdOf } from '../support/temporal/workflow-ids.ts';
import { until } from '../support/until.ts';

const stack = await stackOfFile('cli-leaving', { policy: { windowMs: 3_600_000 } });
const receiver = await receiverOfFile();
const directory = await folderOfFile('waybill-leaving-');

const eshop = (...args: string[]) => triedWaybill(['eshop', ...args], stack.env);

const createOrder = (eshopOrderId: string, other: Partial<OrderRecord>) =>
  create(stack.sql, createInserter(stack.sql), orders, stack.eshopId, 'shop', {
    ...sampleOrder,
    eshopOrderId,
    status: 'canceled',
    ...other,
  });
const order = (id: string) => readRecord(stack.sql, orders, stack.eshopId, id);

/** The number of rows of each table that belong to e-shops, with all partitions. */
async function countRows(): Promise<Readonly<Record<string, number>>> {
  const { sql } = stack;
  const tables = await sql<{ name: string }[]>`
    select distinct c.table_name as name from information_schema.columns c join pg_class p on p.relname = c.table_name
    where c.table_schema = 'public' and not p.relispartition
      and c.column_name in ('eshop_id', 'webhook_id', 'delivery_id', 'api_key_hash', 'user_id', 'address_id')`;
  const counts = tables.map(async ({ name }) => {
    const [row] = await sql<{ count: number }[]>`select count(*)::integer from ${sql(name)}`;
    return [name, row?.count ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Rows of the tables that the rest of the test leaves empty. */
async function fillTables(webhookId: number, deliveryId: string) {
  const { sql, eshopId } = stack;
  const insert = createInserter(sql);
  await create(sql, insert, receivings, eshopId, 'shop', sampleReceiving);
  const { sku } = sampleProduct;
  const movement = { ...sampleStockMovement, type: 'stock_correction', sku, count: '2' } as const;
  await transaction(sql, (tx) => createMovement(tx, eshopId, 'warehouse', movement));
  await sql`insert into stock_reservations (eshop_id, eshop_order_id, sku, count) values (${eshopId}, 'later', ${sku}, 1)`;
  await recordUnchanged(sql, eshopId, [{ kind: 'product', entityId: sku, at: new Date() }]);
  await sql`insert into import_keys (eshop_id, key, fingerprint) values (${eshopId}, 'line 1', '')`;
  await sql`insert into stored_responses (eshop_id, role, key, response) values (${eshopId}, 'shop', 'request 1', '')`;
  const [user] = await sql<{ id: number }[]>`
    insert into users (eshop_id, username, role, password_hash) values (${eshopId}, 'anna', 'warehouse', '') returning id`;
  await sql`insert into user_eshops (user_id, eshop_id) values (${user?.id ?? null}, ${eshopId})`;
  await sql`
    insert into console_sessions (id_hash, user_id, password_version, expires_at)
    values ('session', ${user?.id ?? null}, 1, now() + interval '1 day')`;
  await sql`
    insert into notice_tokens (token_hash, address_id, expires_at)
    select 'token', id, now() + interval '1 day' from notice_addresses`;
  await stack.changeWebhook(webhookId, { url: `${receiver.url}/moved` });
  await sql`insert into examinations (webhook_id) values (${webhookId})`;
  await sql`
    insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
    select id, event_id, eshop_id, webhook_id, entity_id from deliveries where id = ${deliveryId}`;
  await sql`
    insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, state, exhausted, finished_at)
    values (gen_random_uuid(), ${eshopId}, ${webhookId}, now(), now(), '{failed}', 1, 'completed', true, now())`;
}

/** Everything stored about an order besides its row. */
async function kept(id: string) {
  const { sql } = stack;
  const [event] = await sql<{ snapshot: string }[]>`select snapshot from events where entity_id = ${id}`;
  const [delivery] = await sql<{ id: string; state: string; canceledBy: string | null; responses: number }[]>`
    select id, state, canceled_by,
      (select count(response_excerpt)::integer from attempts where delivery_id = d.id) as responses
    from deliveries d where entity_id = ${id}`;
  if (event === undefined || delivery === undefined) throw new Error(`Order ${id} has no event or delivery.`);
  return { record: JSON.parse(event.snapshot), ...delivery };
}

it('erase-customer erases records, snapshots and responses of one customer after open deliveries end', async () => {
  const { sql, eshopId } = stack;
  await createEshopWithUsers(sql, { name: 'Other', email: 'other@shop.example' });
  receiver.respond(({ text }) => ({ status: 503, headers: { 'retry-after': '600' }, body: text }));
  await stack.createWebhook(receiver.url);
  await create(sql, createInserter(sql), products, eshopId, 'shop', sampleProduct);
  await createOrder('hers', { note: 'rings twice' });
  await createOrder('under way', { recipientEmail: 'Zoe@customer.example' });
  await createOrder('his', {
    recipientEmail: 'jan@customer.example',
    billingEmail: null,
    recipientName: 'Jan',
    billingName: 'Jan',
  });
  await create(sql, createInserter(sql), returns, eshopId, 'shop', { ...sampleReturn, eshopOrderId: 'hers' });
  // The order's address has changed; the event still has the former one.
  await sql`update orders set recipient_email = 'z@new.example', billing_email = null where eshop_order_id = 'hers'`;
  await sql`update orders set status = 'onTheWay' where eshop_order_id = 'under way'`;
  for (const id of ['hers', 'under way', 'his']) await stack.untilWaiting((await kept(id)).id);
  // Without an order.
  const loose = { ...sampleReturn, eshopReturnId: 'loose', eshopOrderId: null };
  await create(sql, createInserter(sql), returns, eshopId, 'shop', loose);
  const before = await order('hers');

  const zoe = ['--email', 'zoe@CUSTOMER.example', '--return', 'loose'];
  const erase = (...args: string[]) =>
    eshop('erase-customer', '--eshop', String(eshopId), ...zoe, '--json', ...args);
  expect((await erase('--yes')).error).toBe(
    '1 order is still in progress: under way (onTheWay). Cancel or finish it first.',
  );
  expect((await erase('--return', 'none', '--dry-run')).error).toBe('There is no return none.');
  await sql`update orders set status = 'delivered' where eshop_order_id = 'under way'`;
  expect((await erase()).error).toMatch('Use --dry-run to see what it would do');
  const found = {
    eshopId,
    orders: ['hers', 'under way'],
    returns: [sampleReturn.eshopReturnId, 'loose'],
    openDeliveries: 2,
  };
  expect(JSON.parse((await erase('--dry-run')).printed)).toEqual({ ...found, erased: false });
  expect(await order('hers')).toEqual(before);

  const unpause = await Promise.all(
    ['hers', 'under way'].map(async (id) =>
      pauseWorkflow(stack.client, await workflowIdOf(sql, (await kept(id)).id)),
    ),
  );
  expect((await erase('--yes')).error).toMatch(
    /^Nothing was erased: delivery \S+: It is paused in Temporal, by temporal-cli:anna@laptop/,
  );
  for (const each of unpause) await each();
  const done = await erase('--yes');
  expect(done.error).toBeUndefined();
  expect(JSON.parse(done.printed)).toEqual({ ...found, erased: true, events: 4, responses: 2 });
  const hers = await kept('hers');
  expect(hers).toMatchObject({ state: 'canceled', canceledBy: 'operator', responses: 0 });
  expect(await stack.untilClosed(hers.id)).toBeDefined();
  const after = await order('hers');
  const nulls = Object.fromEntries(nulledFields.order.map((field) => [field, null]));
  for (const record of [after, hers.record]) {
    expect(record).toMatchObject({
      ...nulls,
      orderFiles: [],
      eshopOrderId: 'hers',
      invoiceNumber: '20260311',
    });
    expect(v.is(orderRecordSchema('v2'), record)).toBe(true);
  }
  expect(after?.updatedAt && before && after.updatedAt > before.updatedAt).toBe(true);
  expect(JSON.stringify(await sql`select * from returns`)).not.toContain(sampleReturn.eshopNote);
  expect(await kept('his')).toMatchObject({
    state: 'retrying',
    responses: 1,
    record: { recipientName: 'Jan' },
  });
  for (const table of ['orders', 'events', 'attempts', 'returns']) {
    const named = await sql`select from ${sql(table)} t where to_jsonb(t)::text ilike '%zo_ nov%'`;
    expect({ [table]: named.length }).toEqual({ [table]: 0 });
  }
});

it('eshop delete ends workflows, exports everything to a file, and leaves no row', async () => {
  const { sql, eshopId } = stack;
  const [other] = await sql<{ id: number }[]>`select id from eshops where id <> ${eshopId}`;
  const { id: held, secret } = await stack.createWebhook(receiver.url);
  const [waiting = ''] = (await stack.fire('waits')).slice(-1);
  await stack.untilState(waiting, 'retrying');
  await stack.changeWebhook(held, { active: false });
  await createOrder('later', { status: 'preOrder', releaseAt: '2099-01-01T00:00:00.000Z' });
  await transaction(sql, (tx) => enqueueReleaseChange(tx, eshopId, 'later', null));
  const timer = stack.client.workflow.getHandle(releaseWorkflowId(eshopId, 'later'));
  await stack.until('its timer', () => timer.describe().catch(() => false));

  const noticeSecret = await setNoticeUrl(stack, eshopId, 'https://chat.example/key');
  await addAddress(sql, eshopId, 'on-call@shop.example');
  await sql`
    insert into notices (eshop_id, webhook_id, kind, recipient, address_id, outcome, settled_at)
    select ${eshopId}, ${held}, 'deactivated', 'address', id, 'sent', now() from notice_addresses`;
  await sql`insert into unhealthy_webhooks (webhook_id, since) values (${held}, now())`;

  // No secret: recognized in the file, in whatever form it would be there.
  const pair = { privateKey: Buffer.from('the sealed private key'), publicKey: Buffer.alloc(32, 7) };
  await ensureSigningKey(sql, eshopId, () => pair);
  await replaceSigningKey(sql, eshopId, pair, true);

  await fillTables(held, waiting);
  const before = await countRows();
  // The relay empties it.
  const empty = Object.keys(before).filter((table) => before[table] === 0 && table !== 'changes_to_signal');
  expect(empty).toEqual([]);
  expect(Object.keys(before).length).toBeGreaterThan(20);

  const file = join(directory, 'leaving.ndjson');
  const looked = await eshop('delete', String(eshopId), '--dry-run', '--json');
  expect(JSON.parse(looked.printed)).toMatchObject({
    eshopId,
    deleted: false,
    orders: 4,
    webhooks: 2,
    returns: 2,
  });
  const taken = await eshop('delete', String(eshopId), '--yes', '--export', directory, '--json');
  expect(taken.error).toMatch(/could not be created/);
  expect(await sql`select from eshops where disabled_at is not null`).toHaveLength(0);
  const done = await eshop('delete', String(eshopId), '--yes', '--export', file, '--json');
  expect(done.error).toBeUndefined();

  expect(await stack.untilEnded(stack.workflowId(waiting))).toBeDefined();
  expect(await stack.untilEnded(timer.workflowId)).toBe('COMPLETED');
  // Only those of the other e-shop are left.
  const left = Object.keys(before).map((table) => [table, 0]);
  expect(await countRows()).toEqual({ ...Object.fromEntries(left), eshops: 1, users: 2 });
  expect(await sql`select id from eshops`).toEqual([{ id: other?.id }]);

  const text = await readFile(file, 'utf8');
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): { kind: string; data: object } => JSON.parse(line));
  expect(lines).toHaveLength(JSON.parse(done.printed).exported);
  expect(new Set(lines.map(({ kind }) => kind))).toEqual(
    new Set([
      'eshop',
      'noticeAddress',
      'user',
      'notice',
      'signingKey',
      'webhook',
      'webhookVersion',
      'deactivation',
      'product',
      'order',
      'receiving',
      'return',
      'stockMovement',
      'storedResponse',
      'event',
      'recovery',
      'delivery',
      'attempt',
    ]),
  );
  expect(lines.find(({ kind }) => kind === 'order')?.data).toMatchObject({
    recipientName: null,
    currency: 'CZK',
  });
  expect(lines.find(({ kind }) => kind === 'signingKey')?.data).toMatchObject({
    publicKey: pair.publicKey.toString('base64'),
    previousPublicKey: pair.publicKey.toString('base64'),
  });
  const sealed = (['base64', 'hex', 'utf8'] as const).map((form) => pair.privateKey.toString(form));
  for (const confidential of [noticeSecret, secret, 'secret"', 'hash"', 'rivateKey', ...sealed])
    expect(text).not.toContain(confidential);
  expect((await eshop('delete', String(eshopId), '--yes')).error).toMatch(`E-shop ${eshopId} does not exist`);
});

it('eshop delete, interrupted after its export, says how to delete the rest', async () => {
  const { sql } = stack;
  const { eshopId } = await createEshopWithUsers(sql, { name: 'Third', email: 'third@shop.example' });
  const file = join(directory, 'interrupted.ndjson');
  const interrupted = await transaction(sql, async (tx) => {
    await tx`select from users where eshop_id = ${eshopId} for update`;
    const deleting = eshop('delete', String(eshopId), '--yes', '--export', file);
    await until('the deletion of its users', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    process.emit('SIGINT');
    return { deleting };
  });
  expect((await interrupted.deleting).error).toBe(
    `It was interrupted; ${file} is complete: run it again without --export to delete the rest.`,
  );
  expect((await eshop('delete', String(eshopId), '--yes')).printed).toMatch(/, was deleted\.$/);
});
