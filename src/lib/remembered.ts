/** The maximum number of values kept. Too low: they are read more often. Too high: more memory. */
const MAX_KEPT = 1_000;

/**
 * Caches values for a moment, for all callers; a failure is not cached.
 * @param freshMs how long, in milliseconds
 * @param keyOf names the value that the arguments ask for; default: there is only one
 */
export function remembered<Args extends readonly unknown[], T>(
  freshMs: number,
  read: (...args: Args) => Promise<T>,
  keyOf: (...args: Args) => string = () => '',
): (...args: Args) => Promise<T> {
  const kept = new Map<string, { readonly at: number; readonly value: Promise<T> }>();
  return (...args) => {
    const key = keyOf(...args);
    const cached = kept.get(key);
    if (cached !== undefined && performance.now() - cached.at <= freshMs) return cached.value;
    const value = read(...args);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, { at: performance.now(), value });
    value.catch(() => {
      if (kept.get(key)?.value === value) kept.delete(key);
    });
    return value;
  };
}
