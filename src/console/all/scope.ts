/** The e-shops of a person who sees several. */
import * as v from 'valibot';
import type { Viewer } from '../deps.ts';

export const MAX_ROWS = 100;

export function scopeOf({ operator, eshops }: Viewer): readonly number[] | undefined {
  return operator ? undefined : eshops.map(({ id }) => id);
}

/** "2 · Tea Ltd", by the number of the e-shop. */
export function titlesOf({ eshops }: Viewer): (eshopId: number) => string {
  const names = new Map(eshops.map(({ id, name }) => [id, name]));
  return (eshopId) => `${eshopId} · ${names.get(eshopId) ?? 'e-shop'}`;
}

/** The number of an e-shop or a webhook in a filter. */
export const numberField = v.pipe(
  v.string(),
  v.trim(),
  v.regex(/^[1-9]\d{0,8}$/, 'must be a number'),
  v.transform(Number),
);
