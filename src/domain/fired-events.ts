/**
 * Which write fires what (docs/interface.md, E1 and E2): compares the record before and after, so that a write that
 * changes nothing fires nothing, whatever path it took.
 */
import type { CatalogueEntry } from './catalogue.ts';
import { type EventType, eventOn, type Occasion } from './event-types.ts';
import { unchanged } from './unchanged.ts';

/** True when two records differ in a field that requests may write, the warehouse's included, `status` aside. */
function differs(
  { responseOnly, warehouseFields = [] }: CatalogueEntry,
  before: object,
  after: object,
): boolean {
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

/** Whether a write is one of these, in the order in which their events fire. */
const occasions = {
  created: ({ before }) => before === null,
  updated: ({ entry, before, after }) => before !== null && differs(entry, before, after),
  statusChanged: ({ before, after }) => before !== null && statusOf(before) !== statusOf(after),
} satisfies Record<Occasion, (write: Write) => boolean>;

/**
 * The event types a write fires, the update before the change of status.
 * @param before null on creation
 */
export function eventsOf(entry: CatalogueEntry, before: object | null, after: object): EventType[] {
  const write = { entry, before, after };
  return (Object.keys(occasions) as Occasion[])
    .filter((on) => occasions[on](write))
    .map((on) => eventOn(entry.kind, on))
    .filter((type) => type !== null);
}
