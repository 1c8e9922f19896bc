/** A pool whose connections are no sessions with the server prepares no statements. */
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/connection/pool.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';

/** One connection, with a count of the messages sent on it. */
async function openConnection() {
  const { url, drop } = await createTestDatabase();
  const proxy = await startTcpProxy({ port: Number(new URL(url).port) });
  const sql = createPool(Object.assign(new URL(url), { host: proxy.host }).href, 1, { session: false });
  onTestFinished(async () => {
    await sql.end();
    await proxy.close();
    await drop();
  });
  return { sql, proxy };
}

test('a statement is described once, then takes one round trip', async () => {
  const { sql, proxy } = await openConnection();
  const add = async (a: number, at: Date, bytes: Buffer) => {
    const before = proxy.sent;
    const rows =
      await sql`select ${a}::int + ${1}::bigint as sum, ${at}::timestamptz as at, ${bytes}::bytea as bytes`;
    return { rows: [...rows], trips: proxy.sent - before };
  };
  const [first, second] = [new Date('2026-02-03T04:05:06.789Z'), new Date('2027-02-03T04:05:06Z')];
  await sql`select 1`;
  expect(await add(1, first, Buffer.from([0, 255]))).toEqual({
    rows: [{ sum: '2', at: first, bytes: Buffer.from([0, 255]) }],
    trips: 2,
  });
  expect(await add(41, second, Buffer.from([92]))).toEqual({
    rows: [{ sum: '42', at: second, bytes: Buffer.from([92]) }],
    trips: 1,
  });
});

test('a failed statement is described again, since a column may have changed its type', async () => {
  const { sql } = await openConnection();
  await sql`create table noted (value integer)`;
  const note = (value: string) => sql`insert into noted (value) values (${value}) returning value`;
  await note('1');
  await expect(note('x')).rejects.toMatchObject({ code: '22P02' });
  await sql`alter table noted alter column value type text`;
  await note('2');
  await expect(note('y')).resolves.toEqual([{ value: 'y' }]);
});
