/** Exports everything kept about an e-shop, row by row, without secrets and hashes. */
import type postgres from 'postgres';
import type { Pool, Sql } from '../connection/pool.ts';
import { selected } from '../records/columns.ts';
import { mappings } from '../records/mappings.ts';
import type { TableMapping } from '../records/table-mapping.ts';
import { settingsColumns } from '../webhooks/columns.ts';
import { excludedFromMark } from './low-water-mark.ts';

interface ExportedRow {
  readonly kind: string;
  /** A record in its v2 form; for all other kinds, the columns. */
  readonly data: object;
}

/** Rows read at once. Too low: more round trips. Too high: more memory: an order or a snapshot may be a megabyte. */
const SLICE = 200;

const recordsOf = (mapping: TableMapping<object>) => (sql: Sql, eshopId: number) =>
  sql`
  select ${selected(sql, mapping)} from ${sql(mapping.table)} t where t.eshop_id = ${eshopId}
  order by t.created_at, t.${sql(mapping.entry.idField)}`;

/** The query for each kind, in this order: rows that others refer to come first. */
const queries: Readonly<Record<string, (sql: Sql, eshopId: number) => postgres.Fragment>> = {
  eshop: (sql, id) => sql`
    select id, name, email, contract, warning_mails, recovered_notices, notice_url, notice_format, created_at, disabled_at
    from eshops where id = ${id}`,
  noticeAddress: (sql, id) =>
    sql`select id, address, confirmed_at, asked_at from notice_addresses where eshop_id = ${id} order by id`,
  user: (sql, id) => sql`select id, username, role, created_at from users where eshop_id = ${id} order by id`,
  webhook: (sql, id) => sql`
    select id, ${settingsColumns(sql)}, header_names, registered_at, unregistered_at, deleted_at
    from webhooks where eshop_id = ${id} order by id`,
  webhookVersion: (sql, id) => sql`
    select webhook_id, at, webhook_type, additional_types, url, active, on_stock_change, skip_own, deleted
    from webhook_versions where eshop_id = ${id} order by webhook_id, at, number`,
  deactivation: (sql, id) => sql`
    select webhook_id, at, reason, delivery_id, last_error
    from deactivations where webhook_id in (select id from webhooks where eshop_id = ${id}) order by webhook_id, generation`,
  notice: (sql, id) => sql`
    select id, webhook_id, kind, recipient, address_id, at, outcome, settled_at, error
    from notices where eshop_id = ${id} order by at, id`,
  signingKey: (sql, id) => sql`
    select encode(public_key, 'base64') as public_key, created_at, encode(previous_public_key, 'base64') as previous_public_key,
      previous_created_at, previous_until
    from signing_keys where eshop_id = ${id}`,
  ...Object.fromEntries(Object.entries(mappings).map(([kind, mapping]) => [kind, recordsOf(mapping)])),
  storedResponse: (sql, id) => sql`
    select role, key, kind, entity_id, created_at from stored_responses where eshop_id = ${id} order by role, key`,
  event: (sql, id) => sql`
    select id, type, entity_id, sequence, happened_at, snapshot::json as snapshot, origin, changed, test, created_at
    from events where eshop_id = ${id} order by id`,
  recovery: (sql, id) => sql`
    select id, webhook_id, since, until, include, state, by, comment, found, created, created_at, finished_at
    from recoveries where eshop_id = ${id} order by id`,
  delivery: (sql, id) => sql`
    select id, event_id, webhook_id, recovery_id, event_type, entity_id, sequence, state, superseded_by, canceled_by,
      operator_actions, created_at, finished_at, attempts_made, last_status, last_error
    from deliveries where webhook_id in (select id from webhooks where eshop_id = ${id}) order by id`,
  attempt: (sql, id) => sql`
    select a.delivery_id, a.number, a.started_at, a.finished_at, a.outcome, a.duration_ms, a.status, a.error, a.response_excerpt
    from deliveries d join attempts a on a.delivery_id = d.id
    where d.webhook_id in (select id from webhooks where eshop_id = ${id}) order by a.delivery_id, a.number`,
};

/** The name of the session during the export. */
const NAME = 'waybill export';

/** Passes all rows, as they are when the export begins, to `write`, a slice at a time. */
export async function exportEshop(
  sql: Pool,
  eshopId: number,
  write: (rows: readonly ExportedRow[]) => Promise<void>,
): Promise<void> {
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx`select ${excludedFromMark(tx, NAME)}`;
    for (const [kind, query] of Object.entries(queries)) {
      for await (const rows of tx<object[]>`${query(tx, eshopId)}`.cursor(SLICE))
        await write(rows.map((data) => ({ kind, data })));
    }
  });
}
