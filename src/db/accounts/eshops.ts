/** E-shops and their contracts. */
import type { Contract } from '../../domain/contract.ts';
import { hashApiKey, newApiKey } from '../../secrets/keys.ts';
import { IMPORT_LOCK } from '../advisory-locks.ts';
import { firstRow, oneRow, type Sql } from '../connection/pool.ts';

interface EshopRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

/**
 * Creates an e-shop.
 * @param eshop `email` receives the notifications about deactivated webhooks
 * @returns its id and its API key, which is stored as a hash only and cannot be shown again
 */
export async function createEshop(sql: Sql, eshop: { readonly name: string; readonly email: string }) {
  const apiKey = newApiKey();
  return { eshopId: await insertEshop(sql, eshop, hashApiKey(apiKey)), apiKey };
}

/** Creates an e-shop that has an API key already. @param apiKeyHash SHA-256 */
export async function insertEshop(
  sql: Sql,
  { name, email }: { readonly name: string; readonly email: string },
  apiKeyHash: Buffer,
): Promise<number> {
  const row = await oneRow(sql<{ id: number }[]>`
    insert into eshops (name, email, api_key_hash) values (${name}, ${email}, ${apiKeyHash}) returning id`);
  return row.id;
}

/** The e-shop with this name and e-mail address, or with this API key (SHA-256 in hexadecimal); null without one. */
export async function findImportedEshop(
  sql: Sql,
  eshop: { readonly name: string; readonly email: string; readonly apiKeyHash: string | null },
): Promise<number | null> {
  const { name, email, apiKeyHash } = eshop;
  const [row] = await sql<{ id: number }[]>`
    select id from eshops
    where (name = ${name} and email = ${email}) or api_key_hash = decode(${apiKeyHash}, 'hex')
    order by id limit 1`;
  return row?.id ?? null;
}

/** Makes imports of e-shops wait for each other until the transaction ends, so that no e-shop is created twice. */
export async function lockImports(tx: Sql): Promise<void> {
  await tx`select pg_advisory_xact_lock(${IMPORT_LOCK})`;
}

export async function listEshops(sql: Sql): Promise<EshopRow[]> {
  return await sql<EshopRow[]>`select id, name, email, created_at, disabled_at from eshops order by id`;
}

export async function findEshop(sql: Sql, eshopId: number): Promise<EshopRow | null> {
  return await firstRow(sql<EshopRow[]>`
    select id, name, email, created_at, disabled_at from eshops where id = ${eshopId}`);
}

/** Changes the given fields of an e-shop. @returns false when there is no such e-shop */
export async function updateEshop(
  sql: Sql,
  eshopId: number,
  { name, email }: { readonly name?: string | undefined; readonly email?: string | undefined },
): Promise<boolean> {
  const rows = await sql`
    update eshops set name = coalesce(${name ?? null}, name), email = coalesce(${email ?? null}, email)
    where id = ${eshopId} returning id`;
  return rows.length > 0;
}

/**
 * Gives an e-shop a new API key; the previous one stops working at once.
 * @returns the key, which cannot be shown again; null when there is no such e-shop
 */
export async function rotateApiKey(sql: Sql, eshopId: number): Promise<string | null> {
  const apiKey = newApiKey();
  const rows =
    await sql`update eshops set api_key_hash = ${hashApiKey(apiKey)} where id = ${eshopId} returning id`;
  return rows.length > 0 ? apiKey : null;
}

/** Closes the API to an e-shop, or opens it again; its deliveries go on. @returns false if there is no such e-shop */
export async function setDisabled(sql: Sql, eshopId: number, disabled: boolean): Promise<boolean> {
  const rows = await sql`
    update eshops set disabled_at = ${disabled ? sql`coalesce(disabled_at, now())` : null}
    where id = ${eshopId} returning id`;
  return rows.length > 0;
}

/** The id of the e-shop that an API key belongs to; null if there is none or it is disabled. */
export async function findEshopByApiKey(sql: Sql, apiKey: string): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id from eshops where api_key_hash = ${hashApiKey(apiKey)} and disabled_at is null`;
  return row?.id ?? null;
}

/** The stored contract, to be read by `contractOf`; null for an unknown e-shop. */
export async function readContract(sql: Sql, eshopId: number): Promise<unknown> {
  const [row] = await sql<{ contract: unknown }[]>`select contract from eshops where id = ${eshopId}`;
  return row?.contract ?? null;
}

/** Changes the given fields of an e-shop's contract; the rest stays. @returns false when there is no such e-shop */
export async function updateContract(
  sql: Sql,
  eshopId: number,
  change: { readonly [Field in keyof Contract]?: Contract[Field] | undefined },
): Promise<boolean> {
  const rows = await sql`
    update eshops set contract = contract || ${sql.json(change)}::jsonb where id = ${eshopId} returning id`;
  return rows.length > 0;
}
