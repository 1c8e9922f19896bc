/** Counts by key; keys whose count is 0 are forgotten. */

interface Counts<Key> {
  of(key: Key): number;
  all(): number;
  change(key: Key, by: number): void;
}

export function createCounts<Key>(): Counts<Key> {
  const counts = new Map<Key, number>();
  let all = 0;
  const of = (key: Key) => counts.get(key) ?? 0;
  return {
    of,
    all: () => all,
    change(key, by) {
      all += by;
      const now = of(key) + by;
      if (now === 0) counts.delete(key);
      else counts.set(key, now);
    },
  };
}
