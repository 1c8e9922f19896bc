/** Counts by key; keys whose count is 0 are forgotten. */
export function createCounts<Key>() {
  const counts = new Map<Key, number>();
  let total = 0;
  const of = (key: Key): number => counts.get(key) ?? 0;
  return {
    of,
    all: (): number => total,
    change(key: Key, by: number): void {
      total += by;
      const now = of(key) + by;
      if (now === 0) counts.delete(key);
      else counts.set(key, now);
    },
  };
}
