/**
 * The first answers to requests with an `Idempotency-Key`, kept for those who send the request again. An answer is
 * written in the transaction of what it tells, so there is never one without the other (docs/interface.md, C21).
 */
import { createHash } from 'node:crypto';
import type { EntityKind } from '../domain/event-types.ts';
import type { AnswerOwner } from '../secrets/keys.ts';
import type { SealedTable } from './reseal.ts';
import type { Transaction } from './transaction.ts';

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

/** Removes the answers that show these records. Their identifiers are taken: a repeated request makes none again. */
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

const BEGINNING = { eshopId: 0, role: '', key: '' };

export const sealedAnswers: SealedTable<SealedAnswer, Buffer> = {
  read: (tx, limit, { eshopId, role, key }: AnswerOwner = BEGINNING) => tx<SealedAnswer[]>`
    select eshop_id, role, key, answer from kept_answers
    where (eshop_id, role, key) > (${eshopId}::int, ${role}, ${key}) order by eshop_id, role, key limit ${limit} for update`,
  write: (tx, answer, { eshopId, role, key }) => tx`
    update kept_answers set answer = ${answer}
    where eshop_id = ${eshopId} and role = ${role} and key = ${key}`,
};
