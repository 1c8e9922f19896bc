/** The columns of a webhook are its fields in snake case: a new field goes into the schema and gets a column. */
import postgres from 'postgres';
import { requestFields, type WebhookSettings, webhookFields } from '../../domain/webhook.ts';
import type { SealedHeaders } from '../../secrets/static-headers.ts';
import type { Sql } from '../connection/pool.ts';

/** The alias that qualifies columns where needed. */
type Alias = 'w' | 'f' | 'x';

const columnList = (fields: readonly string[], alias?: Alias) =>
  fields.map((field) => `${alias === undefined ? '' : `${alias}.`}"${postgres.fromCamel(field)}"`).join(', ');

/** The columns that an e-shop writes. */
export const settingsColumns = (sql: Sql, alias?: Alias) => sql.unsafe(columnList(webhookFields, alias));

/** The columns that determine the request. */
export const requestColumns = (sql: Sql, alias?: Alias) => sql.unsafe(columnList(requestFields, alias));

/** A body as a row of `webhooks`, to select from; all other columns are null. */
export const rowOf = (sql: Sql, input: WebhookSettings) =>
  sql`json_populate_record(null::webhooks, ${JSON.stringify(
    Object.fromEntries(webhookFields.map((field) => [postgres.fromCamel(field), input[field]])),
  )}::text::json)`;

/** The names of static headers, for a column of type `text[]`. */
export const headerNamesOf = (names: SealedHeaders['headerNames']) => (names === null ? null : [...names]);
