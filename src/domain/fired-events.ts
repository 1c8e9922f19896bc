/**
 * Which write fires what (docs/interface.md, E1 and E2): found by comparing the record before and after, so that a
 * write that changes nothing fires nothing, whatever path it took.
 * @module
 */
import type { CatalogueEntry } from './catalogue.ts';
import { type EventType, eventOn, type Occasion } from './event-types.ts';

/** True when two records differ in a field that requests may write, `status` aside. */
function differs(entry: CatalogueEntry, before: object, after: object): boolean {
  const own = new Set<string>([...entry.responseOnly, 'status']);
  const written = (record: object) =>
    JSON.stringify(Object.entries(record).filter(([name]) => !own.has(name)));
  return written(before) !== written(after);
}

/** The record's status, where it has one. */
function statusOf(record: object): unknown {
  return 'status' in record ? record.status : undefined;
}

/**
 * The event types a write fires, the update before the change of status.
 * @param before null on creation
 */
export function eventsOf(entry: CatalogueEntry, before: object | null, after: object): EventType[] {
  const occasions: (Occasion | null)[] =
    before === null
      ? ['created']
      : [
          differs(entry, before, after) ? 'updated' : null,
          statusOf(before) === statusOf(after) ? null : 'statusChanged',
        ];
  return occasions
    .map((on) => (on === null ? null : eventOn(entry.kind, on)))
    .filter((type) => type !== null);
}
