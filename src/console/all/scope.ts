/** The e-shops of a person who sees several. */
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
