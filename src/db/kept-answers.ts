/**
 * The first answers to requests with an `Idempotency-Key`, kept for those who send the request again. An answer is
 * written in the transaction of what it tells, so there is never one without the other (docs/interface.md, C21).
 */
import { createHash } from 'node:crypto';
import type { EntityKind } from '../domain/event-types.ts';
import type { AnswerOwner } from '../secrets/keys.ts';
import type { Pool, Sql } from './pool.ts';
import { type Transaction, transaction } from './transaction.ts';

/** How long an answer is kept, in hours. */
export const KEPT_ANSWER_HOURS = 24;

/** The record that a request creates. */
export interface AnsweredRecord {
  readonly kind: EntityKind;
  readonly entityId: string;
}

/**
 * The advisory lock of a key, of 64 bits. A cryptographic hash: of any other, an e-shop could find a key whose lock
 * is another's, or one of the numbers that Waybill's own work locks.
 */
function lockOf({ eshopId, role, key }: AnswerOwner): string {
  const hash = createHash('sha256').update(`answer ${eshopId} ${role} ${key}`).digest();
  return String(hash.readBigInt64BE());
}

/**
 * Takes a key until the end of the transaction. Its lock is one of the transaction, not of the session: it ends
 * with a process that dies, and a pooler may be in front of the server.
 * @returns the sealed answer, if one is kept; `underWay` if another transaction has the key
 */
export async function claimKey(tx: Transaction, owner: AnswerOwner): Promise<Buffer | 'free' | 'underWay'> {
  const { eshopId, role, key } = owner;
  // Two statements: the second also sees what was committed until the lock was free.
  const [locked, [kept]] = await Promise.all([
    tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lockOf(owner)}::bigint) as mine`,
    tx<{ answer: Buffer }[]>`
      select answer from kept_answers
      where eshop_id = ${eshopId} and role = ${role} and key = ${key}
        and created_at > now() - make_interval(hours => ${KEPT_ANSWER_HOURS})`,
  ]);
  if (kept !== undefined) return kept.answer;
  return locked[0]?.mine === true ? 'free' : 'underWay';
}

/** Keeps the answer under a key that the transaction has taken. */
export async function keepAnswer(
  tx: Transaction,
  { eshopId, role, key }: AnswerOwner,
  sealed: Buffer,
  record: AnsweredRecord | null,
): Promise<void> {
  // An expired answer may be there until the retention has removed it.
  await tx`
    insert into kept_answers (eshop_id, role, key, answer, kind, entity_id)
    values (${eshopId}, ${role}, ${key}, ${sealed}, ${record?.kind ?? null}, ${record?.entityId ?? null})
    on conflict (eshop_id, role, key) do update
    set answer = excluded.answer, kind = excluded.kind, entity_id = excluded.entity_id, created_at = excluded.created_at`;
}

/**
 * Removes the answers that show these records. Their identifiers are taken, so a repeated request creates none
 * again.
 */
export async function removeAnswersOf(
  tx: Transaction,
  eshopId: number,
  kind: EntityKind,
  ids: readonly string[],
): Promise<void> {
  await tx`delete from kept_answers where eshop_id = ${eshopId} and kind = ${kind} and entity_id = any(${[...ids]})`;
}

/** A sealed answer, with its place in the order of the table. */
interface SealedAnswer extends AnswerOwner {
  readonly answer: Buffer;
}

/**
 * Reseals the next answers in one transaction, for a new master key.
 * @param after the last one of the previous batch; null for the first
 * @param reseal returns the new value; null to leave it as it is
 * @returns the last one read, or null if none were left
 */
export async function resealAnswers(
  sql: Pool,
  after: AnswerOwner | null,
  limit: number,
  reseal: (sealed: Buffer, owner: AnswerOwner) => Buffer | null,
): Promise<AnswerOwner | null> {
  return await transaction(sql, async (tx) => {
    const rows = await readAnswers(tx, after, limit);
    for (const { answer, ...owner } of rows) {
      const made = reseal(answer, owner);
      if (made === null) continue;
      await tx`
        update kept_answers set answer = ${made}
        where eshop_id = ${owner.eshopId} and role = ${owner.role} and key = ${owner.key}`;
    }
    return rows.at(-1) ?? null;
  });
}

async function readAnswers(tx: Sql, after: AnswerOwner | null, limit: number): Promise<SealedAnswer[]> {
  const { eshopId, role, key } = after ?? { eshopId: 0, role: '', key: '' };
  return await tx<SealedAnswer[]>`
    select eshop_id, role, key, answer from kept_answers
    where (eshop_id, role, key) > (${eshopId}::int, ${role}, ${key}) order by eshop_id, role, key limit ${limit} for update`;
}
