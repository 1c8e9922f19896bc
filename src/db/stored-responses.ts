/**
 * The first responses to requests with an `Idempotency-Key`, stored for clients that repeat the request. A response
 * is stored in the transaction of the request's effects, so there is never one without the other (docs/interface.md,
 * C21).
 */
import { createHash } from 'node:crypto';
import type { EntityKind } from '../domain/event-types.ts';
import type { ResponseOwner } from '../secrets/keys.ts';
import type { SealedTable } from './reseal.ts';
import type { Transaction } from './transaction.ts';

/** How long a response is stored, in hours. */
export const STORED_RESPONSE_HOURS = 24;

/** The record that a request creates. */
export interface CreatedRecord {
  readonly kind: EntityKind;
  readonly entityId: string;
}

/**
 * The advisory lock of a key: a cryptographic hash of 64 bits. With any other hash, an e-shop could find a key that
 * takes another e-shop's lock, or one of Waybill's own locks.
 */
function lockOf({ eshopId, role, key }: ResponseOwner): string {
  const hash = createHash('sha256').update(`answer ${eshopId} ${role} ${key}`).digest();
  return String(hash.readBigInt64BE());
}

/**
 * Takes a key until the end of the transaction. Its lock is one of the transaction, not of the session: it ends
 * with a process that dies, and a pooler may be in front of the server.
 * @returns the sealed response, if one is stored; `inProgress` if another transaction has the key
 */
export async function claimKey(
  tx: Transaction,
  owner: ResponseOwner,
): Promise<Buffer | 'acquired' | 'inProgress'> {
  const { eshopId, role, key } = owner;
  // Two statements: the second also sees what was committed until the lock was free.
  const [locked, [stored]] = await Promise.all([
    tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lockOf(owner)}::bigint) as mine`,
    tx<{ response: Buffer }[]>`
      select response from stored_responses
      where eshop_id = ${eshopId} and role = ${role} and key = ${key}
        and created_at > now() - make_interval(hours => ${STORED_RESPONSE_HOURS})`,
  ]);
  if (stored !== undefined) return stored.response;
  return locked[0]?.mine === true ? 'acquired' : 'inProgress';
}

/** Stores the response under a key that the transaction has acquired. */
export async function storeResponse(
  tx: Transaction,
  { eshopId, role, key }: ResponseOwner,
  sealed: Buffer,
  record: CreatedRecord | null,
): Promise<void> {
  // An expired response stays until the retention removes it.
  await tx`
    insert into stored_responses (eshop_id, role, key, response, kind, entity_id)
    values (${eshopId}, ${role}, ${key}, ${sealed}, ${record?.kind ?? null}, ${record?.entityId ?? null})
    on conflict (eshop_id, role, key) do update
    set response = excluded.response, kind = excluded.kind, entity_id = excluded.entity_id, created_at = excluded.created_at`;
}

/**
 * Removes the responses that show these records. A repeated request cannot create them again: their identifiers are
 * in use.
 */
export async function removeResponsesOf(
  tx: Transaction,
  eshopId: number,
  kind: EntityKind,
  ids: readonly string[],
): Promise<void> {
  await tx`delete from stored_responses where eshop_id = ${eshopId} and kind = ${kind} and entity_id = any(${[...ids]})`;
}

/** A sealed response, with its place in the order of the table. */
interface SealedResponse extends ResponseOwner {
  readonly response: Buffer;
}

const BEGINNING = { eshopId: 0, role: '', key: '' };

export const sealedResponses: SealedTable<SealedResponse> = {
  read: (tx, limit, { eshopId, role, key }: ResponseOwner = BEGINNING) => tx<SealedResponse[]>`
    select eshop_id, role, key, response from stored_responses
    where (eshop_id, role, key) > (${eshopId}::int, ${role}, ${key}) order by eshop_id, role, key limit ${limit} for update`,
  owner: ({ eshopId, role, key }) => ({ eshopId, role, key }),
  values: ({ response }) => [response],
  write: (tx, { eshopId, role, key }, [response = null]) => tx`
    update stored_responses set response = ${response}
    where eshop_id = ${eshopId} and role = ${role} and key = ${key}`,
};
