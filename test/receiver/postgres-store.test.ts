/** The store and the order in Postgres shown by README and guide: they are atomic, and survive a killed process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { schema as orderSchema, postgresOrder } from '../../receiver/examples/postgres-order.ts';
import { postgresStore, schema } from '../../receiver/examples/postgres-store.ts';
import { receiver, type Store } from '../../receiver/src/index.ts';
import { fakeDelivery, sign, testSecret } from '../../receiver/src/testing.ts';
import { later } from '../support/later.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

const newId = () => crypto.randomUUID();

const database = await databaseOfFile();
await database.sql.unsafe(`${schema}; ${orderSchema}`);
const store: Store = postgresStore(database.sql);

test('only one of many simultaneous claims succeeds, and none after the delivery is done', async () => {
  const id = newId();
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, index) => store.claim(id, `claimant ${index}`, 60_000)),
  );
  expect(claims.sort()).toEqual(['busy', 'busy', 'busy', 'busy', 'busy', 'busy', 'busy', 'claimed']);
  await store.done(id);
  expect(await store.claim(id, 'late', 60_000)).toBe('done');
});

test('a claim that expired, or was released by its claimant, can be made again', async () => {
  const id = newId();
  expect(await store.claim(id, 'first', 0)).toBe('claimed');
  expect(await store.claim(id, 'second', 60_000)).toBe('claimed');
  await store.release(id, 'first');
  expect(await store.claim(id, 'third', 60_000)).toBe('busy');
  await store.release(id, 'second');
  expect(await store.claim(id, 'third', 60_000)).toBe('claimed');
});

test('handled deliveries are known, claimed ones are not', async () => {
  const [done, claimed, unknown] = [newId(), newId(), newId()];
  await store.done(done);
  await store.claim(claimed, 'somebody', 60_000);
  expect(await store.handledOf([done, claimed, unknown])).toEqual(new Set([done]));
  expect(await store.handledOf([])).toEqual(new Set());
  await store.release(done, 'somebody');
  expect(await store.claim(done, 'next', 60_000)).toBe('done');
});

test('only one of many claimants gets the turn of a record, and the greatest sequence is kept', async () => {
  const order = postgresOrder(database.sql);
  const begun = await Promise.all(
    Array.from({ length: 8 }, (_, index) => order.begin('order 1', `claimant ${index}`, 60_000)),
  );
  expect(begun.filter((each) => each === 'busy')).toHaveLength(7);
  const claimant = `claimant ${begun.indexOf(0)}`;
  await order.release('order 1', 'somebody else');
  expect(await order.begin('order 1', 'late', 60_000)).toBe('busy');
  await order.advance('order 1', claimant, 7);
  expect(await order.begin('order 1', 'next', 0)).toBe(7);
  // Its turn has expired.
  expect(await order.begin('order 1', 'last', 60_000)).toBe(7);
  await order.advance('order 1', 'next', 5);
  expect(await order.begin('order 1', 'late', 60_000)).toBe('busy');
  await order.release('order 1', 'last');
  expect(await order.begin('order 1', 'late', 60_000)).toBe(7);
});

test('the second of two simultaneous deliveries of a record waits for its turn', async () => {
  const [held, finish] = later();
  const seen: number[] = [];
  const hooks = receiver({ secrets: testSecret, store, order: postgresOrder(database.sql) }).otherwise(
    async (_, { sequence }) => {
      seen.push(sequence);
      if (seen.length === 1) await held;
    },
  );
  const send = async (sequence: number) =>
    hooks(await fakeDelivery('UPDATE_ORDER', { id: newId(), sequence }));
  const first = send(1);
  await until('the handler to run', async () => seen.length === 1);
  const second = send(2);
  setTimeout(finish, 100);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  expect(seen).toEqual([1, 2]);
});

const shop = fileURLToPath(new URL('./shop.ts', import.meta.url));

/** Starts a receiver as a separate process. */
async function startShop(handler: 'hangs' | 'works') {
  const child = spawn(process.execPath, ['--import', 'tsx', shop, database.url, handler], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const said = (pattern: RegExp) => until(String(pattern), async () => pattern.exec(output)?.[1]);
  return {
    url: await said(/listening at (\S+)/),
    said,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

test('after a process was killed, the next attempt is handled and its repeat is dropped', async () => {
  const id = newId();
  const body = '{"eshopOrderId":"10001"}';
  const send = async (url: string) => {
    const headers = await sign({ method: 'POST', url, kind: 'CREATE_ORDER', id, body });
    const response = await fetch(url, { method: 'POST', headers, body });
    return `${response.status} ${await response.text()}`;
  };
  const first = await startShop('hangs');
  let second: Awaited<ReturnType<typeof startShop>> | undefined;
  try {
    const lost = send(first.url).catch(() => 'lost');
    await first.said(/begun (10001)/);
    await first.kill();
    expect(await lost).toBe('lost');

    second = await startShop('works');
    const { url } = second;
    // 503 until the dead process's claim has expired.
    const answer = await until('the claim to run out', async () => {
      const said = await send(url);
      return !said.startsWith('503') && said;
    });
    expect(answer).toContain('200 Handled.');
    expect(await send(url)).toContain('200 Handled before');
  } finally {
    await first.kill();
    await second?.kill();
  }
});
