/**
 * Which lines of an import were applied under a key: written in the transaction that applies the line, so that a line
 * is applied once however often it is sent, and one that failed can be sent again.
 * @module
 */
import { createHash } from 'node:crypto';
import { conflict } from '../domain/problem.ts';
import type { Sql } from './pool.ts';

/** How long a key is remembered, in days. */
export const IMPORT_KEY_DAYS = 30;

/**
 * Takes a key for a line. A second line of the same key waits until the first one's transaction has ended.
 * @param line what the key stands for; compared with what it stood for before
 * @returns false when this very line was applied before
 * @throws Problem 409 when the key was used for another line
 */
export async function takeImportKey(
  tx: Sql,
  eshopId: number,
  key: string,
  line: readonly unknown[],
): Promise<boolean> {
  const fingerprint = createHash('sha256').update(JSON.stringify(line)).digest();
  const taken = await tx`
    insert into import_keys ${tx({ eshopId, key, fingerprint })}
    on conflict (eshop_id, key) do nothing returning key`;
  if (taken.length > 0) return true;
  const same = await tx`
    select key from import_keys
    where eshop_id = ${eshopId} and key = ${key} and fingerprint = ${fingerprint}`;
  if (same.length > 0) return false;
  throw conflict(`The idempotencyKey "${key}" was already used for a different line.`);
}

/** Forgets the keys that are old enough. */
export async function forgetImportKeys(sql: Sql): Promise<void> {
  await sql`delete from import_keys where created_at < now() - make_interval(days => ${IMPORT_KEY_DAYS})`;
}
