/** The result of the day: a table for people, an object for programs. */
import { type EventType, eventTypeNames } from '../src/domain/event-types.ts';
import type { SceneResult } from './scene-results.ts';

/** The counts of one kind of event. */
export interface KindCounts {
  readonly kind: EventType;
  readonly fired: number;
  /** Null if nobody counted. */
  readonly delivered: number | null;
}

/** A finished day. */
export interface Summary {
  /** Prefix of every identifier of the run. */
  readonly prefix: string;
  /** The same seed repeats the same day. */
  readonly seed: string;
  readonly requests: number;
  readonly seconds: number;
  readonly kinds: readonly KindCounts[];
  /** Deliveries whose signature did not match; null if nobody checked. */
  readonly badSignatures: number | null;
  /** The scenes left to look at; empty with a receiver of one's own. */
  readonly scenes: readonly SceneResult[];
}

/** One row per kind, in the order of the interface. */
export function countsOf(
  fired: ReadonlyMap<EventType, number>,
  delivered: ReadonlyMap<EventType, number> | null,
): KindCounts[] {
  return eventTypeNames.map((kind) => ({
    kind,
    fired: fired.get(kind) ?? 0,
    delivered: delivered === null ? null : (delivered.get(kind) ?? 0),
  }));
}

/** Events that were fired and have not been delivered; 0 if nobody counted. */
export function missing(kinds: readonly KindCounts[]): number {
  return kinds.reduce((sum, { fired, delivered }) => sum + Math.max(0, fired - (delivered ?? fired)), 0);
}

/** The table, with the total below it. */
export function summaryTable({ kinds }: Pick<Summary, 'kinds'>): string {
  const counted = kinds.some(({ delivered }) => delivered !== null);
  const total = (name: 'fired' | 'delivered') => kinds.reduce((sum, row) => sum + (row[name] ?? 0), 0);
  const rows: (readonly [string, string | number, string | number])[] = [
    ['kind', 'fired', 'delivered'],
    ...kinds.map(({ kind, fired, delivered }) => [kind, fired, delivered ?? ''] as const),
    ['all', total('fired'), total('delivered')],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, fired, delivered]) => {
      const line = `${name.padEnd(width)}  ${String(fired).padStart(6)}`;
      return counted ? `${line}  ${String(delivered).padStart(9)}` : line;
    })
    .join('\n');
}

/** The text below the table. */
export function closingMessage({
  requests,
  seconds,
  kinds,
  badSignatures,
  prefix,
  seed,
}: Omit<Summary, 'scenes'>): string {
  const events = kinds.reduce((sum, { fired }) => sum + fired, 0);
  const open = missing(kinds);
  const end =
    kinds[0]?.delivered === null
      ? ''
      : open > 0
        ? `, ${open} not delivered`
        : badSignatures === 0
          ? ', all of them delivered with a valid signature'
          : ', all of them delivered';
  return `${requests} requests in ${seconds} s fired ${events} events${end}. Identifiers begin with ${prefix}; --seed ${seed} repeats the day.`;
}
