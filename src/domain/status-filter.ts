/** The filter of deliveries by the HTTP status of their attempts (docs/interface.md, L7). */
import * as v from 'valibot';

/** The statuses wanted, both ends included; null: attempts without a response. */
type StatusRange = { readonly from: number; readonly to: number } | null;

/** A filter of deliveries: which statuses, of the last attempt or of any. */
export interface StatusFilter {
  readonly range: StatusRange;
  readonly attempts: 'last' | 'any';
}

/** The choices that are shown beside single statuses. */
export const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** `404`, `4xx`, `none`; as a filter of a list. */
export const statusFilter = v.pipe(
  v.string(),
  v.regex(/^(?:[1-9]\d\d|[2-5]xx|none)$/, 'must be a status of three digits, 2xx, 3xx, 4xx, 5xx or none'),
  v.description(
    'The HTTP status of the last attempt: a number, a class (`2xx` to `5xx`), or `none`: it was attempted and there was no response. With `attempts=any` one attempt suffices.',
  ),
  v.examples(['403', '5xx', 'none']),
);

/** Which attempts a filter by status is about. */
export const attemptsFilter = v.pipe(
  v.picklist(['last', 'any'], 'must be last or any'),
  v.description(
    'Only together with `lastStatus`: whether the last attempt must have it (`last`, the default), or any attempt.',
  ),
);

/** The filter of a query; undefined if it has none. */
export function statusFilterOf(query: {
  readonly lastStatus?: string | undefined;
  readonly attempts?: 'last' | 'any' | undefined;
}): StatusFilter | undefined {
  const { lastStatus, attempts = 'last' } = query;
  return lastStatus === undefined ? undefined : { range: statusRange(lastStatus), attempts };
}

/** @param text a checked {@link statusFilter} */
function statusRange(text: string): StatusRange {
  if (text === 'none') return null;
  if (!text.endsWith('xx')) return { from: Number(text), to: Number(text) };
  const from = Number(text.charAt(0)) * 100;
  return { from, to: from + 99 };
}

/** Whether an attempt with such a status was accepted. */
export function isAccepted(range: StatusRange): boolean {
  return range !== null && range.from >= 200 && range.to <= 299;
}
