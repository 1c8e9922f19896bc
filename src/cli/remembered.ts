/** Caches a value for a moment, for all callers; a failure is not cached. @param freshMs how long, in milliseconds */
export function remembered<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let cached: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (cached === undefined || performance.now() - cached.at > freshMs) {
      const value = read();
      cached = { at: performance.now(), value };
      value.catch(() => {
        if (cached?.value === value) cached = undefined;
      });
    }
    return cached.value;
  };
}
