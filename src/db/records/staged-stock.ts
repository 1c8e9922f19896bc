/**
 * Stock in a unit of work, read under locks and written together. Products are locked together, in the order of their
 * SKUs: two writers never sell the same unit, and never deadlock. `for no key update` does not block the foreign keys
 * of new order lines.
 */
import { catalogue, idOf } from '../../domain/catalogue.ts';
import { STOCK_ONLY } from '../../domain/changed-fields.ts';
import { eventOfMovement } from '../../domain/event-types.ts';
import type { ProductRecord, Stock } from '../../domain/product/schema.ts';
import type { StockMovementRecord } from '../../domain/stock/movement.ts';
import { unchanged } from '../../domain/unchanged.ts';
import type { EventText } from '../outbox/events.ts';
import { recordset } from '../sql.ts';
import { selected } from './columns.ts';
import { products } from './products.ts';
import { Staged, StagedList } from './staged.ts';
import { type Participant, participantOf, type UnitOfWork } from './unit-of-work.ts';

const STOCK_COLUMNS = {
  sku: 'text',
  available: 'numeric',
  reserved: 'numeric',
  onHold: 'numeric',
  awaiting: 'numeric',
  moved: 'boolean',
};
const RESERVATION_COLUMNS = { eshopOrderId: 'text', sku: 'text', count: 'numeric' };
const MOVEMENT_COLUMNS = {
  type: 'text',
  sku: 'text',
  count: 'numeric',
  lot: 'text',
  expirationDate: 'timestamptz',
  reference: 'text',
  note: 'text',
  balance: 'numeric',
  createdAt: 'timestamptz',
};

/** The units that an order has reserved, by SKU. */
type Reservation = ReadonlyMap<string, string>;

export class StagedStock implements Participant {
  readonly #work: UnitOfWork;
  readonly #stock = new Staged<Stock | null>();
  readonly #reserved = new Staged<Reservation>();
  readonly #movements = new StagedList<StockMovementRecord>();
  readonly staged = [this.#stock, this.#reserved, this.#movements];
  #events: readonly EventText[] = [];

  constructor(work: UnitOfWork) {
    this.#work = work;
  }

  /** Locks products. Before several changes, call it once for the products of all. */
  async lock(skus: Iterable<string>): Promise<void> {
    const missing = this.#stock.missing(skus);
    if (missing.length === 0) return;
    const { tx, eshopId } = this.#work;
    const rows = await tx<(Stock & { sku: string; got: Date })[]>`
      select locked.*, clock_timestamp() as got from (
        select sku, available, reserved, on_hold, awaiting from products
        where eshop_id = ${eshopId} and sku = any(${missing}::text[])
        order by sku for no key update) locked`;
    for (const sku of missing) this.#stock.load(sku, null);
    for (const { sku, got, ...stock } of rows) {
      this.#stock.load(sku, stock);
      this.#work.lockedAt(got);
    }
  }

  /** The stock of a locked product; undefined if the e-shop has no such product. */
  get(sku: string): Stock | undefined {
    return this.#stock.get(sku) ?? undefined;
  }

  set(sku: string, stock: Stock): void {
    this.#stock.set(sku, stock);
  }

  /** Reads the reservations of orders; the locks of these orders protect them. */
  async readReservations(eshopOrderIds: Iterable<string>): Promise<void> {
    const missing = this.#reserved.missing(eshopOrderIds);
    if (missing.length === 0) return;
    const rows = await this.#work.tx<{ eshopOrderId: string; sku: string; count: string }[]>`
      select eshop_order_id, sku, count from stock_reservations
      where eshop_id = ${this.#work.eshopId} and eshop_order_id = any(${missing}::text[])`;
    const found = new Map(missing.map((id) => [id, new Map<string, string>()]));
    for (const { eshopOrderId, sku, count } of rows) found.get(eshopOrderId)?.set(sku, count);
    for (const [id, reservation] of found) this.#reserved.load(id, reservation);
  }

  reserved(eshopOrderId: string): Reservation {
    return this.#reserved.get(eshopOrderId) ?? new Map();
  }

  setReserved(eshopOrderId: string, reservation: Reservation): void {
    this.#reserved.set(eshopOrderId, reservation);
  }

  /** Stages a movement and its event. @returns the record, which gets its id when it is written */
  move(movement: Omit<StockMovementRecord, 'id' | 'createdAt'>): StockMovementRecord {
    const record = { id: 0, ...movement, createdAt: this.#work.now.toISOString() };
    this.#movements.push(record);
    this.#work.addEvent(() => ({
      type: eventOfMovement(record.type),
      entityId: idOf(catalogue.stockMovement, record),
      sequence: 1,
      happenedAt: record.createdAt,
      snapshot: JSON.stringify(record),
      origin: this.#work.origin,
      changed: null,
    }));
    return record;
  }

