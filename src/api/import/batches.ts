/** Writes the lines of an import, several to a transaction, to share its cost. */
import type { Turns } from '../../concurrency/turns.ts';
import type { Pool } from '../../db/connection/pool.ts';
import { CLASS, type DeliveryClass } from '../../db/outbox/outbox.ts';
import { importKeysOf, type KeyedLine } from '../../db/records/import-keys.ts';
import { UnitOfWork } from '../../db/records/unit-of-work.ts';
import { isRolledBack, retryOnDeadlock, transaction } from '../../db/transaction.ts';
import { isDatabaseError } from '../../lib/database-away.ts';
import { type Applied, type Prepared, readFor } from './operations.ts';
import type { Access } from './still-allowed.ts';

/** The maximum number of lines in a transaction: its locks last for milliseconds. */
export const BATCH_LINES = 50;
/** The lines of the first transaction: the size of their records is not known yet. */
const FIRST_LINES = 10;
/** The maximum number of bytes of the lines in a transaction, unless a single line has more, and of their events. */
const BATCH_BYTES = 256 * 1024;
/** After this time, in milliseconds, a transaction takes no more lines: others may wait for its locks. */
const TRANSACTION_TARGET_MS = 50;

interface BatchLine {
  readonly prepared: Prepared;
  /** The identifier of the record, if the line names one. */
  readonly id: string | undefined;
  readonly keyed: KeyedLine | undefined;
  readonly bytes: number;
}

/** The outcome of a line: its result, or why it had no effect. */
type Outcome = { readonly applied: Applied } | { readonly error: unknown };

interface Waiting {
  readonly line: BatchLine;
  answer(outcome: Outcome): void;
}

/**
 * Writes the lines of an import in the order of the calls.
 * @param access checked before each transaction
 * @param turns one for each transaction
 * @param breathe called before each line, may wait
 * @returns rejects with the error of the line
 */
export function createBatches(
  sql: Pool,
  eshopId: number,
  access: Access,
  turns: Turns,
  breathe: () => Promise<void> | undefined,
): (line: BatchLine) => Promise<Applied> {
  const waiting: Waiting[] = [];
  let writing = false;
  /** How many of the next lines are written alone, because the database has refused one of them. */
  let alone = 0;
  /** The lines of the next transaction: more after one that took all of its lines, fewer after one that did not. */
  let lineLimit = FIRST_LINES;

  async function writeWaiting(): Promise<void> {
    writing = true;
    // Lines already read join the first one.
    await new Promise((round) => setImmediate(round));
    while (waiting.length > 0) {
      await turns.run(eshopId, async () => {
        const batch = waiting.slice(0, alone > 0 ? 1 : sizeOf(waiting, lineLimit));
        // An occasional line is delivered like any change. Large lines make small batches, with more lines waiting.
        const much = batch.length >= FIRST_LINES || (alone === 0 && batch.length < waiting.length);
        const outcomes = await outcomesOf(
          batch.map(({ line }) => line),
          much ? CLASS.bulk : CLASS.fresh,
        );
        alone = Math.max(0, alone - outcomes.length);
        for (const [index, outcome] of outcomes.entries()) batch[index]?.answer(outcome);
        waiting.splice(0, outcomes.length);
        lineLimit =
          outcomes.length < batch.length
            ? Math.max(1, outcomes.length)
            : Math.min(BATCH_LINES, 2 * lineLimit);
      });
    }
    writing = false;
  }

  /** The outcomes of the first of these lines; none if they must be written alone. */
  async function outcomesOf(lines: readonly BatchLine[], deliveryClass: DeliveryClass): Promise<Outcome[]> {
    try {
      await access.check();
      return await retryOnDeadlock(() => together(lines, deliveryClass));
    } catch (error) {
      // By refusing one line the database has undone all: writing them alone shows which one it was.
      if (lines.length > 1 && isRolledBack(error)) {
        alone = lines.length;
        return [];
      }
      return lines.map(() => ({ error }));
    }
  }

  async function together(lines: readonly BatchLine[], deliveryClass: DeliveryClass): Promise<Outcome[]> {
    const results = await transaction(sql, async (tx) => {
      const work = new UnitOfWork(tx, eshopId, 'warehouse', deliveryClass);
      await importKeysOf(work).take(lines.flatMap(({ keyed }) => (keyed === undefined ? [] : [keyed])));
      await readFor(
        work,
        lines.map(({ prepared }) => prepared),
      );
      const results: ({ readonly error: unknown } | { readonly applied: () => Applied })[] = [];
      const began = performance.now();
      for (const line of lines) {
        await breathe();
        try {
          results.push({ applied: await work.savepoint(() => apply(work, line)) });
        } catch (error) {
          if (isDatabaseError(error)) throw error;
          results.push({ error });
        }
        if (work.eventBytes > BATCH_BYTES || performance.now() - began > TRANSACTION_TARGET_MS) break;
      }
      await work.write();
      return results;
    });
    return results.map((result) => ('error' in result ? result : { applied: result.applied() }));
  }

  return async (line) => {
    const outcome = await new Promise<Outcome>((answer) => {
      waiting.push({ line, answer });
      if (!writing) void writeWaiting();
    });
    if ('error' in outcome) throw outcome.error;
    return outcome.applied;
  };
}

/** How many of the waiting lines go into one transaction. */
function sizeOf(waiting: readonly Waiting[], lineLimit: number): number {
  let bytes = 0;
  const end = waiting.findIndex(({ line }, index) => {
    bytes += line.bytes;
    return index > 0 && (index >= lineLimit || bytes > BATCH_BYTES);
  });
  return end < 0 ? waiting.length : end;
}

async function apply(work: UnitOfWork, { prepared, keyed, id }: BatchLine): Promise<() => Applied> {
  if (keyed !== undefined && !importKeysOf(work).use(keyed))
    return () => ({ message: 'Already applied.', repeated: true, ...(id === undefined ? {} : { id }) });
  return prepared.apply(work);
}
