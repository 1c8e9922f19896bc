/**
 * The changes of one transaction to the records of an e-shop: read under locks, changed in memory, and written at the
 * end in a few statements. Several changes cost little more than one, and each sees the result of the one before.
 */
import type { Origin } from '../../domain/origin.ts';
import { perKey } from '../../lib/per-key.ts';
import { type EventText, recordEvents } from '../outbox/events.ts';
import { CLASS, type DeliveryClass } from '../outbox/outbox.ts';
import type { Transaction } from '../transaction.ts';
import { type Savepoint, StagedList } from './staged.ts';
import { recordUnchanged, type UnchangedWrite } from './unchanged.ts';

/** A part of a unit of work: the records of a kind, or stock. */
export interface Participant {
  readonly staged: readonly Savepoint[];
  /** Sends the statements that write the committed values. */
  write(): Promise<unknown>;
  /** Called after `write`: the events that only its statements could determine. */
  events?(): readonly EventText[];
}

/** An event, whose record is complete once the participants are written. */
type StagedEvent = () => EventText;

export class UnitOfWork {
  readonly tx: Transaction;
  readonly eshopId: number;
  /** Who makes the changes: the origin of the events. */
  readonly origin: Origin;
  readonly #class: DeliveryClass;
  readonly #events = new StagedList<StagedEvent>();
  readonly #unchanged = new StagedList<UnchangedWrite>();
  readonly #participants: Participant[] = [];
  #eventBytes = 0;
  #now: Date | undefined;

  /** @param deliveryClass in which the deliveries of its events wait */
  constructor(tx: Transaction, eshopId: number, origin: Origin, deliveryClass: DeliveryClass = CLASS.fresh) {
    this.tx = tx;
    this.eshopId = eshopId;
    this.origin = origin;
    this.#class = deliveryClass;
  }

  /** The time by the database's clock at which the last lock was acquired. */
  get now(): Date {
    if (this.#now === undefined) throw new Error('The transaction has locked nothing yet.');
    return this.#now;
  }

  /** Notes the time at which a lock was acquired; it never goes back. */
  lockedAt(now: Date): void {
    if (this.#now === undefined || now > this.#now) this.#now = now;
  }

  /** Roughly the bytes of the staged events. */
  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** @param event called once the participants are written @param bytes of its record, roughly */
  addEvent(event: StagedEvent, bytes = 0): void {
    this.#eventBytes += bytes;
    this.#events.push(event);
  }

  unchanged(write: UnchangedWrite): void {
    this.#unchanged.push(write);
  }

  add(participant: Participant): void {
    this.#participants.push(participant);
  }

  /** Makes a change completely or not at all: if it throws, no part of it stays, and the others are not affected. */
  async savepoint<T>(change: () => Promise<T>): Promise<T> {
    try {
      const result = await change();
      for (const each of this.#staged()) each.commit();
      return result;
    } catch (error) {
      for (const each of this.#staged()) each.rollback();
      throw error;
    }
  }

  #staged(): readonly Savepoint[] {
    return [this.#events, this.#unchanged, ...this.#participants.flatMap(({ staged }) => staged)];
  }

  /** Writes everything, the events last: they include what the other writes added to a record. */
  async write(): Promise<void> {
    await Promise.all(this.#participants.map((each) => each.write()));
    await recordUnchanged(this.tx, this.eshopId, this.#unchanged.committed);
    const events = this.#events.committed.map((event) => event());
    const further = this.#participants.flatMap((each) => each.events?.() ?? []);
    await recordEvents(this.tx, this.eshopId, [...events, ...further], this.#class);
  }
}

/**
 * Defines a participant: each unit of work gets its own on first use.
 * @example const stockOf = participantOf((work) => new StagedStock(work));
 */
export function participantOf<P extends Participant>(make: (work: UnitOfWork) => P): (work: UnitOfWork) => P {
  return perKey((work: UnitOfWork) => {
    const participant = make(work);
    work.add(participant);
    return participant;
  });
}

export async function inUnitOfWork<T>(
  tx: Transaction,
  eshopId: number,
  origin: Origin,
  change: (work: UnitOfWork) => Promise<T>,
): Promise<T> {
  const work = new UnitOfWork(tx, eshopId, origin);
  const result = await work.savepoint(() => change(work));
  await work.write();
  return result;
}