  /** An event per product with a changed stock, as it is after the transaction; none if no webhook asks for them. */
  events(): readonly EventText[] {
    return this.#events;
  }

  write(): Promise<unknown> {
    return Promise.all([this.#writeStock(), this.#writeReservations(), this.#writeMovements()]);
  }

  /**
   * The only place where stock is written. The sums were computed in TypeScript, so that they stay canonical. The
   * same statement finds out whether a webhook asks for changes to stock. If one does, it gives the events their
   * sequence and reads the records.
   *
   * No unit of work also changes other fields of a product: one event would have to report both.
   */
  async #writeStock(): Promise<void> {
    const { tx, eshopId, origin } = this.#work;
    const rows = this.#stock.changes().flatMap(({ key: sku, before, after }) => {
      if (after === null) return [];
      return [{ sku, ...after, moved: !unchanged(before, after) }];
    });
    if (rows.length === 0) return;
    // The SKUs are repeated: by the join alone the planner may read and hash all products of the e-shop.
    const fired = await tx<(ProductRecord & { readonly lastSequence: number })[]>`
      with asked as materialized (
        select exists (
          select from webhooks w where w.eshop_id = ${eshopId} and w.on_stock_change and w.deleted_at is null) as wanted),
      updated as (
        update products p set
          available = x.available, reserved = x.reserved, on_hold = x.on_hold, awaiting = x.awaiting,
          updated_at = greatest(${this.#work.now}::timestamptz, p.updated_at + interval '1 millisecond'),
          last_sequence = p.last_sequence + (x.moved and asked.wanted)::int
        from ${recordset(tx, JSON.stringify(rows), 'x', STOCK_COLUMNS)}, asked
        where p.eshop_id = ${eshopId} and p.sku = x.sku and p.sku = any(${rows.map(({ sku }) => sku)}::text[])
        returning p.*, x.moved and asked.wanted as fires)
      select ${selected(tx, products)}, t.last_sequence::float8 as last_sequence from updated t where t.fires order by t.sku`;
    this.#events = fired.map(({ lastSequence, ...record }) => ({
      type: 'UPDATE_PRODUCT',
      entityId: record.sku,
      sequence: lastSequence,
      happenedAt: record.updatedAt,
      snapshot: JSON.stringify(record),
      origin,
      changed: STOCK_ONLY,
    }));
  }

  async #writeReservations(): Promise<void> {
    const { tx, eshopId } = this.#work;
    const changes = this.#reserved.changes();
    const had = changes.filter(({ before }) => (before?.size ?? 0) > 0).map(({ key }) => key);
    const rows = changes.flatMap(({ key: eshopOrderId, after }) =>
      [...after].map(([sku, count]) => ({ eshopOrderId, sku, count })),
    );
    const removed =
      had.length === 0
        ? null
        : tx`delete from stock_reservations where eshop_id = ${eshopId} and eshop_order_id = any(${had}::text[])`;
    const added =
      rows.length === 0
        ? null
        : tx`
            insert into stock_reservations (eshop_id, eshop_order_id, sku, count)
            select ${eshopId}::int, eshop_order_id, sku, count
            from ${recordset(tx, JSON.stringify(rows), 'x', RESERVATION_COLUMNS)}`;
    await Promise.all([removed, added]);
  }

  async #writeMovements(): Promise<void> {
    const { tx, eshopId } = this.#work;
    const records = this.#movements.committed;
    if (records.length === 0) return;
    const ids = await tx<{ id: string }[]>`
      insert into stock_movements (
        eshop_id, type, sku, count, lot, expiration_date, reference, note, balance, created_at)
      select ${eshopId}::int, type, sku, count, lot, expiration_date, reference, note, balance, created_at
      from ${recordset(tx, JSON.stringify(records), 'x', MOVEMENT_COLUMNS)}
      order by place returning id`;
    for (const [index, record] of records.entries()) record.id = Number(ids[index]?.id);
  }
}

export const stockOf = participantOf((work) => new StagedStock(work));
