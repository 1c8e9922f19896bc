/** A webhook's schema and its tables agree. */
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { requestFields, webhookFields } from '../../../src/domain/webhook.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();

test.each([
  ['webhooks', webhookFields],
  ['former_request_settings', requestFields],
])('%s has a column for each field, named alike in snake case', async (table, fields) => {
  const columns = await database.sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = ${table}`;
  const named = new Set(columns.map(({ name }) => name));
  expect(fields.map(postgres.fromCamel).filter((column) => !named.has(column))).toEqual([]);
});
