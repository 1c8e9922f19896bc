/**
 * The events of a write (docs/interface.md, E1 and E2): the record is compared before and after, so a write that
 * changes nothing fires nothing, on any path.
 */
import type { CatalogueEntry } from './catalogue.ts';
import { type EventType, eventOn, type Occasion, occasions } from './event-types.ts';
import { unchanged } from './unchanged.ts';

/** True if two records differ in a field that requests of the e-shop or the warehouse may write, except `status`. */
function differs({ responseOnly, warehouseFields = [] }: CatalogueEntry, before: object, after: object) {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const field of fields) {
    if (field === 'status') continue;
    if (responseOnly.includes(field) && !warehouseFields.includes(field)) continue;
    if (!unchanged(Reflect.get(before, field), Reflect.get(after, field))) return true;
  }
  return false;
}

function statusOf(record: object): unknown {
  return 'status' in record ? record.status : undefined;
}

interface Write {
  readonly entry: CatalogueEntry;
  /** Null on creation. */
  readonly before: object | null;
  readonly after: object;
}

const happened = {
  created: ({ before }) => before === null,
  updated: ({ entry, before, after }) => before !== null && differs(entry, before, after),
  statusChanged: ({ before, after }) => before !== null && statusOf(before) !== statusOf(after),
} satisfies Record<Occasion, (write: Write) => boolean>;

/**
 * The event types that a write fires: the update before the change of status.
 * @param before null on creation
 */
export function eventsOf(entry: CatalogueEntry, before: object | null, after: object): EventType[] {
  const write = { entry, before, after };
  return occasions
    .filter((on) => happened[on](write))
    .map((on) => eventOn(entry.kind, on))
    .filter((type) => type !== null);
}
