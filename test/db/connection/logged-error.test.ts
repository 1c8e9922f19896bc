/** Postgres's error messages may quote the values of a row; the log does not. */
import { expect, test } from 'vitest';
import { loggedError } from '../../../src/log/logged-error.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();

async function thrownBy(query: string, values: string[] = []): Promise<Error> {
  try {
    await database.sql.unsafe(query, values);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

const everything = (error: Error) =>
  JSON.stringify([
    error.message,
    ...Object.getOwnPropertyNames(error).map((name) => Reflect.get(error, name)),
  ]);

test.each([
  ['a value that Postgres cannot read', "select 'Planted Nov\u00e1kov\u00e1'::int", '22P02'],
  ['text that is not JSON', `select '{"name": Planted}'::json`, '22P02'],
])('the log omits %s', async (_, query, code) => {
  const error = await thrownBy(query);
  expect(everything(error)).toContain('Planted');
  const logged = loggedError(error);
  expect(JSON.stringify(logged)).not.toContain('Planted');
  expect(logged).toMatchObject({ type: 'PostgresError', code });
});

test('the log omits the values of a duplicate row', async () => {
  await database.sql`create table twice (name text primary key)`;
  await database.sql`insert into twice values ('Planted')`;
  const error = await thrownBy('insert into twice values ($1)', ['Planted']);
  expect(everything(error)).toContain('Planted');
  const logged = loggedError(error);
  expect(JSON.stringify(logged)).not.toContain('Planted');
  expect(logged).toMatchObject({ code: '23505', message: expect.stringContaining('twice_pkey') });
});
