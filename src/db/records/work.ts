/**
 * What one transaction does to the records of an e-shop, its unit of work: it reads under locks what it needs, changes it in
 * memory, and writes all changes at its end in a few statements. So several changes cost little more than one, and
 * each of them still finds what the one before it has left.
 */
import { type EventText, recordEvents } from '../outbox/events.ts';
import { QUEUE, type Queue } from '../outbox/outbox.ts';
import type { Transaction } from '../transaction.ts';
import { StagedList } from './staged.ts';
import { noteUnchanged, type UnchangedWrite } from './unchanged.ts';

/** What a unit of work holds of one kind: records of a family, stock. */
export interface Part {
  /** What was staged since the last call stays. */
  keep(): void;
  /** What was staged since the last call of `keep` is forgotten. */
  drop(): void;
  /** Sends the statements that write what was kept. */
  write(): Promise<unknown>;
}

/** An event, whose record is complete once the parts are written. */
export type StagedEvent = () => EventText;

/** The unit of work of a transaction. */
export class Work {
  readonly tx: Transaction;
  readonly eshopId: number;
  readonly #queue: Queue;
  readonly #events = new StagedList<StagedEvent>();
  readonly #unchanged = new StagedList<UnchangedWrite>();
  readonly #parts: Part[] = [];
  #eventBytes = 0;
  #now: Date | undefined;

  /** @param queue the class in which the deliveries of its events wait */
  constructor(tx: Transaction, eshopId: number, queue: Queue = QUEUE.fresh) {
    this.tx = tx;
    this.eshopId = eshopId;
    this.#queue = queue;
  }

  /** The time by the database's clock at which the last lock was got. */
  get now(): Date {
    if (this.#now === undefined) throw new Error('The transaction has locked nothing yet.');
    return this.#now;
  }

  /** Notes the time at which a lock was got; it never goes back. */
  lockedAt(now: Date): void {
    if (this.#now === undefined || now > this.#now) this.#now = now;
  }

  /** Roughly the bytes of the events that were staged. */
  get eventBytes(): number {
    return this.#eventBytes;
  }

  /**
   * Stages an event.
   * @param event asked once the parts are written
   * @param bytes of its record, roughly
   */
  fire(event: StagedEvent, bytes = 0): void {
    this.#eventBytes += bytes;
    this.#events.push(event);
  }

  /** Remembers a write that changed nothing. */
  unchanged(write: UnchangedWrite): void {
    this.#unchanged.push(write);
  }

  add(part: Part): void {
    this.#parts.push(part);
  }

  /** Makes a change whole or not at all: when it throws, nothing of it stays, and the others are not affected. */
  async attempt<T>(change: () => Promise<T>): Promise<T> {
    try {
      const result = await change();
      for (const each of [this.#events, this.#unchanged, ...this.#parts]) each.keep();
      return result;
    } catch (error) {
      for (const each of [this.#events, this.#unchanged, ...this.#parts]) each.drop();
      throw error;
    }
  }

  /** Writes everything, the events last: they carry what the writing has added to a record. */
  async write(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.write()));
    await noteUnchanged(this.tx, this.eshopId, this.#unchanged.kept);
    await recordEvents(
      this.tx,
      this.eshopId,
      this.#events.kept.map((event) => event()),
      this.#queue,
    );
  }
}

/**
 * Makes a kind of part: each unit of work gets one of its own when it first asks.
 * @example const stockOf = partOf((work) => new StockPart(work));
 */
export function partOf<P extends Part>(make: (work: Work) => P): (work: Work) => P {
  const parts = new WeakMap<Work, P>();
  return (work) => {
    const known = parts.get(work);
    if (known !== undefined) return known;
    const part = make(work);
    parts.set(work, part);
    work.add(part);
    return part;
  };
}

/** One change as a unit of work of its own, within a transaction. */
export async function workOf<T>(
  tx: Transaction,
  eshopId: number,
  change: (work: Work) => Promise<T>,
): Promise<T> {
  const work = new Work(tx, eshopId);
  const result = await work.attempt(() => change(work));
  await work.write();
  return result;
}
